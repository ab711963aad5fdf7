"""The suffixes of files of turns, checked before anything is read; loads no NumPy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from groute_py.arguments import file_path
from groute_py.errors import InputError, quote

SUFFIX = re.compile(r"\.(csv(\.\w+)?|parquet)$")


def check_turns(turns: Any) -> None:
    """Raise `InputError` for the path of a file that cannot be one of turns, by its name."""
    if isinstance(turns, str | Path) and not SUFFIX.search(file_path("turns", turns).name):
        suffix = quote(Path(turns).suffix)
        raise InputError(f"{turns}: unknown suffix {suffix}; turns are read from .csv .parquet")
