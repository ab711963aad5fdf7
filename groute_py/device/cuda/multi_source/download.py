"""Rows on their way from a GPU to the host: all of a batch, or some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.multi_source.graph import CudaGraph
from groute_py.device.cuda.runtime.pinned import empty_pinned
from groute_py.device.rows import NarrowError, RowBlock

PIECE_BYTES = 32 << 20
"""Rows on their way, in one go."""

Take = Callable[[NDArray[np.int64], Any, Any], None]
"""Fills the third argument, rows on the device, for sources on the host and on the device."""

FindParents = Callable[[Any, Any, Any], None]
"""Fills the third argument, int32 predecessors, for sources and their rows. All are on the
device."""


def downloaded(
    graph: CudaGraph,
    stream: Any,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64] | None,
    take: Take,
    find_parents: FindParents | None,
) -> Iterator[RowBlock]:
    """Bring rows, or columns of targets, to the host, each piece while the one before is in use."""
    if not len(sources):
        return
    row_bytes = graph.vertex_count * (graph.type.itemsize + 4 * (find_parents is not None))
    room = min(PIECE_BYTES, graph.free_bytes // 6)
    step = min(max(room // row_bytes, 1), len(sources))
    sides = [Side(graph, stream, step, targets, find_parents) for _ in range(2)]
    starts = range(0, len(sources), step)
    try:
        for number, start in enumerate(starts):
            sides[number % 2].send(sources[start : start + step], take)
            if number:
                yield sides[(number - 1) % 2].arrived(starts[number - 1])
        yield sides[(len(starts) - 1) % 2].arrived(starts[-1])
    finally:
        stream.synchronize()  # what the next piece works on may be freed now


class Side:
    """Rows on the device and page-locked room for them on the host; two take turns."""

    def __init__(
        self,
        graph: CudaGraph,
        stream: Any,
        rows: int,
        targets: NDArray[np.int64] | None,
        find_parents: FindParents | None,
    ) -> None:
        shape = rows, graph.vertex_count
        width = graph.vertex_count if targets is None else len(targets)
        self._stream, self._count, self._find_parents = stream, 0, find_parents
        types = [graph.type] if find_parents is None else [graph.type, np.dtype(np.int32)]
        with stream:
            self._device = [cp.empty(shape, dtype) for dtype in types]
            self._columns = None if targets is None else TargetColumns(targets)
        self._host = [empty_pinned((rows, width), dtype) for dtype in types]
        self._leaving: list[Any] = []  # until they have been copied
        self._done = cp.cuda.Event(disable_timing=True)

    def send(self, sources: NDArray[np.int64], take: Take) -> None:
        """Begin: rows, predecessors, copies."""
        self._count = len(sources)
        with self._stream:
            which = cp.asarray(sources.astype(np.uint32))
            device = [array[: self._count] for array in self._device]
            take(sources, which, device[0])
            if self._find_parents is not None:
                self._find_parents(which, *device)
            columns = self._columns
            self._leaving = device if columns is None else [columns.of(rows) for rows in device]
            for source, host in zip(self._leaving, self._host, strict=True):
                source.get(out=host[: self._count], blocking=False)
            self._done.record()

    def arrived(self, first: int) -> RowBlock:
        """Wait for the copies that have been started."""
        self._done.synchronize()
        host = [array[: self._count] for array in self._host]
        return RowBlock(first, host[0], host[1] if len(host) > 1 else None)


class TargetColumns:
    """Targets on the GPU."""

    def __init__(self, targets: NDArray[np.int64]) -> None:
        self._targets = cp.asarray(targets)

    def of(self, rows: Any) -> Any:
        """Copy the targets' columns, (r, t), of rows (r, n), in the current stream."""
        return rows.take(self._targets, axis=1)


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
