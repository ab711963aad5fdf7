"""Binary files, plain or compressed, as a row of arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groute_py.errors import FormatError
from groute_py.io.compression import pieces
from groute_py.io.text.lines import Progress
from groute_py.system.memory_limits import LITTLE, check_room

MOST_PACKED = 1100
"""Bytes of arrays for each byte of a file: gzip packs up to 1,032, and graphs pack far worse."""


class Arrays:
    """Reads arrays one after another.

    Memory is taken as bytes arrive: a file that declares more than it has costs nothing. What
    would not fit in memory is refused, before most of it is read.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self.position = 0
        self._pieces = pieces(path)
        self._left = bytearray()
        self._progress, self._total = progress, path.stat().st_size

    def take(self, kind: DTypeLike, count: int, what: str) -> NDArray[Any]:
        """The next array, shape (count,); `what` names it in messages."""
        dtype = np.dtype(kind)
        nbytes, content = count * dtype.itemsize, self._left
        if nbytes > max(LITTLE, MOST_PACKED * self._total):
            problem = f"promises {nbytes:,} bytes of {what.removeprefix('the ')}"
            raise FormatError(self.path, f"{problem}, and has only {self._total:,} bytes in all")
        self._fill(nbytes, what)
        if len(content) < nbytes:
            end = self.position + len(content)
            problem = f"truncated: ends at byte {end:,}, within {what}, {nbytes:,} bytes"
            raise FormatError(self.path, f"{problem} from byte {self.position:,} on")
        self._left = content[nbytes:]
        del content[nbytes:]
        self.position += nbytes
        return np.frombuffer(content, dtype)

    def count(self, what: str) -> int:
        """The next number, a little-endian uint64."""
        return int(self.take("<u8", 1, what)[0])

    def left(self, most: int) -> int:
        """The bytes that are left, up to somewhat more than `most`; they are held in memory."""
        self._fill(most + 1, "what is left")
        return len(self._left)

    def expect_end(self) -> None:
        """Refuse bytes behind the last array."""
        if self._left or self._more():
            raise FormatError(self.path, f"goes on behind its end, from byte {self.position:,} on")

    def _fill(self, nbytes: int, what: str) -> None:
        """Have so many bytes, or all that are left, in memory if there is room for them."""
        is_checked = False
        while len(self._left) < nbytes and self._more():
            if len(self._left) > LITTLE and not is_checked:
                check_room(nbytes, f"{self.path}: {what}")
                is_checked = True

    def _more(self) -> bool:
        piece, done = next(self._pieces, (b"", self._total))
        self._left += piece
        if self._progress:
            self._progress(done, self._total)
        return bool(piece)
