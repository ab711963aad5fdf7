"""Existence of paths, and their names; invalid names and closed folders are no errors."""

from __future__ import annotations

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
