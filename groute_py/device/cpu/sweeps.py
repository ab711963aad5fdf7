"""Rows from many sources by sweeps over a contraction hierarchy, several sources at once.

For some targets the part of it that their paths need is enough (RPHAST: Delling, Goldberg and
Werneck, "Faster batched shortest paths in road networks", 2011; the sources are kept as well, so
that the part is a hierarchy by itself).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.device.cpu.buffers import read_only
from groute_py.device.cpu.contraction import contract
from groute_py.device.cpu.hierarchy import Climb, CpuHierarchy, greatest, unsigned
from groute_py.device.cpu.rows import BLOCK_BYTES, CpuGraph
from groute_py.device.rows import NarrowError, RowBlock
from groute_py.device.summary import Summary, Wanted, summarize
from groute_py.graph.hierarchy import problems
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.graph.tails import offsets_of
from groute_py.kernels.cpu import sweep
from groute_py.kernels.cpu.sweep import mark_above
from groute_py.system.memory_limits import room_for
from groute_py.system.threads import lent

LANE_BYTES = 12
"""Bytes of a sweep's search upward, for each vertex."""

LINE_BYTES = 64
"""Distances of a vertex from the sources of a sweep, side by side: a line of the cache."""

MOST_KEPT = 0.5
"""Share of the vertices up to which the part that sources and targets need is made: it takes
time."""


