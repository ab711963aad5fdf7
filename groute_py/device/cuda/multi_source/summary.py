"""Rows of distances in a GPU's memory, reduced to a few numbers each before anything is copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.multi_source.download import PIECE_BYTES, Take
from groute_py.device.cuda.multi_source.graph import CudaGraph
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.device.cuda.runtime.transfer import to_device, to_host
from groute_py.device.summary import (
    LiftError,
    Summary,
    Wanted,
    bin_count,
    joined,
    partial_type,
    wide,
)
from groute_py.kernels.cpu.fixed_point import CHUNK, SCALE, add, floats
from groute_py.kernels.source import BLOCK, SUMMARY

SUMMARY_BLOCK = 256
"""Threads of a block of `summarize_rows`."""

LEAST_PART = 1 << 13
"""Vertices of a part at least."""

MANY_BLOCKS = 1 << 12
"""Into so many parts a launch is cut, if rows are long enough: several for each processor."""

MOST_ROWS = 65_535
"""Summarized at once: a grid has a row of blocks for each."""


class CudaSummaries:
    """Summaries of rows of one type and length, with the arrays that they take on the GPU."""

    def __init__(self, distance_type: np.dtype[Any], vertex_count: int, wanted: Wanted) -> None:
        self.type, self.vertex_count, self.histogram = distance_type, vertex_count, wanted.histogram
        self.sums, self.reciprocals = wanted.sums, wanted.reciprocals
        self.kernels = kernels_of(SUMMARY, distance_type, 0)
        self._heights = wanted.heights
        self.heights: Any = np.uint64(0)
        if wanted.heights is not None:
            self.heights = to_device(wanted.heights, wide(distance_type))

    def heights_of(self, sources: NDArray[np.int64]) -> Any:
        """The potentials of some sources, on the device; null where there are none."""
        if self._heights is None:
            return np.uint64(0)
        return cp.asarray(self._heights[sources].astype(wide(self.type)))


class Pending:
    """The summary of some rows (r, n), on its way; its buffers belong to the current stream."""

    def __init__(self, summaries: CudaSummaries, rows: Any, sources: NDArray[np.int64]) -> None:
        kind, vertices = summaries.type, summaries.vertex_count
        parts = min(-(-vertices // LEAST_PART), -(-MANY_BLOCKS // len(rows)))
        part = -(-vertices // parts)
        self._shape, self._has_sums = (len(rows), parts), summaries.sums
        self._type = partial_type(kind)
        self._partials = cp.empty(len(rows) * parts * self._type.itemsize, np.uint8)
        self._unfit = cp.zeros(1, np.uint32)
        self._histogram: Any = np.uint64(0)
        if summaries.histogram:
            self._histogram = cp.zeros(bin_count(kind), np.uint64)
        own = summaries.heights_of(sources)
        arguments = (rows, np.uint32(vertices), np.uint32(part), summaries.heights, own)
        results = self._partials, self._histogram, self._unfit
        grid = parts, len(rows)
        summaries.kernels["summarize_rows"](grid, (SUMMARY_BLOCK,), (*arguments, *results))
        self._reciprocals: Any = None
        if summaries.reciprocals:
            chunks = -(-vertices // CHUNK)
            is_exact = kind.kind != "f"
            shape, dtype = ((2,), np.uint64) if is_exact else ((), np.float64)
            self._reciprocals = cp.empty((chunks * len(rows), *shape), dtype)
            summed = rows, np.uint32(vertices), self._reciprocals
            summaries.kernels["sum_reciprocals"]((chunks, len(rows)), (SUMMARY_BLOCK,), summed)

    def result(self, first: int) -> Summary:
        """Wait for it, in its stream; `SumError` or `LiftError` for a number that does not fit."""
        if self._unfit.get()[0]:
            raise LiftError
        partials = self._partials.get().view(self._type).reshape(self._shape)
        histogram = None
        if not isinstance(self._histogram, np.uint64):
            histogram = self._histogram.get().astype(np.int64)
        summary = joined(first, partials, histogram, with_sums=self._has_sums)
        if self._reciprocals is None:
            return summary
        parts = self._reciprocals.get().reshape(self._shape[0], -1, *self._reciprocals.shape[1:])
        if parts.ndim == 2:
            return replace(summary, reciprocals=parts.sum(axis=1))
        exact = np.zeros((len(parts), 2), np.uint64)
        for chunk in range(parts.shape[1]):
            add(exact, parts[:, chunk])
        return replace(summary, reciprocals=floats(exact) / SCALE)


def summarized(
    graph: CudaGraph, stream: Any, sources: NDArray[np.int64], take: Take, wanted: Wanted
) -> Iterator[Summary]:
    """The summaries of rows of a finished matrix."""
    if not len(sources):
        return
    row_bytes = graph.vertex_count * graph.type.itemsize
    room = min(PIECE_BYTES, graph.free_bytes // 6)
    step = min(max(room // row_bytes, 1), len(sources), MOST_ROWS)
    with stream:
        summaries = CudaSummaries(graph.type, graph.vertex_count, wanted)
        rows = cp.empty((step, graph.vertex_count), graph.type)
    for start in range(0, len(sources), step):
        some = sources[start : start + step]
        with stream:
            take(some, cp.asarray(some.astype(np.uint32)), rows[: len(some)])
            summary = Pending(summaries, rows[: len(some)], some).result(start)
        yield summary


class ArraySummaries:
    """Summaries of distances that a solve has left on the GPU, a row at a time."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._stream = cp.cuda.Stream(non_blocking=True)
        self._kept: CudaSummaries | None = None

    def of(self, first: int, distances: Any, source: int) -> Summary:
        """Summarize one complete row; `SumError` or `LiftError` for a number that does not fit."""
        with self._stream:
            if self._kept is None or self._kept.type != distances.dtype:
                self._kept = CudaSummaries(distances.dtype, len(distances), self._wanted)
            rows = distances[np.newaxis]
            return Pending(self._kept, rows, np.array([source])).result(first)


