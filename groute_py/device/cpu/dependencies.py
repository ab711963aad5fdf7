"""Brandes' dependencies on the cores of this machine, a source for each thread."""

from __future__ import annotations

from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.memory_plan import PATHS_BYTES
from groute_py.device.cpu.rows import CpuGraph, by_threads
from groute_py.device.dependencies import (
    Accumulation,
    CycleError,
    Dependencies,
    PathCountError,
    square_scale,
)
from groute_py.graph.csr import Graph
from groute_py.kernels.cpu.dependencies import (
    LEVEL,
    OVERFLOWED,
    Accumulator,
    PathTree,
    accumulate,
    order_tight,
    search,
    settle,
)
from groute_py.system.threads import lent


class CpuDependencies:
    """A `DependencySolver` for graphs without negative weights, self-loops and parallel arcs."""

    def __init__(
        self, graph: Graph, distance_type: np.dtype[Any], request: Accumulation, *, hops: bool
    ) -> None:
        self._graph = CpuGraph(graph, distance_type)
        self._arcs, self.label = self._graph.arcs, self._graph.label
        self._request, self._hops = request, hops
        self._work = list[Workspace]()
        self._free: SimpleQueue[Workspace] = SimpleQueue()

    def add(self, sources: NDArray[np.int64]) -> Iterator[int]:
        def work(_: int, source: int) -> None:
            with lent(self._free) as space:
                self._add(space, source)

        threads = self._graph.threads
        while len(self._work) < min(threads, len(sources)):
            self._work.append(Workspace(self._graph, self._sum_count, self._request))
            self._free.put(self._work[-1])
        row_bytes = max(PATHS_BYTES * self._graph.vertex_count, 1)
        for first, some in by_threads(threads, row_bytes, sources, work):
            yield first + len(some)

    def sums(self) -> Dependencies:
        total = Dependencies.of(self._sum_count, self._request)
        for space in self._work:
            total.add(space.sums)
        return total

    @property
    def _sum_count(self) -> int:
        return len(self._arcs[1]) if self._request.by_arc else self._graph.vertex_count

    def _add(self, space: Workspace, source: int) -> None:
        nothing, first = unreached(self._graph.type), np.uint64(source)
        tree, sums, request = space.tree, space.sums, self._request
        tree.distances.fill(nothing)
        tree.paths.fill(0)
        if self._hops:
            reached = search(self._arcs, first, nothing, tree)
        else:
            reached = self._settled(tree, first, nothing)
        scale = square_scale(self._graph.vertex_count)
        choices = request.by_arc, int(request.endpoints), scale
        room = space.dependencies, Accumulator(sums.totals, sums.squares, *choices)
        most = accumulate(self._arcs, first, nothing, np.int64(reached), tree, *room)
        if most == np.inf:
            raise PathCountError
        sums.most_paths = max(sums.most_paths, most)

    def _settled(self, tree: PathTree, source: Any, nothing: Any) -> int:
        reached, met = settle(self._arcs, source, nothing, tree)
        if met & OVERFLOWED:
            self._graph.refuse_lost(tree.distances)
        in_order = reached
        if met & LEVEL:
            in_order = order_tight(self._arcs, source, nothing, np.int64(reached), tree)
        if in_order < reached:
            raise CycleError
        return int(reached)


class Workspace:
    """Room of a thread, and its sums."""

    def __init__(self, graph: CpuGraph, sum_count: int, request: Accumulation) -> None:
        count = graph.vertex_count
        order, places, heap = np.zeros((3, count), np.uint32)
        paths, self.dependencies = np.empty((2, count))
        self.tree = PathTree(np.empty(count, graph.type), order, paths, places, heap)
        self.sums = Dependencies.of(sum_count, request)
