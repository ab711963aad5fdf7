"""The rows of a finished matrix on their way from a GPU to the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.multi_source.columns import TargetColumns
from groute_py.device.cuda.multi_source.graph import CudaGraph
from groute_py.device.cuda.runtime.pinned import empty_pinned
from groute_py.device.rows import NarrowError, RowBlock

PIECE_BYTES = 32 << 20
"""Rows on their way, in one go."""

MOST_PINNED = 1 << 28
"""Bytes of a batch up to which it goes to page-locked memory, which takes long to get."""

Take = Callable[[NDArray[np.int64], Any, Any], None]
"""Of sources, on the host and on the device, fills the third, their rows on the device."""


FindParents = Callable[[Any, Any, Any], None]
"""Of sources and their rows, fills the third, int32: predecessors. All are on the device."""


def downloaded(
    graph: CudaGraph,
    stream: Any,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64] | None,
    take: Take,
    find_parents: FindParents | None,
) -> Iterator[RowBlock]:
    """Bring rows to the host, each piece while the one before is in use.

    Args:
        graph: on the GPU.
        stream: that everything is done in.
        sources: whose rows.
        targets: whose columns of these, shape (t,); None for all.
        take: fills device rows with those of some sources, in the stream.
        find_parents: finds predecessors, if they are wanted.
    """
    row_bytes = graph.vertex_count * (graph.type.itemsize + 4 * (find_parents is not None))
    room = min(PIECE_BYTES, graph.free_bytes // 6)
    step = min(max(room // row_bytes, 1), len(sources))
    sides = [Side(graph, stream, step, targets, find_parents) for _ in range(2)]
    starts = range(0, len(sources), step)
    for number, start in enumerate(starts):
        sides[number % 2].send(sources[start : start + step], take)
        if number:
            yield sides[(number - 1) % 2].arrived(starts[number - 1])
    if starts:
        yield sides[(len(starts) - 1) % 2].arrived(starts[-1])


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


class Batch:
    """All rows of a batch on their way to the host, while the next one is solved; two take turns.

    Args:
        stream: that everything is done in.
    """

    def __init__(self, stream: Any) -> None:
        self._stream, self._first, self._count = stream, 0, 0
        self._rows: Any = None
        self._overflow = empty_pinned((1,), np.uint32)
        self._done = cp.cuda.Event(disable_timing=True)

    def send(self, first: int, rows: Any, overflow: Any) -> None:
        """Begin to copy; what is lent may be changed by what follows in the stream.

        Args:
            first: the number of the first row.
            rows: on the device, shape (r, t); at most as many as the first time.
            overflow: uint32, shape (1,), on the device: not 0 if a distance did not fit.
        """
        self._first, self._count = first, len(rows)
        if self._rows is None:
            pinned = rows.nbytes <= MOST_PINNED
            self._rows = (empty_pinned if pinned else np.empty)(rows.shape, rows.dtype)
        with self._stream:
            rows.get(out=self._rows[: self._count], blocking=False)
            overflow.get(out=self._overflow, blocking=False)
            self._done.record()

    def arrived(self) -> RowBlock:
        """Wait for the copy.

        Raises:
            NarrowError: a distance did not fit.
        """
        self._done.synchronize()
        if self._overflow[0]:
            raise NarrowError
        return RowBlock(self._first, self._rows[: self._count], None)