class CudaSmallest:
    """Entries (k, n) of the rows so far: distances (`wide`), owners and predecessors (int32)."""

    def __init__(self, count: int, k: int, distances: np.dtype[Any]) -> None:
        self._count, self._k, kind = count, k, wide(distances)
        self._stream = cp.cuda.Stream(non_blocking=True)
        with self._stream:
            nothing = np.inf if kind.kind == "f" else np.iinfo(kind).max
            self._distances = cp.full((k, count), nothing, kind)
            self._owners, self._before = (cp.full((k, count), -1, np.int32) for _ in range(2))

    def take(self, rows: Any, parents: Any, numbers: NDArray[np.int64]) -> None:
        """Take rows (r, n) of some numbers, with their predecessors (int32); waits for the end."""
        with self._stream:
            words = cp.asarray(rows), cp.asarray(parents), cp.asarray(numbers.astype(np.uint32))
            counts = np.uint32(len(numbers)), np.uint32(self._count), np.uint32(self._k)
            self._kernels = Kernels(kernels_of(SUMMARY, np.dtype(rows.dtype), 0), BLOCK)
            smallest = self._distances, self._owners, self._before
            self._kernels.run("keep_smallest", self._count, *words, *counts, *smallest)
        self._stream.synchronize()  # the rows are lent

    def on_host(self) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32]]:
        """Return distances, owners and predecessors, each of shape (n, k), after a `take`."""
        with self._stream:
            owners, before = (
                self._turned(numbers, "turn_numbers") for numbers in (self._owners, self._before)
            )
            return self._turned(self._distances, "turn_distances"), owners, before

    def _turned(self, entries: Any, kernel: str) -> NDArray[Any]:
        lines = cp.empty(entries.size, entries.dtype)
        counts = np.uint32(self._count), np.uint32(self._k)
        self._kernels.run(kernel, entries.size, entries, *counts, lines)
        return to_host(lines).reshape(self._count, self._k)
