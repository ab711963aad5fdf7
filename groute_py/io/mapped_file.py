"""A file that is mapped into memory, and must stay what it was when it was opened.

What is written to it shows in the arrays of the graph, and a page that is cut off cannot be read.
A file that takes its place by a rename is another one, and leaves the mapping as it is.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path

from groute_py.errors import RunError


class MappedFile:
    """A file that stays open while this object is there, and the graph in it is used."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self.error: RunError | None = None
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)
        self._before = self._state()

    def check(self) -> None:
        """Compare size and time of modification; a rename, which changes only ctime, is none."""
        if (problem := self._problem()) is not None:
            self.error = RunError(f"{self._path}: {problem}")
            raise self.error

    def _problem(self) -> str | None:
        try:
            if self._state() == self._before:
                return None
        except OSError as error:
            return f"cannot be looked at any more: {error.strerror or error}; start again"
        remedy = "start again, and replace such a file as a whole, by mv"
        return f"was changed while it was in use; {remedy}"

    def _state(self) -> tuple[int, int]:
        status = os.fstat(self._file)
        return status.st_size, status.st_mtime_ns
