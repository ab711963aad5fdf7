"""Existence of paths; invalid names and closed folders are no errors (as in Python 3.14)."""

from __future__ import annotations

from pathlib import Path


def is_there(path: str | Path) -> bool:
    """`Path.exists`, or False if that cannot be determined."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def is_file_there(path: str | Path) -> bool:
    """`Path.is_file`, or False if that cannot be determined."""
    try:
        return Path(path).is_file()
    except OSError:
        return False
