"""Rows from many sources by sweeps over a contraction hierarchy, several sources at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.contraction import contract
from groute_py.device.cpu.hierarchy import Climb, CpuHierarchy, unsigned
from groute_py.device.cpu.rows import CpuGraph, by_threads, row_bytes
from groute_py.device.overflow import leads_beyond
from groute_py.device.rows import NarrowError, RowBlock
from groute_py.device.summary import Summary, Wanted, summarize
from groute_py.hierarchy import problems
from groute_py.hierarchy.hierarchy import Hierarchy
from groute_py.kernels.cpu import sweep

T = TypeVar("T")

LINE_BYTES = 64
"""Distances of a vertex from the sources of a sweep, side by side: a line of the cache."""


class CpuSweeps:
    """See `groute_py.device.rows.RowSolver`: a sweep for each thread, of several sources.

    Args:
        graph: with integer weights.
        hierarchy: of the graph; None to make it.
        predecessors: whether to find them.

    Raises:
        DenseError: the graph does not contract.
        NarrowError: a shortcut does not fit in the type.
    """

    def __init__(self, graph: CpuGraph, hierarchy: Hierarchy | None, *, predecessors: bool) -> None:
        self._graph, self._predecessors = graph, predecessors
        self._hierarchy = CpuHierarchy(hierarchy or _contracted(graph), graph.type)
        self._lanes = LINE_BYTES // graph.type.itemsize
        self._free: SimpleQueue[_Lanes] = SimpleQueue()
        self._made = 0
        self.label = f"{graph.label}, {self._lanes} sources a sweep"

    def blocks(self, sources: NDArray[np.int64]) -> Iterator[RowBlock]:
        def work(first: int, rows: NDArray[Any]) -> tuple[NDArray[Any], list[NDArray[np.int32]]]:
            if not self._predecessors:
                return rows, []
            own = sources[first : first + len(rows)].tolist()
            return rows, [self._graph.find_parents(s, r) for s, r in zip(own, rows, strict=True)]

        for first, found in self._by_threads(sources, work):
            parents = [tree for _, trees in found for tree in trees]
            yield RowBlock(
                first,
                np.concatenate([rows for rows, _ in found]),
                np.stack(parents) if parents else None,
            )

    def summaries(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        def work(first: int, rows: NDArray[Any]) -> list[Summary]:
            own = enumerate(sources[first : first + len(rows)].tolist())
            return [summarize(first + k, rows[k], source, wanted) for k, source in own]

        for _, found in self._by_threads(sources, work):
            for summaries in found:
                yield from summaries

    def _by_threads(
        self, sources: NDArray[np.int64], work: Callable[[int, NDArray[Any]], T]
    ) -> Iterator[tuple[int, list[T]]]:
        """What ``work`` makes of the rows of a sweep and the position of their first source."""
        threads = self._graph.threads
        while self._made < threads:
            self._free.put(_Lanes(self._graph, self._hierarchy, self._lanes))
            self._made += 1

        def swept(_: int, first: int) -> T:
            lanes = self._free.get()
            try:
                rows = lanes.rows(sources[first : first + self._lanes])
            finally:
                self._free.put(lanes)
            return work(first, rows)

        starts = np.arange(0, len(sources), self._lanes)
        bytes_each = row_bytes(self._graph) * self._lanes
        for number, found in by_threads(threads, bytes_each, starts, swept):
            yield number * self._lanes, found


class _Lanes:
    """Room for a sweep of several sources."""

    def __init__(self, graph: CpuGraph, hierarchy: CpuHierarchy, count: int) -> None:
        self._graph, self._hierarchy = graph, hierarchy
        self._climb = Climb(hierarchy)
        self._distances = np.empty((hierarchy.vertex_count, count), hierarchy.type)

    def rows(self, sources: NDArray[np.int64]) -> NDArray[Any]:
        """The distances from some sources, at most one for each lane.

        Raises:
            NarrowError: one does not fit.
        """
        one, climb = self._hierarchy, self._climb
        self._distances.fill(one.nothing)
        overflowed = False
        for lane, source in enumerate(sources.tolist()):
            found = climb.search(source)
            overflowed |= climb.overflowed
            state = (found, one.core_count, climb.distances, one.nothing)
            sweep.begin_lane(*state, lane, self._distances)
        sweep.sweep_lanes(*one.down_arcs, unsigned(self._distances))
        rows = np.empty((len(sources), one.vertex_count), one.type)
        greatest = int(sweep.answer_lanes(one.places, self._distances, one.nothing, rows))
        if overflowed or greatest + one.heaviest >= int(one.nothing):
            self._refuse_lost(rows)
        return rows

    def _refuse_lost(self, rows: NDArray[Any]) -> None:
        offsets, heads, _ = self._graph.arcs
        for row in rows:
            reached = row != unreached(row.dtype)
            if leads_beyond(offsets, heads, reached, reached):
                raise NarrowError


def _contracted(graph: CpuGraph) -> Hierarchy:
    offsets, heads, weights = graph.arcs
    try:
        return contract(offsets.view(np.int64), heads, weights, graph.type)
    except problems.NarrowError:
        raise NarrowError from None
