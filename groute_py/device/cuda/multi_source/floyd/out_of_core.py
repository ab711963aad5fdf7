"""All pairs on one GPU by Floyd–Warshall where the matrix is larger than its memory.

The matrix is cut into strips of rows. As many as fit stay on the GPU, the others lie in page-locked
host memory. In each pass the rows of one strip are closed, and all others go through its vertices,
for which they need nothing but that strip (``kernels/multi_source/floyd.cu``). A strip from the
host comes, goes through and leaves on streams of its own, while others are worked on. The next
strip to be closed comes first, and stays for the next pass. So a part is swapped once for a
thousand middle vertices and more, and not for every tile of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime
from numpy.typing import NDArray

from groute_py.device.cuda.multi_source.download import PIECE_BYTES, FindParents, Take
from groute_py.device.cuda.multi_source.floyd.steps import TILE, MatrixRows
from groute_py.device.cuda.multi_source.graph import CudaGraph
from groute_py.device.cuda.runtime.pinned import empty_pinned
from groute_py.errors import InputError
from groute_py.system.memory_limits import room_for

MOST_TILES = 16
"""Row tiles of a strip: then it is worked on for longer than it takes to come and to leave."""

PLACES, PIVOT_PLACES = 3, 2
"""Strips that come and go at once: one comes, one is worked on, one leaves; and the one that is
closed, while the next is there already."""

SHARE = 12
"""Strips that the memory should have room for, if that leaves a tile for each."""


@dataclass(eq=False)
class Strip:
    """Some rows of the matrix, on the GPU or in page-locked memory."""

    first: int  # vertex of the first row
    rows: Any
    on_host: bool
    # event: the host has the rows of the last pass
    left: Any = field(default_factory=lambda: cp.cuda.Event(disable_timing=True))


@dataclass(eq=False)
class Place:
    """Room on the GPU for a strip that comes and goes; events mark the three moments."""

    memory: Any
    # a strip is there
    come: Any = field(default_factory=lambda: cp.cuda.Event(disable_timing=True))
    # the work on it is done
    used: Any = field(default_factory=lambda: cp.cuda.Event(disable_timing=True))
    free: Any = field(default_factory=lambda: cp.cuda.Event(disable_timing=True))  # it has left


class CudaStripFloyd(MatrixRows):
    """All rows, with strips of the matrix that come and go."""

    def __init__(self, graph: CudaGraph, greatest_weight: float, *, predecessors: bool) -> None:
        super().__init__(graph, greatest_weight, predecessors=predecessors)
        if predecessors:
            _ = graph.incoming
        self._coming = cp.cuda.Stream(non_blocking=True)
        self._leaving = cp.cuda.Stream(non_blocking=True)
        height = self._height()
        starts = range(0, self._steps.pitch, height)
        self._allocate(list(starts), height)
        stay = sum(not strip.on_host for strip in self._strips)
        self.label = f"{graph.label}, {stay} of {len(self._strips)} strips of the matrix stay"

    def _closed(self, *, with_trees: bool) -> tuple[Take, FindParents | None]:
        self._graph.gpu.synchronize()
        self._begin()
        for number in range(len(self._strips)):
            self._pass(number)
        self._graph.gpu.synchronize()
        self._refuse_narrow(self._greatest)
        return self._take, self._graph.find_parents if with_trees else None

    def _height(self) -> int:
        """Rows of a strip."""
        free, tile_bytes = self._spare(), TILE * self._steps.row_bytes
        if free < (PLACES + PIVOT_PLACES) * tile_bytes:
            raise InputError(
                f"the matrix of {self._graph.vertex_count:,} vertices needs at least "
                f"{(PLACES + PIVOT_PLACES) * tile_bytes:,} bytes of {self._graph.label}, where "
                f"{max(free, 0):,} are free; use --algorithm batch"
            )
        return TILE * min(max(free // (SHARE * tile_bytes), 1), MOST_TILES)

    def _spare(self) -> int:
        """Bytes of device memory for strips: without what rows need to leave, and panels."""
        rows = 3 * PIECE_BYTES + 8 * self._steps.row_bytes
        panels = 2 * MOST_TILES * TILE * MOST_TILES * TILE * self._graph.type.itemsize
        return self._graph.free_bytes - min(rows + panels, self._graph.free_bytes // 4)

    def _allocate(self, starts: list[int], height: int) -> None:
        pitch, kind = self._steps.pitch, self._graph.type
        stay = self._spare() // (height * self._steps.row_bytes) - PLACES - PIVOT_PLACES
        away = max(len(starts) - max(stay, 0), 0)
        needed = away * height * self._steps.row_bytes
        host = room_for(needed)
        if host is not None and needed > host:
            raise InputError(
                f"the matrix of {self._graph.vertex_count:,} vertices needs {needed:,} bytes of "
                f"host memory beside the GPU's, and {host:,} are free; use --algorithm batch"
            )
        self._strips = []
        for number, first in enumerate(starts):
            # spread evenly, so that between two that come there is work on one that stays
            on_host = number * away // len(starts) != (number + 1) * away // len(starts)
            shape = min(height, pitch - first), pitch
            rows = empty_pinned(shape, kind) if on_host else cp.empty(shape, kind)
            self._strips.append(Strip(first, rows, on_host))
        self._places = [Place(cp.empty((height, pitch), kind)) for _ in range(PLACES)]
        self._pivots = [Place(cp.empty((height, pitch), kind)) for _ in range(PIVOT_PLACES)]
        self._turn = 0

    def _begin(self) -> None:
        for strip in self._strips:
            if strip.on_host:
                place = self._next_place()
                with self._steps.stream:
                    self._steps.stream.wait_event(place.free)
                    self._steps.begin(place.memory[: len(strip.rows)], strip.first)
                    place.used.record()
                self._send(strip, place)
            else:
                with self._steps.stream:
                    self._steps.begin(strip.rows, strip.first)
        if self._strips[0].on_host:
            self._bring(self._strips[0], self._pivots[0])

    def _pass(self, number: int) -> None:
        """Close the rows of a strip, and let all others go through its vertices."""
        pivot, place = self._strips[number], self._pivots[number % PIVOT_PLACES]
        onward = place.memory[: len(pivot.rows)] if pivot.on_host else pivot.rows
        with self._steps.stream as stream:
            if pivot.on_host:
                stream.wait_event(place.come)
            self._steps.close(onward, pivot.first)
            if pivot.on_host:
                place.used.record()
        if pivot.on_host:
            self._send(pivot, place)
        following = self._strips[number + 1 : number + 2]
        for strip in following:
            self._through(strip, onward, pivot.first, self._pivots[(number + 1) % PIVOT_PLACES])
        for strip in self._strips[:number] + self._strips[number + 2 :]:
            self._through(strip, onward, pivot.first, None)
        with self._steps.stream:
            place.used.record()  # the closed rows were needed until here
        self._leaving.wait_event(place.used)
        place.free.record(self._leaving)

    def _through(self, strip: Strip, onward: Any, first: int, stay: Place | None) -> None:
        """Let a strip go through; one from the host comes, and leaves unless it may stay."""
        if not strip.on_host:
            with self._steps.stream:
                self._steps.through(strip.rows, onward, first)
            return
        place = stay or self._next_place()
        self._bring(strip, place)
        with self._steps.stream as stream:
            stream.wait_event(place.come)
            self._steps.through(place.memory[: len(strip.rows)], onward, first)
            if stay is None:
                place.used.record()
        if stay is None:
            self._send(strip, place)

    def _next_place(self) -> Place:
        self._turn = (self._turn + 1) % PLACES
        return self._places[self._turn]

    def _bring(self, strip: Strip, place: Place) -> None:
        stream = self._coming
        stream.wait_event(place.free)
        stream.wait_event(strip.left)
        _copy(place.memory.data.ptr, strip.rows.ctypes.data, strip.rows.nbytes, stream)
        place.come.record(stream)

    def _send(self, strip: Strip, place: Place) -> None:
        stream = self._leaving
        stream.wait_event(place.used)
        _copy(strip.rows.ctypes.data, place.memory.data.ptr, strip.rows.nbytes, stream)
        strip.left.record(stream)
        place.free.record(stream)

    def _take(self, wanted: NDArray[np.int64], _: Any, rows: Any) -> None:
        """Fill rows; see `downloaded`."""
        staged = cp.empty((len(rows), self._steps.pitch), self._graph.type)
        for row, source in enumerate(wanted.tolist()):
            self._fetch_row(source, staged[row])
        self._steps.leave(staged, cp.arange(len(rows), dtype=np.uint32), rows)

    def _fetch_row(self, source: int, row: Any) -> None:
        height = len(self._strips[0].rows)
        strip = self._strips[source // height]
        rows = strip.rows
        base = rows.ctypes.data if strip.on_host else rows.data.ptr
        start = base + (source - strip.first) * row.nbytes
        _copy(row.data.ptr, start, row.nbytes, self._steps.stream)

    def _greatest(self) -> float:
        greatest = 0.0
        for strip in self._strips:
            rows = strip.rows
            if strip.on_host:
                place = self._places[0]
                self._bring(strip, place)
                self._coming.synchronize()
                rows = place.memory[: len(strip.rows)]
            with self._steps.stream:
                greatest = max(greatest, self._steps.greatest(rows))
        return greatest


def _copy(target: int, source: int, size: int, stream: Any) -> None:
    runtime.memcpyAsync(target, source, size, runtime.memcpyDefault, stream.ptr)
