"""Distances of pairs on a GPU without labels: ``kernels/customization/climbs.cu``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.hierarchy.customizer import Arcs, Customizer
from groute_py.device.cuda.runtime.launch import launch_sharing
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.kernels.source import CUSTOMIZATION
from groute_py.kernels.structs import struct

THREADS, MOST_BLOCKS = 64, 1 << 20
"""Threads of a pair, and the most blocks of a launch."""


class CudaClimbs:
    """Ways up the elimination tree from both ends of pairs, by the current lengths."""

    def __init__(self, arcs: Arcs, depths: Any, customizer: Customizer) -> None:
        self._kernel, self.flags = customizer.kernels["climb_pairs"], cp.zeros(1, np.uint32)
        levels = len(arcs.levels) - 1
        self._nbytes = 2 * levels * (customizer.kind.type.itemsize + 4) + 8  # see climbs.cu
        self._arrays = {
            "numbers": arcs.numbers,
            "offsets": arcs.offsets,
            "heads": arcs.heads,
            "depths": depths,
            "lengths": customizer.lengths,
        }
        counts = {"vertices": arcs.levels[-1], "levels": levels}
        self._struct = pointed(struct(CUSTOMIZATION, "Upward"), self._arrays, counts)

    def pairs(self, sources: Any, targets: Any) -> Any:
        """Return distances (int64) of pairs of vertices that are on the GPU, in 4 or 8 bytes."""
        count = len(sources)
        distances = cp.empty(count, np.int64)
        sizes = np.uint32(sources.itemsize), np.uint32(targets.itemsize)
        words = self._struct, sources, targets, *sizes, np.uint64(count), distances, self.flags
        launch_sharing(self._kernel, self._nbytes, min(count, MOST_BLOCKS), THREADS, words)
        return distances
