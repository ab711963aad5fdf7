"""Whether a path is there: no name and no closed folder is an error (as from Python 3.14 on)."""

from __future__ import annotations

from pathlib import Path


def is_there(path: str | Path) -> bool:
    """`Path.exists`; False where that cannot be known."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def is_file_there(path: str | Path) -> bool:
    """`Path.is_file`; False where that cannot be known."""
    try:
        return Path(path).is_file()
    except OSError:
        return False
