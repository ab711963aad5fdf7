"""Rows of distances out of a customized hierarchy: the kernels of ``customization/rows.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.hierarchy.customizer import Arcs, Customizer
from groute_py.device.cuda.hierarchy.repeated import Repeated

SOURCES, TURN_BLOCK, SWEEP_BLOCK = 32, 256, 128
"""Sources of a pack; threads of blocks."""

MOST_PACKS = 8
"""Packs of a batch: then levels of roads fill a GPU."""


class CudaRows:
    """Sweeps of the packs of a batch, in the current stream; kernels report by ``flags``."""

    def __init__(self, arcs: Arcs, customizer: Customizer, packs: int) -> None:
        self._arcs, self._customizer, self._packs = arcs, customizer, packs
        self._vertices = np.uint32(arcs.levels[-1])
        shape = packs, arcs.levels[-1], SOURCES
        self._distances = cp.empty(shape, customizer.kind.type)
        self.flags = cp.zeros(1, np.uint32)
        self._sweep = Repeated(self._sweep_levels)

    def solve(self, sources: Any, rows: Any) -> None:
        """Fill rows (int64, (k, n)) with distances from no more sources than the packs hold."""
        arcs, kernels, count = self._arcs, self._customizer.kernels, np.uint32(len(sources))
        places, size = np.uint64(self._distances.size), np.uint32(sources.itemsize)
        kernels.run("begin_lengths", self._distances.size // 4, self._distances, places, self.flags)
        above = arcs.offsets, arcs.heads, self._customizer.lengths
        words = *above, sources, size, count, self._distances, self.flags
        packs = -(-len(sources) // SOURCES)
        kernels["climb_rows"]((packs,), (32 * SOURCES,), (self._vertices, arcs.numbers, *words))
        self._sweep()
        tiles = -(-int(self._vertices) // 32)
        answer = self._vertices, arcs.numbers, self._distances, count, rows
        kernels["leave_rows"]((tiles, packs), (TURN_BLOCK,), answer)

    def _sweep_levels(self) -> None:
        arcs, kernel = self._arcs, self._customizer.kernels["sweep_rows"]
        for begin, end in zip(arcs.levels[:-1], arcs.levels[1:], strict=True):
            blocks = -(-32 * (end - begin) // SWEEP_BLOCK)
            numbers = np.uint32(begin), np.uint32(end), self._vertices
            above = arcs.offsets, arcs.heads, self._customizer.lengths
            words = *numbers, *above, self._distances, self.flags
            kernel((blocks, self._packs), (SWEEP_BLOCK,), words)
