"""A file that all ranks may see, also from other hosts."""

from __future__ import annotations

from pathlib import Path

from groute_py.errors import FormatError
from groute_py.io.array_file import Source


class SharedFile:
    """A file as rank 0 sees it.

    Args:
        path: on rank 0.
        native: whether it is of the native format.
        copied: whether it is a copy in the cache.
        column: of a native file, the name of the weights; None for those that it is read with.

    Attributes:
        path: absolute.
        native, copied, column: as given.
        size: bytes.
        source: what tells whether it is still the same.
    """

    def __init__(
        self, path: Path, *, native: bool = False, copied: bool = False, column: str | None = None
    ) -> None:
        self.path, self.native, self.copied = path.absolute(), native, copied
        self.column = column
        self.source = Source.of(path)
        self.size = self.source.size

    def is_seen(self) -> bool:
        """Whether this rank sees the same: of the same size, last changed at the same time."""
        try:
            return Source.of(self.path) == self.source
        except FormatError:
            return False
