"""Brandes' dependencies on one GPU.

Each source is taken by a block, behind the solve of its row; without weights, where a graph has few
levels, 32 sources by a search from all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.multi_source.graph import CudaGraph
from groute_py.device.cuda.multi_source.levels import LevelGraph, LevelSearch
from groute_py.device.cuda.multi_source.rows import CudaRows, Lane, batch_method
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.transfer import to_host
from groute_py.device.dependencies import (
    EXACT,
    Accumulation,
    CycleError,
    Dependencies,
    PathCountError,
    square_scale,
)
from groute_py.device.rows import NarrowError
from groute_py.kernels.source import DEPENDENCIES
from groute_py.system.clock import span

ALIGNMENT = 16
"""Bytes to which a block's memory is aligned."""


def slot_bytes(vertex_count: int) -> int:
    """Return the bytes of a block's ``Slot``, see kernels/multi_source/dependencies.cu."""
    size = (2 * 8 + 3 * 4) * vertex_count + 4
    return -(-size // ALIGNMENT) * ALIGNMENT


class CudaDependencies:
    """A `DependencySolver` for graphs without negative weights, self-loops and parallel arcs."""

    def __init__(self, graph: CudaGraph, delta: float, asked: Accumulation) -> None:
        count = graph.arc_count if asked.by_arc else graph.vertex_count
        self._graph, self._asked = graph, asked
        self._slot_bytes = slot_bytes(graph.vertex_count)
        self._totals = cp.zeros((count, 2), np.uint64)
        self._squares = cp.zeros((count if asked.squares else 0, 2), np.uint64)
        self._findings = cp.zeros(2, np.uint64)
        self._method = batch_method(graph)
        beside = self._slot_bytes
        self._rows = CudaRows(graph, self._method, delta, predecessors=False, beside=beside)
        kernels = kernels_of(DEPENDENCIES, graph.type, graph.arc_count)
        self._kernel = kernels["add_dependencies"]
        self.label = self._rows.label

    def add(self, sources: NDArray[np.int64]) -> Iterator[int]:
        launch = partial(self._launch, {})  # lanes are of one call
        yield from self._rows.solved(sources, launch, self._drained)

    def sums(self) -> Dependencies:
        most = self._findings.get()[:1].view(np.float64)[0]
        with span("download"):
            return Dependencies(self._totals.get(), self._squares.get(), max(float(most), 1.0))

    def _launch(self, rooms: dict[Lane, Any], lane: Lane) -> None:
        """Add the dependencies of a lane's sources, in its stream; rooms are what lanes work in."""
        graph, blocks = self._graph, min(self._rows.slots, lane.count)
        slots = rooms.get(lane)
        if slots is None or len(slots) < blocks * self._slot_bytes:
            slots = rooms[lane] = cp.empty(blocks * self._slot_bytes, np.uint8)
        lane.counter.fill(0)
        squares = self._squares if self._asked.squares else np.uint64(0)
        rows = lane.sources, np.uint32(lane.count), lane.rows
        asked = np.uint32(self._asked.by_arc), np.uint32(self._asked.endpoints)
        self._kernel(
            (blocks,),
            (self._method.threads,),
            (
                *(graph.offsets, graph.arcs, np.uint32(graph.vertex_count), *rows, slots),
                *(np.uint64(self._slot_bytes), *asked, square_scale(graph.vertex_count)),
                *(self._totals, squares, self._findings, lane.counter, lane.overflowed),
            ),
        )

    def _drained(self, lane: Lane, first: int) -> Iterator[int]:
        """Wait for a lane."""
        if lane.has_overflowed():
            raise NarrowError
        with lane.stream:
            most, cycles = self._findings.get().tolist()
        if cycles:
            raise CycleError
        if np.uint64(most).view(np.float64) == np.inf:
            raise PathCountError
        yield first + lane.count


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
        most = max(self._most(), 1.0)  # which waits
        with span("download"):
            totals, squares = (
                to_host(a.reshape(-1)).reshape(-1, 2) for a in (self._totals, self._squares)
            )
        return Dependencies(totals, squares, most)

    def _most(self) -> float:
        return float(self._most_paths.get().view(np.float64)[0])
