"""A file that all ranks may see, also from other hosts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.errors import FormatError
from groute_py.io.array_file import Source
from groute_py.io.cache import map_copy

T = TypeVar("T")


class SharedFile:
    """A file as rank 0 sees it.

    Args:
        path: on rank 0.
        native: whether it is of the native format.
        is_copy: whether it is a copy in the cache.
        column: of a native file, the name of the weights; None for those that it is read with.
        copy: where the ranks that read a text leave a native copy; None for nowhere.

    Attributes:
        path: absolute.
        native, is_copy, column, copy: as given.
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
        """Whether this rank sees the same: of the same size, last changed at the same time.

        A copy has the same digests: whoever uses it sets its time.
        """
        try:
            return self._state_now() == self._state
        except (OSError, FormatError):
            return False

    def _state_now(self) -> tuple[Any, ...]:
        if not self.is_copy:
            return Source.of(self.path)
        digests = map_copy(self.path).digests
        assert digests is not None
        return self.path.stat().st_size, digests.tobytes()

    def read_by(
        self, channel: Channel, read: Callable[[Path], T | None]
    ) -> tuple[T | None, list[bool]]:
        """Read the file on every rank that sees it. Collective.

        A rank that may not read the file does not see it, nor does one where it is damaged or was
        replaced while it was read.

        Args:
            channel: connects the ranks.
            read: reads or maps the file at a path; None if it has nothing to return.

        Returns:
            What this rank has read, or None; and which ranks have read it, the same on every rank.

        Raises:
            Exception: of ``read``, but for `OSError` and `FormatError`; on every rank.
        """
        found: T | None = None
        with collective(channel), suppress(OSError, FormatError):
            if self.is_seen():
                content = read(self.path)
                found = content if self.is_seen() else None
        return found, channel.gather(found is not None)
