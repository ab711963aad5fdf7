"""Which tables an answer is saved as, checked before any work."""

from __future__ import annotations

from pathlib import Path

from groute_py.errors import InputError, quote
from groute_py.io.optional_libraries import library
from groute_py.results.tables import SUFFIXES
from groute_py.system.atomic_file import check_writable


def check_table(path: Path, others: tuple[str, ...] = ()) -> None:
    """Raise an error now if no table could be written at a path later.

    Args:
        path: of the file.
        others: suffixes that are known beside those of tables.

    Raises:
        InputError: its suffix is unknown, or no file can be written there.
        RunError: the disk is full.
        SetupError: the form needs a library that is not installed.
    """
    known = (*others, *SUFFIXES)
    if path.suffix not in known:
        raise InputError(
            f"{path}: unknown suffix {quote(path.suffix)}; saved are {', '.join(known)}"
        )
    if path.suffix == ".parquet":
        library("pyarrow", "writing Parquet")
    check_writable(path)
