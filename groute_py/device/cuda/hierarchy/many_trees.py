"""Rows from many sources at once: the kernels of ``kernels/hierarchy/many_trees.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.hierarchy.levels import CudaHierarchy
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Call, resident_blocks
from groute_py.device.cuda.runtime.structs import control_type, pointed
from groute_py.device.summary import partial_type
from groute_py.kernels.source import SWEEP
from groute_py.kernels.structs import arguments, struct

SOURCES = 32
"""Sources of a pack, which lie side by side."""

VECTOR_BYTES = 16
"""Distances of a place that a thread has."""

SEARCH_BLOCK, CROSS_BLOCK, SWEEP_BLOCK, TURN_BLOCK, SUMMARY_BLOCK = 256, 256, 512, 256, 256
"""Threads of a block of each kernel."""

LEAST_PART, PARTS = 1 << 10, 1 << 10
"""Places of a part of a summary at least, and the parts of all packs: several a processor."""

FOUND = 4096
"""Vertices that a search upward is expected to find at most; more take another try."""

TOTAL_WORDS, LOW = 3, np.uint64(0xFFFFFFFF)
"""uint64 numbers of a struct ``Total``: sum, farthest, reached; the lower half of one."""


class ManyTrees:
    """Solves for up to `count` sources at once, in the current stream; ``overflow`` is a flag."""

    def __init__(self, levels: CudaHierarchy, processors: int, count: int) -> None:
        self._levels, self._packs = levels, -(-count // SOURCES)
        self._kernels, self._processors = kernels_of(SWEEP, levels.type, 0), processors
        self._calls: dict[str, Call] = {}
        shape = self._packs, levels.vertex_count, SOURCES
        self._distances, self._reached = (cp.empty(shape, levels.type) for _ in range(2))
        self._marked = cp.empty((self._packs, -(-levels.vertex_count // 32)), np.uint32)
        self._control = cp.zeros(control_type(levels.type).itemsize, np.uint8)
        self.overflow = cp.zeros(1, np.uint32)
        self._room_for(FOUND)
        self._begin()

    @staticmethod
    def bytes_of(levels: CudaHierarchy, packs: int) -> int:
        """Bytes that a solver with so many packs takes."""
        each = 2 * levels.vertex_count * levels.type.itemsize + 4 * (levels.core_count + FOUND)
        return packs * (SOURCES * each + levels.vertex_count // 8)

    def solve(self, sources: Any) -> None:
        """Begin with the distances from some sources (uint32, on the device), at most `count`."""
        self._enter(sources)
        self._sweep("sweep_many", len(sources))

    def partials(self, sources: Any, vertex_at: Any) -> Any:
        """Solve, and return numbers for `as_partials`, on the device; places have vertices."""
        if self._levels.type != np.int32:
            self.solve(sources)
            return self._partials(len(sources), vertex_at)
        self._enter(sources)
        totals = cp.zeros((len(sources), TOTAL_WORDS), np.uint64)
        ends = {"vertex_at": vertex_at.data.ptr, "totals": totals.data.ptr}
        self._sweep("sum_many", len(sources), sources=len(sources), **ends)
        return totals

    def as_partials(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return `partial_type`, shape (sources, parts), of `partials` in host memory."""
        kind = partial_type(self._levels.type)
        if self._levels.type != np.int32:
            return numbers.view(kind)
        totals = np.zeros((len(numbers), 1), kind)
        sums, farthest, reached = numbers.T[..., np.newaxis]
        totals["low"], totals["high"] = sums & LOW, sums >> 32
        totals["greatest"], totals["farthest"] = farthest >> 32, ~farthest & LOW
        totals["reached"] = reached
        return totals

    def leave(self, sources: int, places: Any, rows: Any) -> None:
        """Fill rows (sources, k) of the first sources with distances at k places (uint32)."""
        if not len(places):
            return
        grid = -(-len(places) // 32), -(-sources // SOURCES)
        numbers = np.uint32(len(places)), np.uint32(sources)
        count = np.uint32(self._levels.vertex_count)
        self._kernels["leave_rows"](
            grid, (TURN_BLOCK,), (self._distances, count, places, *numbers, rows)
        )

    def _partials(self, sources: int, vertex_at: Any) -> Any:
        """Return partials (sources, parts) of the first trees as bytes."""
        count, packs = self._levels.vertex_count, -(-sources // SOURCES)
        parts = min(-(-count // LEAST_PART), -(-PARTS // packs))
        part = -(-count // parts)
        partials = cp.empty((sources, parts * partial_type(self._levels.type).itemsize), np.uint8)
        numbers = np.uint32(part), np.uint32(sources)
        words = self._distances, np.uint32(count), vertex_at, *numbers, partials
        self._kernels["summarize_packs"]((parts, packs), (SUMMARY_BLOCK,), words)
        return partials

    def _enter(self, sources: Any) -> None:
        """Search upward from some sources, and through the core."""
        self._search(sources)
        while (most := int(self._lists["below_found"][: len(sources)].max())) > self._room:
            self._room_for(2 * most)
            self._begin()
            self._search(sources)
        struct, count = self._levels.struct, -(-len(sources) // SOURCES) * SOURCES
        grid = -(-self._levels.core_count // CROSS_BLOCK), count
        words = struct, self._searches, np.uint32(len(sources)), self._distances, self.overflow
        if self._levels.core_count:
            self._kernels["cross_many"](grid, (CROSS_BLOCK,), words)

    def _begin(self) -> None:
        """Nothing is reached by any search."""
        vectors = np.uint64(self._reached.nbytes // VECTOR_BYTES)
        blocks = 4 * self._processors
        self._kernels["begin_many"]((blocks,), (SWEEP_BLOCK,), (self._reached, vectors))
        self._marked.fill(0)

    def _search(self, sources: Any) -> None:
        self.overflow.fill(0)
        words = self._levels.struct, sources, self._searches, self.overflow
        self._kernels["search_many"]((len(sources),), (SEARCH_BLOCK,), words)

    def _sweep(self, name: str, count: int, **more: Any) -> None:
        """Sweep, and take back what the searches have left."""
        if name not in self._calls:
            kernel = self._kernels[name].kernel
            blocks = self._processors * resident_blocks(kernel, SWEEP_BLOCK)
            takes = arguments(SWEEP, name, self._levels.type)
            self._calls[name] = Call(kernel, blocks, SWEEP_BLOCK, takes)
        self._calls[name].launch(
            cp.cuda.get_current_stream(),
            h=self._levels.struct,
            distances=self._distances.data.ptr,
            packs=-(-count // SOURCES),
            control=self._control.data.ptr,
            overflow=self.overflow.data.ptr,
            **{"from": self._searches},
            **more,
        )
        words = self._levels.struct, self._searches
        self._kernels["forget_many"]((count,), (SEARCH_BLOCK,), words)

    def _room_for(self, entries: int) -> None:
        """Lists for searches that find so many vertices."""
        self._room, count = entries, self._packs * SOURCES
        self._lists = {
            "below": cp.empty((count, entries), np.uint32),
            "core": cp.empty((count, max(self._levels.core_count, 1)), np.uint32),
            "core_found": cp.zeros(count, np.uint32),
            "below_found": cp.zeros(count, np.uint32),
        }
        arrays = {name: array.ravel() for name, array in self._lists.items()}
        arrays |= {"reached": self._reached, "marked": self._marked}
        self._searches = pointed(struct(SWEEP, "Searches"), arrays, {"room": entries})
