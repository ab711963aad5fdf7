"""All rows of a batch on their way from a GPU to the host, with whether one has overflowed."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.runtime.pinned import empty_pinned
from groute_py.device.rows import NarrowError, RowBlock

MOST_PINNED = 1 << 28
"""Bytes of a batch up to which it goes to page-locked memory, which takes long to get."""


class Batch:
    """All rows of a batch on their way to the host while the next is solved; two take turns."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._first, self._count = stream, 0, 0
        self._rows: Any = None
        self._overflow = empty_pinned((1,), np.uint32)
        self._done = cp.cuda.Event(disable_timing=True)

    def send(self, first: int, rows: Any, overflow: Any) -> None:
        """Begin to copy rows (no more than at first) and a flag; later work may change both."""
        self._first, self._count = first, len(rows)
        if self._rows is None:
            pinned = rows.nbytes <= MOST_PINNED
            self._rows = (empty_pinned if pinned else np.empty)(rows.shape, rows.dtype)
        with self._stream:
            rows.get(out=self._rows[: self._count], blocking=False)
            overflow.get(out=self._overflow, blocking=False)
            self._done.record()

    def arrived(self) -> RowBlock:
        """Wait for the copy; `NarrowError` if a distance did not fit."""
        self._done.synchronize()
        if self._overflow[0]:
            raise NarrowError
        return RowBlock(self._first, self._rows[: self._count], None)
