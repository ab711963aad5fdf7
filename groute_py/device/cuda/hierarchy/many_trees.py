"""Rows from many sources at once: the kernels of ``kernels/hierarchy/many_trees.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import driver

from groute_py.device.cuda.hierarchy.levels import CudaHierarchy
from groute_py.device.cuda.hierarchy.structs import HIERARCHY, SEARCHES
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Call
from groute_py.device.cuda.runtime.structs import (
    NUMBER,
    POINTER,
    control_type,
    pointed,
)
from groute_py.device.summary import partial_type
from groute_py.kernels.source import SWEEP

SOURCES = 32
"""Sources of a pack, which lie side by side."""

VECTOR_BYTES = 16
"""Distances of a place that a thread has."""

SEARCH_BLOCK, CROSS_BLOCK, SWEEP_BLOCK, TURN_BLOCK, SUMMARY_BLOCK = 256, 256, 512, 256, 256
"""Threads of a block of each kernel."""

CROSS_BLOCKS = 32
"""For each source."""

LEAST_PART, PARTS = 1 << 10, 1 << 10
"""Places of a part of a summary at least, and the parts of all packs: several a processor."""

FOUND = 4096
"""Vertices that a search upward is expected to find at most; more take another try."""

SWEEPING: dict[str, Any] = {
    "hierarchy": HIERARCHY,
    "distances": POINTER,
    "packs": NUMBER,
    **dict.fromkeys(("control", "overflow"), POINTER),
}
"""Arguments of ``sweep_many``."""


class ManyTrees:
    """Solves for up to `count` sources at once, in the current stream; ``overflow`` is a flag."""

    def __init__(self, levels: CudaHierarchy, processors: int, count: int) -> None:
        self._levels, self._packs = levels, -(-count // SOURCES)
        self._kernels = kernels_of(SWEEP, levels.type, 0)
        kernel = self._kernels["sweep_many"].kernel
        fits = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.ptr, SWEEP_BLOCK, 0)
        self._grid = processors * fits
        self._sweep = Call(kernel, self._grid, SWEEP_BLOCK, SWEEPING)
        shape = self._packs, levels.vertex_count, SOURCES
        self._distances = cp.empty(shape, levels.type)
        self._control = cp.zeros(control_type(levels.type).itemsize, np.uint8)
        self.overflow = cp.zeros(1, np.uint32)
        self._room_for(FOUND)

    @staticmethod
    def bytes_of(levels: CudaHierarchy, packs: int) -> int:
        """Bytes that a solver with so many packs takes."""
        each = levels.vertex_count * levels.type.itemsize + 4 * (levels.core_count + FOUND)
        return packs * SOURCES * each

    def solve(self, sources: Any) -> None:
        """Begin with the distances from some sources (uint32, on the device), at most `count`."""
        self._search(sources)
        while (most := int(self._lists["below_found"][: len(sources)].max())) > self._room:
            self._room_for(2 * most)
            self._search(sources)
        overflow, levels = self.overflow, self._levels
        grid = CROSS_BLOCKS, len(sources)
        words = levels.struct, self._distances, self._searches, overflow
        self._kernels["cross_many"](grid, (CROSS_BLOCK,), words)
        self._sweep.launch(
            cp.cuda.get_current_stream(),
            hierarchy=levels.struct,
            distances=self._distances.data.ptr,
            packs=-(-len(sources) // SOURCES),
            control=self._control.data.ptr,
            overflow=overflow.data.ptr,
        )

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

    def partials(self, sources: int, vertex_at: Any) -> Any:
        """Return partials (sources, parts) of the first trees as bytes; places have vertices."""
        count, packs = self._levels.vertex_count, -(-sources // SOURCES)
        parts = min(-(-count // LEAST_PART), -(-PARTS // packs))
        part = -(-count // parts)
        partials = cp.empty((sources, parts * partial_type(self._levels.type).itemsize), np.uint8)
        numbers = np.uint32(part), np.uint32(sources)
        words = self._distances, np.uint32(count), vertex_at, *numbers, partials
        self._kernels["summarize_packs"]((parts, packs), (SUMMARY_BLOCK,), words)
        return partials

    def _search(self, sources: Any) -> None:
        packs = -(-len(sources) // SOURCES)
        vectors = np.uint64(self._distances[:packs].nbytes // VECTOR_BYTES)
        self._kernels["begin_many"]((self._grid,), (SWEEP_BLOCK,), (self._distances, vectors))
        self.overflow.fill(0)
        words = self._levels.struct, self._distances, sources, self._searches, self.overflow
        self._kernels["search_many"]((len(sources),), (SEARCH_BLOCK,), words)

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
        self._searches = pointed(SEARCHES, arrays, {"room": entries})
