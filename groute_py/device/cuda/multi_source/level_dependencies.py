"""Brandes' dependencies on one GPU without weights, where a graph has few levels."""

from __future__ import annotations

from collections.abc import Iterator

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.multi_source.levels import LevelGraph, LevelSearch
from groute_py.device.cuda.runtime.transfer import to_host
from groute_py.device.dependencies import EXACT, Accumulation, Dependencies, square_scale
from groute_py.device.rows import NarrowError


class CudaLevelDependencies:
    """A `DependencySolver` for graphs without self-loops and parallel arcs; without endpoints.

    `add` raises `NarrowError` if there are too many levels, or too many paths to count exactly.
    """

    def __init__(
        self, graph: LevelGraph, request: Accumulation, sources: int, limit: int | None
    ) -> None:
        count = graph.size.arcs if request.by_arc else graph.vertex_count
        self._graph = graph
        self._totals = cp.zeros((count, 2), np.uint64)
        self._squares = cp.zeros((count if request.squares else 0, 2), np.uint64)
        self._most_paths = cp.zeros(1, np.uint64)
        places, squares = graph.names, self._squares if request.squares else np.uint64(0)
        self._kernel, self._last = "share_to_vertices", 1
        if request.by_arc:
            places, self._kernel, self._last = graph.first_arcs, "share_to_arcs", 0
        scale = square_scale(graph.vertex_count)
        self._sums = places, self._totals, squares, np.float64(scale)
        self._search = LevelSearch(graph, sources, limit, with_paths=True)
        self.label = self._search.label

    def add(self, sources: NDArray[np.int64]) -> Iterator[int]:
        search, own = self._search, sources[self._graph.order(sources)]
        idle = len(sources) - len(own)
        for first in range(0, len(own), search.width):
            some = own[first : first + search.width]
            depth = search.find_levels(self._graph.numbers(some), self._most_paths)
            if self._most() >= EXACT:
                raise NarrowError
            for level in range(depth - 1, self._last - 1, -1):
                search.launch(self._kernel, level, *self._sums)
            yield idle + first + len(some)

    def sums(self) -> Dependencies:
        totals, squares = (
            to_host(a.reshape(-1)).reshape(-1, 2) for a in (self._totals, self._squares)
        )
        return Dependencies(totals, squares, max(self._most(), 1.0))

    def _most(self) -> float:
        return float(self._most_paths.get().view(np.float64)[0])
