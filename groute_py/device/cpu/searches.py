"""Searches on one core from a source to some targets; the memory of one serves the next."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.hierarchy import Climb, CpuHierarchy
from groute_py.device.cpu.rows import CpuGraph
from groute_py.errors import too_late
from groute_py.kernels.cpu import searches, sweep
from groute_py.kernels.cpu.searches import SearchSide, begin, side_of

SLICE = np.uint64(1 << 20)
"""Arcs between two looks at the clock, some ten milliseconds."""

TWO_SIDED_SLICE = 1 << 18
"""The same of a search from both ends, a few milliseconds."""


class Search(Protocol):
    """Searches in one graph, one after another."""

    def run(self, source: int, targets: NDArray[np.int64], deadline: float) -> NDArray[Any]:
        """Return the targets' distances, `unreached` where no path leads; targets may repeat.

        `NarrowError` if a sum did not fit and a target was not reached; `TimeLimitError` after
        ``deadline`` (`time.monotonic`).
        """

    def path(self, target: int) -> NDArray[np.int64]:
        """The vertices of a shortest path to a target of the last search; empty without a path."""


class TargetSearch:
    """A `Search` by Dijkstra's algorithm, in a graph without negative weights."""

    def __init__(self, graph: CpuGraph) -> None:
        self._graph = graph
        count, self._nothing = graph.vertex_count, unreached(graph.type)
        self._side = side_of(count, self._nothing)
        self._distances: NDArray[Any] = self._side.distances
        self._wanted, self._targets = np.zeros(count, np.uint8), np.empty(0, np.int64)

    def run(self, source: int, targets: NDArray[np.int64], deadline: float) -> NDArray[Any]:
        begin(self._side, source, self._nothing)
        self._wanted[self._targets] = 0  # which the last search has left
        self._targets = targets
        self._wanted[targets] = 1
        self._side.counts[searches.LEFT] = len(np.unique(targets))
        what = self._graph.arcs, self._side, self._wanted, self._nothing, SLICE
        _finish(searches.search_targets, what, deadline)
        distances: NDArray[Any] = self._distances[targets]
        if self._side.counts[searches.OVERFLOWED] and (distances == self._nothing).any():
            self._graph.refuse_lost(self._distances)
        return distances

    def path(self, target: int) -> NDArray[np.int64]:
        if self._distances[target] == self._nothing:
            return np.empty(0, np.int64)
        return np.array(_walked(self._side, target)[::-1], np.int64)


class TwoSidedSearch:
    """A `Search` from both ends to one target, for integers whose longest path fits their type."""

    def __init__(self, graph: CpuGraph) -> None:
        self._arcs, self._nothing = (graph.arcs, graph.incoming), unreached(graph.type)
        self._sides = [side_of(graph.vertex_count, self._nothing) for _ in range(2)]
        self._meeting = np.zeros(3, np.int64)

    def run(self, source: int, targets: NDArray[np.int64], deadline: float) -> NDArray[Any]:
        for side, end in zip(self._sides, (source, int(targets[0])), strict=True):
            begin(side, end, self._nothing)
        self._meeting[:] = 0 if source == targets[0] else self._nothing, source, 0
        what = *self._arcs, *self._sides, self._meeting, self._nothing, TWO_SIDED_SLICE
        _finish(searches.search_both, what, deadline)
        length = self._meeting[searches.LENGTH]
        return np.full(len(targets), length, self._nothing.dtype)

    def path(self, target: int) -> NDArray[np.int64]:
        if self._meeting[searches.LENGTH] == self._nothing:
            return np.empty(0, np.int64)
        middle = int(self._meeting[searches.MIDDLE])
        to_source, to_target = (_walked(side, middle) for side in self._sides)
        return np.array([*to_source[::-1], *to_target[1:]], np.int64)


class UpSearch:
    """A `Search` upward from both ends in a hierarchy; the longest path fits in its type."""

    def __init__(self, hierarchy: CpuHierarchy) -> None:
        self._hierarchy, self._ahead = hierarchy, Climb(hierarchy)
        count = hierarchy.vertex_count
        self._back = np.full(count, hierarchy.nothing, hierarchy.type)
        self._touched, self._counts = np.empty(count, np.uint32), np.zeros(1, np.int64)

    def run(self, source: int, targets: NDArray[np.int64], deadline: float) -> NDArray[Any]:
        one = self._hierarchy
        touched = self._ahead.search(source)
        distances = np.empty(len(targets), one.type)
        try:
            places = one.places[targets]
            for number in range(len(places)):
                if time.monotonic() > deadline:
                    raise too_late()
                distances[number] = self._length(places[number : number + 1])
        finally:
            self._ahead.clear(touched)
        return distances

    def path(self, target: int) -> NDArray[np.int64]:
        raise NotImplementedError("a hierarchy keeps no middle vertices of its shortcuts")

    def _length(self, end: NDArray[np.uint32]) -> Any:
        """The length of a shortest path to one place from the source of the search."""
        one, back = self._hierarchy, self._back
        arcs = one.offsets, one.heads, one.down
        count = sweep.climb(arcs, end, one.nothing, back, self._touched, self._counts)
        return searches.meet(self._ahead.distances, back, self._touched[:count], one.nothing)


def _finish(search: Callable[..., Any], what: tuple[Any, ...], deadline: float) -> None:
    """Call a kernel, slice by slice, until its search is over or `TimeLimitError` is due."""
    while not search(*what):
        if time.monotonic() > deadline:
            raise too_late()


def _walked(side: SearchSide, vertex: int) -> list[int]:
    """The vertices from one that is touched back to where the side began, both included."""
    vertices, end = [vertex], int(side.touched[0])
    while vertices[-1] != end:
        vertices.append(int(side.before[vertices[-1]]))
    return vertices
