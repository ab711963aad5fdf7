"""Rows from many sources on the cores of this machine, a source for each thread."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import bound_within, unreached
from groute_py.device.rows import NarrowError, RowBlock, leads_beyond
from groute_py.device.summary import Summary, Wanted, summarize
from groute_py.graph.csr import Graph
from groute_py.graph.tails import transposed
from groute_py.kernels.cpu import near_far, serial
from groute_py.kernels.cpu.owners import find_parents
from groute_py.system.threads import core_count

T = TypeVar("T")

BLOCK_BYTES = 16 << 20
"""Rows that are solved before they are handed on."""


class CpuGraph:
    """Outgoing and incoming arcs of a graph without negative weights, in the kernels' types."""

    def __init__(self, graph: Graph, distance_type: np.dtype[Any]) -> None:
        self.vertex_count, self.type = graph.vertex_count, distance_type
        self.threads = core_count()
        name = platform.machine()
        self.label = f"cpu: {name}, {self.threads} threads"
        self._graph = graph
        self.arcs = self._converted(graph.offsets, graph.heads, graph.weights)
        self._incoming: tuple[NDArray[Any], ...] | None = None

    @property
    def incoming(self) -> tuple[NDArray[Any], ...]:
        """The arcs turned round, by their heads; made when they are first wanted."""
        if self._incoming is None:
            graph = self._graph
            self._incoming = self._converted(*transposed(graph.offsets, graph.heads, graph.weights))
        return self._incoming

    def find_parents(self, source: int, distances: NDArray[Any]) -> NDArray[np.int32]:
        """Return the predecessors of one row of exact distances."""
        parents = np.empty(self.vertex_count, np.int32)
        nothing = unreached(self.type)
        find_parents(self.incoming, source, distances, nothing, parents)
        return parents

    def refuse_lost(self, distances: NDArray[Any]) -> None:
        """Raise `NarrowError` if a sum that did not fit in this row was of a shortest path."""
        reached = distances != unreached(self.type)
        offsets, heads, _ = self.arcs
        if leads_beyond(offsets, heads, reached, reached):
            raise NarrowError

    def _converted(self, *arcs: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        offsets, heads, weights = arcs
        return (
            offsets.view(np.uint64),
            heads.astype(np.uint32, copy=False),
            weights.astype(self.type, copy=False),
        )


class CpuHeaps:
    """See `groute_py.device.rows.RowSolver`: Dijkstra with a heap, a source for each thread."""

    def __init__(self, graph: CpuGraph, *, predecessors: bool, cutoff: float = math.inf) -> None:
        self._graph, self._predecessors = graph, predecessors
        self.label, self.cutoff = graph.label, cutoff
        self._bound = bound_within(cutoff, graph.type)

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        yield from blocks_of(self._graph, sources, targets, self._row, self._predecessors)

    def summaries(self, sources: NDArray[np.int64], request: Wanted) -> Iterator[Summary]:
        yield from summaries_of(self._graph, sources, self._row, request)

    def _row(self, source: int) -> NDArray[Any]:
        count, nothing = self._graph.vertex_count, unreached(self._graph.type)
        distances = np.full(count, nothing)
        places, open_ones = np.zeros(count, np.uint32), np.empty(count, np.uint32)
        at = np.zeros(near_far.CURSORS, np.int64)
        distances[source], places[source], open_ones[0] = 0, 1, source
        at[near_far.NEAR_COUNT] = 1
        bounds = (np.inf, self._bound, nothing, np.uint64(len(self._graph.arcs[1]) + 1))
        serial.heap_dijkstra(self._graph.arcs, distances, places, open_ones, at, bounds)
        if at[near_far.OVERFLOWED]:
            self._graph.refuse_lost(distances)
        return distances


def blocks_of(
    graph: CpuGraph,
    sources: NDArray[np.int64],
    targets: NDArray[np.int64] | None,
    row_of: Callable[[int], NDArray[Any]],
    predecessors: bool,
) -> Iterator[RowBlock]:
    """Rows by all threads, in order; ``row_of`` gives the distances from a source."""
    columns = slice(None) if targets is None else targets

    def work(_: int, source: int) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
        distances = row_of(source)
        parents = graph.find_parents(source, distances)[columns] if predecessors else None
        return distances[columns], parents

    for first, rows in by_threads(graph.threads, row_bytes(graph), sources, work):
        parents = [p for _, p in rows if p is not None]
        yield RowBlock(
            first, np.stack([d for d, _ in rows]), np.stack(parents) if parents else None
        )


def summaries_of(
    graph: CpuGraph,
    sources: NDArray[np.int64],
    row_of: Callable[[int], NDArray[Any]],
    request: Wanted,
) -> Iterator[Summary]:
    """Yield the summaries of those rows in order, computed by all threads."""

    def work(position: int, source: int) -> Summary:
        return summarize(position, row_of(source), source, request)

    for _, summaries in by_threads(graph.threads, row_bytes(graph), sources, work):
        yield from summaries


def row_bytes(graph: CpuGraph) -> int:
    """Return the bytes of a row of distances, at least 1."""
    return max(graph.vertex_count * graph.type.itemsize, 1)


def by_threads(
    threads: int, row_bytes: int, sources: NDArray[np.int64], work: Callable[[int, int], T]
) -> Iterator[tuple[int, list[T]]]:
    """Yield first positions, and the results of ``work(position, source)``, by 16 MB of rows."""
    step = max(BLOCK_BYTES // row_bytes, threads)
    with ThreadPoolExecutor(threads) as pool:
        for first in range(0, len(sources), step):
            some = sources[first : first + step].tolist()
            yield first, list(pool.map(work, range(first, first + len(some)), some))
