"""Rows from many sources by sweeps over a contraction hierarchy, several sources at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.contraction import contract
from groute_py.device.cpu.hierarchy import Climb, CpuHierarchy, unsigned
from groute_py.device.cpu.rows import BLOCK_BYTES, CpuGraph, row_bytes
from groute_py.device.overflow import leads_beyond
from groute_py.device.rows import NarrowError, RowBlock
from groute_py.device.summary import Summary, Wanted, summarize
from groute_py.hierarchy import problems
from groute_py.hierarchy.hierarchy import Hierarchy
from groute_py.kernels.cpu import sweep
from groute_py.system.memory_limits import available_bytes

LANE_BYTES = 12
"""Of a sweep's search upward, for each vertex."""

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
        hierarchy = hierarchy or _contracted(graph)
        if hierarchy.type.itemsize > graph.type.itemsize:
            raise NarrowError
        self._hierarchy = CpuHierarchy(hierarchy, graph.type)
        self._lanes = LINE_BYTES // graph.type.itemsize
        self._threads = graph.threads
        self._pool = ThreadPoolExecutor(graph.threads)
        self.label = f"{graph.label}, {self._lanes} sources a sweep"

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        for first, some, rows in self._swept(sources):
            parents = None
            if self._predecessors:
                parents = np.stack(list(self._pool.map(self._graph.find_parents, some, rows)))
            if targets is not None:
                rows, parents = rows[:, targets], None if parents is None else parents[:, targets]
            yield RowBlock(first, rows, parents)

    def summaries(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        for first, some, rows in self._swept(sources):
            numbers = range(first, first + len(some))
            yield from self._pool.map(partial(summarize, wanted=wanted), numbers, rows, some)

    def _fitting_threads(self, sources: int) -> int:
        """Sweeps at once, as cores, sources and memory allow; half of it is for the rows."""
        wanted = min(self._threads, -(-sources // self._lanes))
        each = self._graph.vertex_count * 2 * (LINE_BYTES + LANE_BYTES)
        free = available_bytes()
        return max(wanted if free is None else min(wanted, free // max(each, 1)), 1)

    def _swept(self, sources: NDArray[np.int64]) -> Iterator[tuple[int, list[int], NDArray[Any]]]:
        """Position of the first of some sources, these, and their rows, which are lent."""
        threads = self._fitting_threads(len(sources))
        lanes = [_Lanes(self._graph, self._hierarchy, self._lanes) for _ in range(threads)]
        free: SimpleQueue[_Lanes] = SimpleQueue()
        for room in lanes:
            free.put(room)

        def sweep_into(part: NDArray[Any], some: list[int]) -> None:
            room = free.get()
            try:
                room.solve(some, part)
            finally:
                free.put(room)

        fitting = BLOCK_BYTES // (row_bytes(self._graph) * self._lanes)
        step = self._lanes * max(fitting, threads)
        rows = np.empty((min(step, len(sources)), self._graph.vertex_count), self._graph.type)
        for first in range(0, len(sources), step):
            some = sources[first : first + step].tolist()
            parts = range(0, len(some), self._lanes)
            list(
                self._pool.map(
                    sweep_into,
                    [rows[k : min(k + self._lanes, len(some))] for k in parts],
                    [some[k : k + self._lanes] for k in parts],
                )
            )
            yield first, some, rows[: len(some)]


class _Lanes:
    """Room for a sweep of several sources."""

    def __init__(self, graph: CpuGraph, hierarchy: CpuHierarchy, count: int) -> None:
        self._graph, self._hierarchy = graph, hierarchy
        self._climb = Climb(hierarchy)
        self._distances = np.empty((hierarchy.vertex_count, count), hierarchy.type)

    def solve(self, sources: list[int], rows: NDArray[Any]) -> None:
        """Fill rows with the distances from some sources, at most one for each lane.

        Raises:
            NarrowError: one does not fit.
        """
        one, climb = self._hierarchy, self._climb
        self._distances.fill(one.nothing)
        overflowed = False
        for lane, source in enumerate(sources):
            found = climb.search(source)
            overflowed |= climb.overflowed
            state = (found, one.core_count, climb.distances, one.nothing)
            sweep.begin_lane(*state, lane, self._distances)
        sweep.sweep_lanes(*one.down_arcs, unsigned(self._distances))
        greatest = int(sweep.answer_lanes(one.places, self._distances, one.nothing, rows))
        if overflowed or greatest + one.heaviest >= int(one.nothing):
            self._refuse_lost(rows)

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
