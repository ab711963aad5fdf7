"""Rows on their way from a GPU to the host, each piece while the one before is in use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import cycle
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.multi_source.graph import CudaGraph
from groute_py.device.cuda.runtime.pinned import empty_pinned
from groute_py.device.rows import NarrowError, RowBlock

PIECE_BYTES = 32 << 20
"""Rows on their way, in one go."""

MOST_PINNED = 1 << 28
"""Bytes of rows up to which they go to page-locked memory, which takes long to get."""

Take = Callable[[NDArray[np.int64], Any, Any], None]
"""Fills the third argument, rows on the device, for sources on the host and on the device."""

FindParents = Callable[[Any, Any, Any], None]
"""Fills the third argument, int32 predecessors, for sources and their rows. All are on the
device."""


class TargetColumns:
    """Targets on the GPU."""

    def __init__(self, targets: NDArray[np.int64]) -> None:
        self._targets = cp.asarray(targets)

    def of(self, rows: Any) -> Any:
        """Copy the targets' columns, (r, t), of rows (r, n), in the current stream."""
        return rows.take(self._targets, axis=1)


class Download:
    """Rows on their way, with or without predecessors: whole ones, or the columns of targets.

    The host's memory for them is kept for the next ones.
    """

    def __init__(self, stream: Any, columns: TargetColumns | None = None) -> None:
        self._stream, self._columns = stream, columns
        self._hosts: list[NDArray[Any]] = []
        self._leaving: list[Any] = []  # until they have been copied
        self._overflow = empty_pinned((1,), np.uint32)
        self._done = cp.cuda.Event(disable_timing=True)

    def send(self, first: int, arrays: list[Any], overflow: Any = None) -> None:
        """Begin to copy rows, their predecessors and a flag; later work may change all of them."""
        self._first, self._count = first, len(arrays[0])
        self._overflow[0] = 0
        columns = self._columns
        with self._stream:
            self._leaving = arrays if columns is None else [columns.of(rows) for rows in arrays]
            if not self._hosts or len(self._hosts[0]) < self._count:
                self._hosts = [_room_for(rows) for rows in self._leaving]
            for rows, host in zip(self._leaving, self._hosts, strict=True):
                rows.get(out=host[: self._count], blocking=False)
            if overflow is not None:
                overflow.get(out=self._overflow, blocking=False)
            self._done.record()

    def arrived(self) -> RowBlock:
        """Wait for the copies; `NarrowError` if the flag says that a distance did not fit."""
        self._done.synchronize()
        if self._overflow[0]:
            raise NarrowError
        rows, *parents = (host[: self._count] for host in self._hosts)
        return RowBlock(self._first, rows, parents[0] if parents else None)


def _room_for(rows: Any) -> NDArray[Any]:
    empty = empty_pinned if rows.nbytes <= MOST_PINNED else np.empty
    room: NDArray[Any] = empty(rows.shape, rows.dtype)
    return room


def in_turn(
    stream: Any, pieces: Iterable[tuple[Any, ...]], downloads: tuple[Download, Download]
) -> Iterator[RowBlock]:
    """Yield pieces as they arrive, in order; they are as `Download.send` takes them."""
    before: Download | None = None
    try:
        for piece, download in zip(pieces, cycle(downloads), strict=False):
            download.send(*piece)
            if before is not None:
                yield before.arrived()
            before = download
        if before is not None:
            yield before.arrived()
    finally:
        stream.synchronize()  # what the next piece works on may be freed now


def downloaded(
    graph: CudaGraph,
    stream: Any,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64] | None,
    take: Take,
    find_parents: FindParents | None,
) -> Iterator[RowBlock]:
    """Bring the rows that are taken, or columns of targets, to the host."""
    if not len(sources):
        return
    types = [graph.type] if find_parents is None else [graph.type, np.dtype(np.int32)]
    row_bytes = graph.vertex_count * sum(kind.itemsize for kind in types)
    room = min(PIECE_BYTES, graph.free_bytes // 6)
    step = min(max(room // row_bytes, 1), len(sources))
    with stream:
        device = [cp.empty((step, graph.vertex_count), kind) for kind in types]
        columns = None if targets is None else TargetColumns(targets)

    def pieces() -> Iterator[tuple[int, list[Any]]]:
        for start in range(0, len(sources), step):
            some = sources[start : start + step]
            with stream:
                which = cp.asarray(some.astype(np.uint32))
                rows = [array[: len(some)] for array in device]
                take(some, which, rows[0])
                if find_parents is not None:
                    find_parents(which, *rows)
            yield start, rows

    downloads = Download(stream, columns), Download(stream, columns)
    yield from in_turn(stream, pieces(), downloads)
