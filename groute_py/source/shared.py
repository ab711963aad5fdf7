"""A file that all ranks may see, also from other hosts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from groute_py.errors import FormatError
from groute_py.io.array_file import Source
from groute_py.io.cache import map_copy
from groute_py.io.formats import native

T = TypeVar("T")


class SharedFile:
    """A text or a native file as rank 0 sees it.

    Attributes:
        path, native, is_copy, column, copy: as given.
        size: bytes.
        source: size and time of modification.
    """

    def __init__(
        self,
        path: Path,
        *,
        native: bool = False,
        is_copy: bool = False,
        column: str | None = None,
        copy: Path | None = None,
    ) -> None:
        self.path, self.native, self.is_copy = path.absolute(), native, is_copy
        self.column, self.copy = column, copy
        self.source = Source.of(path)
        self.size = self.source.size
        self._state = self._state_now()

    def is_seen(self) -> bool:
        """Return whether this rank sees the same: of the same size, last changed at the same time.

        A copy has the same digests: whoever uses it sets its time.
        """
        try:
            return self._state_now() == self._state
        except (OSError, FormatError):
            return False

    def read(self, read: Callable[[], T]) -> T | None:
        """Read the file by a function; None if this rank does not see it, also afterwards."""
        content = read() if self.is_seen() else None
        return content if self.is_seen() else None

    def map(self, part: int, parts: int) -> native.Contents:
        """Map a native file, and compare an even part of it with its digests, if it has any."""
        contents = map_copy(self.path) if self.is_copy else native.map_file(self.path)
        native.check_digests(self.path, contents, part, parts)
        chosen: native.Contents = contents.with_column(self.column)
        return chosen

    def _state_now(self) -> tuple[Any, ...]:
        if not self.is_copy:
            return Source.of(self.path)
        digests = map_copy(self.path).digests
        return self.path.stat().st_size, digests.tobytes()
