"""Pipes and devices in the place of a file: nothing is read from them."""

from __future__ import annotations

import stat
from pathlib import Path

from groute_py.errors import FormatError


def refuse_pipes(path: Path) -> None:
    """Raise `FormatError` for a pipe, a socket or a device, before it is opened.

    Files are opened more than once, and opening a pipe that nobody writes to never ends.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # who opens it gets the same error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        what = "is not a regular file, and files are read more than once"
        raise FormatError(path, f"{what}; write what a pipe brings to a file first")
