"""Files in folders that others may write to: only this user's own, and never through a link."""

from __future__ import annotations

import atexit
import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import BinaryIO


def scratch_folder() -> Path:
    """Return the folder of this process's temporary files, which goes when the process ends."""
    return _scratch_folder(os.getpid())


@cache
def _scratch_folder(process: int) -> Path:
    folder = Path(mkdtemp(prefix="groute-py-"))

    def remove() -> None:
        if os.getpid() == process:  # and not a fork of it
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def open_believed(path: Path) -> BinaryIO:
    """Open a file of this user or of root to read; a link or no plain file is an OSError."""
    file = open_plain(path)
    if os.fstat(file.fileno()).st_uid not in (os.geteuid(), 0):
        file.close()
        raise PermissionError(errno.EPERM, "is no file of this user or of root", str(path))
    return file


def open_plain(path: Path) -> BinaryIO:
    """Open a file of whatever user to read; a link or no plain file is an OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    file = open(descriptor, "rb")  # noqa: SIM115 - the caller's to close
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise PermissionError(errno.EPERM, "is no plain file", str(path))
    return file


def open_draft(path: Path) -> BinaryIO:
    """Open a file that this user has made, to write parts of it.

    One that is a link, no plain file, another user's, or has another name is an OSError.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    file = open(descriptor, "r+b")  # noqa: SIM115 - the caller's to close
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_nlink > 1:
        file.close()
        raise PermissionError(errno.EPERM, "is no plain file of this user alone", str(path))
    return file


def rights_of_copy(source: os.stat_result, copy: os.stat_result) -> int:
    """Return the mode a copy may have: nobody may read it who may not read its source."""
    mode = source.st_mode & 0o666
    if not mode & stat.S_IRGRP:
        mode &= ~stat.S_IRWXO  # the source's group is among the others where the copy's is another
    if source.st_gid != copy.st_gid:
        mode &= ~stat.S_IRWXG
    return mode


DRAFT = re.compile(r"\.groute-py-\d+-[0-9a-f]{8}\.tmp")


def is_draft(path: Path) -> bool:
    """Return True if a file has the name of one that `replacing_copy` or `replacing` has begun."""
    return DRAFT.fullmatch(path.name) is not None


def draft_beside(path: Path) -> Path:
    """Return a name for a file that is to take the place of another."""
    return path.parent / f".groute-py-{os.getpid()}-{secrets.token_hex(4)}.tmp"


@contextmanager
def replacing_copy(path: Path, source: Path) -> Iterator[BinaryIO]:
    """Yield a new file that takes the place of `path`, also of a link, when the block ends well.

    Nobody may read it who may not read ``source``.
    """
    status = source.stat()
    mode = 0o600 | status.st_mode & 0o666

    def new(name: str, flags: int) -> int:
        return os.open(name, flags | os.O_NOFOLLOW, mode)

    draft = draft_beside(path)
    try:
        with open(draft, "x+b", opener=new) as file:
            new_status = os.fstat(file.fileno())
            os.fchmod(file.fileno(), 0o600)
            yield file
            file.flush()
            os.fchmod(file.fileno(), new_status.st_mode & rights_of_copy(status, new_status))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
