"""From one source to some targets on one core, upward from both ends in a contraction hierarchy."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.cpu.hierarchy import Climb, CpuHierarchy
from groute_py.errors import too_late
from groute_py.kernels.cpu import sweep
from groute_py.kernels.cpu.up_search import meet


class UpSearch:
    """Searches in one hierarchy, one after another; they find distances, no paths.

    Args:
        hierarchy: of a graph of which the longest path fits in the distance type.
    """

    def __init__(self, hierarchy: CpuHierarchy) -> None:
        self._hierarchy, self._ahead = hierarchy, Climb(hierarchy)
        count, nothing = hierarchy.vertex_count, hierarchy.nothing
        self._back, self._found = (
            np.full(count, nothing, hierarchy.type),
            np.empty(count, np.uint32),
        )
        self._counts = np.zeros(1, np.int64)

    def run(self, source: int, targets: NDArray[np.int64], deadline: float) -> NDArray[Any]:
        """The distances of the targets, shape (t,), `unreached` where no path leads.

        Args:
            source: a vertex.
            targets: vertices, shape (t,).
            deadline: `time.monotonic` at which to give up.

        Raises:
            TimeLimitError: the deadline has passed.
        """
        one = self._hierarchy
        found = self._ahead.search(source)
        distances = np.empty(len(targets), one.type)
        try:
            for place, target in enumerate(one.places[targets].tolist()):
                if time.monotonic() > deadline:
                    raise too_late()
                distances[place] = self._length(target)
        finally:
            self._ahead.clear(found)
        return distances

    def path(self, target: int) -> NDArray[np.int64]:
        raise NotImplementedError("a hierarchy keeps no middle vertices of its shortcuts")

    def _length(self, target: int) -> Any:
        """Of a shortest path to a place from the source of the search."""
        one, back = self._hierarchy, self._back
        arcs = one.offsets, one.heads, one.down
        count = sweep.climb(*arcs, target, one.nothing, back, self._found, self._counts)
        return meet(self._ahead.distances, back, self._found[:count], one.nothing)
