"""Existence of paths, their names and file systems; those of streams, which no file replaces."""

from __future__ import annotations

import fcntl
import io
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from groute_py.errors import InputError


def is_there(path: str | Path) -> bool:
    """Return `Path.exists`, or False if that cannot be determined, as in Python 3.14."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def is_file_there(path: str | Path) -> bool:
    """Return `Path.is_file`, or False if that cannot be determined."""
    try:
        return Path(path).is_file()
    except OSError:
        return False


def as_text(name: str) -> str:
    r"""Return a name as text that every file and page takes: bytes that are no UTF-8 are escaped.

    >>> as_text("s\udcfcd"), as_text("süd")
    ('s\\udcfcd', 'süd')
    """
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


MOUNTS = Path("/proc/self/mountinfo")
"""A line for each mount of this process; proc(5) has its fields."""


def file_system(device: int) -> str:
    """The type of the file system with a device number, such as "ext4"; "" if none is mounted."""
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in MOUNTS.read_text("utf-8", "replace").splitlines():
        mount, _, source = line.partition(" - ")
        if mount.split()[2] == number:
            return source.split()[0]
    return ""


STDOUT = 1
"""The file descriptor of standard output."""

OPEN_FILES = Path("/proc/self/fd")
"""The folders in which Linux lists a process's open files."""

MOST_LINKS = 40
"""One to another; Linux follows no more."""


def is_stream(path: Path) -> bool:
    """Return True if it cannot be replaced: a pipe, a device, or an open descriptor."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return True
    except FileNotFoundError:
        return False
    # /dev/stdout leads to /proc/self/fd/1, and that to a file which others write to as well
    steps = [path.parent.resolve(), path.readlink() if path.is_symlink() else path]
    return any(step.is_relative_to("/proc") for step in steps)


def own_descriptor(path: Path) -> int | None:
    """Return the descriptor of this process that a path names, as /dev/stdout is of 1."""
    open_files = str(OPEN_FILES.resolve())
    with suppress(OSError):  # what cannot be looked at is none of ours
        for _ in range(MOST_LINKS):
            if path.name.isdecimal() and os.path.realpath(path.parent) == open_files:
                return int(path.name)
            if not path.is_symlink():
                return None
            path = path.parent / path.readlink()
    return None


def is_stdout(file: str | None) -> bool:
    """Return True if the name of a file is one of standard output."""
    return file is not None and own_descriptor(Path(file)) == STDOUT


def opened(path: Path) -> BinaryIO:
    """Open a stream to write; what this process has open goes on where it is."""
    number = own_descriptor(path)
    if number is None:
        return open(path, "wb")
    if number == STDOUT:
        sys.stdout.flush()
    return cast(BinaryIO, Onward(number))  # opened anew it would begin at its head


def check_stream(path: Path) -> None:
    """Raise `InputError` for what this process has open only to read."""
    number = own_descriptor(path)
    if number is not None and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise InputError(f"{path}: cannot be written: it is open only to be read")


class Onward(io.RawIOBase):
    """The file of a descriptor, read from its place on and never back, as a pipe.

    Writers go back where they can, to put sizes into what they have written; but behind ``>>``
    whatever is written goes to the end.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._written = os.dup(descriptor), 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written

    def write(self, content: Any) -> int:
        """Write all of it."""
        rest = memoryview(content).cast("B")
        size = len(rest)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        self._written += size
        return size

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()
