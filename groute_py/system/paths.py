"""Existence of paths, their names, and their file systems; invalid names are no errors."""

from __future__ import annotations

import os
from pathlib import Path


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