class CpuSweeps:
    """A `RowSolver` with a sweep of several sources for each thread, by ``hierarchy`` or a new one.

    For some targets it sweeps only the part of the hierarchy that they and the sources need.
    `DenseError` if the graph does not contract, `NarrowError` if a shortcut does not fit.
    """

    def __init__(self, graph: CpuGraph, hierarchy: Hierarchy | None, *, predecessors: bool) -> None:
        self._graph, self._predecessors = graph, predecessors
        self._hierarchy = (hierarchy or _contracted(graph)).to_host()
        if self._hierarchy.type.itemsize > graph.type.itemsize:
            raise NarrowError
        self._lanes = LINE_BYTES // graph.type.itemsize
        self._threads = graph.threads
        self._pool = ThreadPoolExecutor(graph.threads)
        self.label = f"{graph.label}, {self._lanes} sources a sweep"

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        if targets is not None and not self._predecessors:
            most = int(MOST_KEPT * self._hierarchy.vertex_count)
            part = part_above(self._hierarchy, np.concatenate([sources, targets]), most)
            if part is not None:
                yield from self._between(part, len(sources))
                return
        for first, some, rows in self._trees(sources):
            parents = None
            if self._predecessors:
                parents = np.stack(list(self._pool.map(self._graph.find_parents, some, rows)))
            if targets is not None:
                rows, parents = rows[:, targets], None if parents is None else parents[:, targets]
            yield RowBlock(first, rows, parents)

    def summaries(self, sources: NDArray[np.int64], request: Wanted) -> Iterator[Summary]:
        for first, some, rows in self._trees(sources):
            numbers = range(first, first + len(some))
            yield from self._pool.map(partial(summarize, request=request), numbers, rows, some)

    @cached_property
    def _whole(self) -> CpuHierarchy:
        return CpuHierarchy(self._hierarchy, self._graph.type)

    def _between(self, part: Part, sources: int) -> Iterator[RowBlock]:
        """Yield rows of the targets' columns; `NarrowError` if a sum may not have fitted."""
        one = CpuHierarchy(part.hierarchy, self._graph.type)
        begins, columns = part.places[:sources], one.places[part.places[sources:]]
        for first, _, rows, is_sure in self._swept(one, begins, columns):
            if not is_sure:
                raise NarrowError
            yield RowBlock(first, rows, None)

    def _trees(self, sources: NDArray[np.int64]) -> Iterator[tuple[int, list[int], NDArray[Any]]]:
        """Yield the first position of some sources, these, and their whole rows, which are lent."""
        for first, some, rows, is_sure in self._swept(self._whole, sources, self._whole.places):
            if not is_sure:
                for row in rows:
                    self._graph.refuse_lost(row)
            yield first, some, rows

    def _fitting_threads(self, one: CpuHierarchy, sources: int) -> int:
        """Sweeps at once, as cores, sources and memory allow; half of it is for the rows."""
        most = min(self._threads, -(-sources // self._lanes))
        each = one.vertex_count * 2 * (LINE_BYTES + LANE_BYTES)
        free = room_for(most * each)
        return max(most if free is None else min(most, free // max(each, 1)), 1)

    def _swept(
        self, one: CpuHierarchy, sources: NDArray[np.int64], columns: NDArray[np.uint32]
    ) -> Iterator[tuple[int, list[int], NDArray[Any], bool]]:
        """Yield the first position of some sources, these, their lent rows, and if all sums fit."""
        threads = self._fitting_threads(one, len(sources))
        free: SimpleQueue[_Lanes] = SimpleQueue()
        for _ in range(threads):
            free.put(_Lanes(one, self._lanes))

        def sweep_into(part: NDArray[Any], some: list[int]) -> bool:
            with lent(free) as room:
                return room.solve(some, columns, part)

        row_bytes = max(len(columns) * self._graph.type.itemsize, 1)
        step = self._lanes * max(BLOCK_BYTES // (row_bytes * self._lanes), threads)
        rows = np.empty((min(step, len(sources)), len(columns)), self._graph.type)
        for first in range(0, len(sources), step):
            some = sources[first : first + step].tolist()
            parts = range(0, len(some), self._lanes)
            sure = list(
                self._pool.map(
                    sweep_into,
                    [rows[k : min(k + self._lanes, len(some))] for k in parts],
                    [some[k : k + self._lanes] for k in parts],
                )
            )
            yield first, some, rows[: len(some)], all(sure)


class _Lanes:
    """Room for a sweep of several sources."""

    def __init__(self, hierarchy: CpuHierarchy, count: int) -> None:
        self._hierarchy = hierarchy
        self._climb = Climb(hierarchy)
        self._distances = np.empty((hierarchy.vertex_count, count), hierarchy.type)

    def solve(self, sources: list[int], columns: NDArray[np.uint32], rows: NDArray[Any]) -> bool:
        """Fill rows with distances from at most one source a lane; True if all sums surely fit."""
        one, climb = self._hierarchy, self._climb
        self._distances.fill(one.nothing)
        overflowed = False
        for lane, source in enumerate(sources):
            places = climb.search(source)
            overflowed |= climb.overflowed
            state = (places, one.core_count, climb.distances, one.nothing)
            sweep.begin_lane(*state, lane, self._distances)
        sweep.sweep_lanes(*one.down_arcs, unsigned(self._distances))
        longest = int(sweep.answer_lanes(columns, self._distances, one.nothing, rows))
        if columns is not one.places:
            longest = greatest(self._distances, one.nothing)
        return not overflowed and longest + one.heaviest < int(one.nothing)


def _contracted(graph: CpuGraph) -> Hierarchy:
    offsets, heads, weights = graph.arcs
    try:
        return contract(offsets.view(np.int64), heads, weights, graph.type)
    except problems.NarrowError:
        raise NarrowError from None


class Part(NamedTuple):
    """A part of a hierarchy, whose vertices are the places themselves."""

    hierarchy: Hierarchy
    places: NDArray[np.int64]  # int64, (k,): by vertex of the request


def part_above(hierarchy: Hierarchy, vertices: NDArray[Any], most: int) -> Part | None:
    """The part with some vertices, all above them, and the core; None beyond ``most`` vertices."""
    places = np.empty(hierarchy.vertex_count, np.int32)
    places[hierarchy.vertices] = np.arange(hierarchy.vertex_count, dtype=np.int32)
    selection = places[vertices]
    marked = np.zeros(hierarchy.vertex_count, np.bool_)
    marked[selection] = marked[: hierarchy.core_count] = True
    mark_above(read_only(hierarchy.offsets), read_only(hierarchy.heads), marked)
    members = np.flatnonzero(marked)
    if len(members) > most:
        return None
    new = places  # of those that are kept, by their places before
    new[members] = np.arange(len(members), dtype=np.int32)
    degrees = hierarchy.offsets[members + 1] - hierarchy.offsets[members]
    offsets = offsets_of(degrees)
    arcs = np.arange(offsets[-1])
    arcs += np.repeat(hierarchy.offsets[members] - offsets[:-1], degrees)
    down = hierarchy.down[arcs]
    part = replace(
        hierarchy,
        levels=tuple(np.searchsorted(members, hierarchy.levels).tolist()),
        vertices=np.arange(len(members), dtype=np.int32),
        offsets=offsets,
        heads=new[hierarchy.heads[arcs]],
        down=down,
        up=down if hierarchy.is_symmetric else hierarchy.up[arcs],
    )
    return Part(part, new[selection].astype(np.int64))
