"""Brandes' dependencies on the cores of this machine, a source for each thread."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.memory_plan import PATHS_BYTES
from groute_py.device.cpu.rows import by_threads
from groute_py.device.dependencies import (
    Accumulation,
    CycleError,
    Dependencies,
    PathCountError,
    square_scale,
)
from groute_py.device.overflow import leads_beyond
from groute_py.device.rows import NarrowError
from groute_py.graph.csr import Graph
from groute_py.kernels.cpu.dependencies import (
    LEVEL,
    OVERFLOWED,
    accumulate,
    order_tight,
    search,
    settle,
)


class CpuDependencies:
    """A `DependencySolver` for graphs without negative weights, self-loops and parallel arcs."""

    def __init__(
        self, graph: Graph, distance_type: np.dtype[Any], request: Accumulation, *, hops: bool
    ) -> None:
        self._threads = len(os.sched_getaffinity(0))
        self.label = f"cpu: {platform.processor() or platform.machine()}, {self._threads} threads"
        self._request, self._hops, self._count = request, hops, graph.vertex_count
        self._arcs = (
            graph.offsets.view(np.uint64),
            graph.heads.astype(np.uint32, copy=False),
            graph.weights.astype(distance_type, copy=False),
        )
        self._type, self._work = distance_type, list[Workspace]()
        self._free: SimpleQueue[Workspace] = SimpleQueue()

    def add(self, sources: NDArray[np.int64]) -> Iterator[int]:
        def work(_: int, source: int) -> None:
            space = self._free.get()
            try:
                self._add(space, source)
            finally:
                self._free.put(space)

        while len(self._work) < min(self._threads, len(sources)):
            self._work.append(Workspace(self._count, self._type, self._sum_count, self._request))
            self._free.put(self._work[-1])
        row_bytes = max(PATHS_BYTES * self._count, 1)
        for first, some in by_threads(self._threads, row_bytes, sources, work):
            yield first + len(some)

    def sums(self) -> Dependencies:
        total = Dependencies.of(self._sum_count, self._request)
        for space in self._work:
            total.add(space.sums)
        return total

    @property
    def _sum_count(self) -> int:
        return len(self._arcs[1]) if self._request.by_arc else self._count

    def _add(self, space: Workspace, source: int) -> None:
        nothing, first = unreached(self._type), np.uint64(source)
        space.distances.fill(nothing)
        space.paths.fill(0)
        row = space.distances, space.order, space.paths
        if self._hops:
            reached = search(self._arcs, first, nothing, *row)
        else:
            reached = self._settled(space, first, nothing)
        most = accumulate(
            *(self._arcs, first, nothing, space.distances, space.order, np.int64(reached)),
            *(space.paths, space.dependencies, self._request.by_arc, int(self._request.endpoints)),
            *(square_scale(self._count), space.sums.totals, space.sums.squares),
        )
        if most == np.inf:
            raise PathCountError
        space.sums.most_paths = max(space.sums.most_paths, most)

    def _settled(self, space: Workspace, source: Any, nothing: Any) -> int:
        row, heap = (space.distances, space.order, space.paths), (space.places, space.heap)
        reached, met = settle(self._arcs, source, nothing, *row, *heap)
        if met & OVERFLOWED:
            is_reached = space.distances != nothing
            if leads_beyond(*self._arcs[:2], is_reached, is_reached):
                raise NarrowError
        if met & LEVEL:
            words = space.distances, space.order, np.int64(reached), space.paths
            if order_tight(self._arcs, source, nothing, *words, *heap) < reached:
                raise CycleError
        return int(reached)


class Workspace:
    """Room of a thread, and its sums."""

    def __init__(
        self, count: int, distance_type: np.dtype[Any], sum_count: int, request: Accumulation
    ) -> None:
        self.distances = np.empty(count, distance_type)
        self.order, self.heap = np.empty(count, np.uint32), np.empty(count, np.uint32)
        self.places = np.zeros(count, np.uint32)
        self.paths, self.dependencies = np.empty(count), np.empty(count)
        self.sums = Dependencies.of(sum_count, request)
