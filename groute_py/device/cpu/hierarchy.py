"""A contraction hierarchy as the kernels take it, and a tree from it on the cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.device import read_only
from groute_py.hierarchy.hierarchy import Hierarchy
from groute_py.kernels.cpu import heap, near_far, sweep

BY_VERTEX = np.uint64(2**64 - 1)
"""More arcs than there are: the core is solved in one go."""


class CpuHierarchy:
    """The arrays of a hierarchy, in the distance type.

    Args:
        hierarchy: its weights are of the distance type or narrower.
        distance_type: int32 or int64.

    Attributes:
        heaviest: the greatest weight.
    """

    def __init__(self, hierarchy: Hierarchy, distance_type: np.dtype[Any]) -> None:
        self.hierarchy = hierarchy
        self.vertex_count, self.core_count = hierarchy.vertex_count, hierarchy.core_count
        self.type, self.nothing = distance_type, unreached(distance_type)
        down = self._widened(hierarchy.down)
        up = down if hierarchy.is_symmetric else self._widened(hierarchy.up)
        core_weights = self._widened(hierarchy.core_weights)
        self.heaviest = max(_greatest(w, self.nothing) for w in (down, up, core_weights))
        self.offsets = read_only(hierarchy.offsets)
        self.heads = read_only(hierarchy.heads.view(np.uint32))
        self.down, self.up = read_only(down), read_only(up)
        self.vertices = read_only(hierarchy.vertices.view(np.uint32))
        self.places = np.empty(self.vertex_count, np.uint32)
        self.places[hierarchy.vertices] = np.arange(self.vertex_count, dtype=np.uint32)
        self.core = (
            read_only(hierarchy.core_offsets.view(np.uint64)),
            read_only(hierarchy.core_heads.view(np.uint32)),
            read_only(core_weights),
        )

    def _widened(self, weights: NDArray[Any]) -> NDArray[Any]:
        if weights.dtype == self.type:
            return weights
        wide = weights.astype(self.type)
        wide[weights == unreached(weights.dtype)] = self.nothing
        return wide


def _greatest(weights: NDArray[Any], nothing: Any) -> int:
    return int(weights.max(initial=0, where=weights != nothing))


class Climb:
    """Room for searches upward and through the core, one after the other.

    Args:
        hierarchy: to search in.

    Attributes:
        distances: shape (n,), by places: unreached where the last search has found nothing.
        relaxations: arcs that the last search has relaxed.
        overflowed: whether a sum in the core did not fit.
    """

    def __init__(self, hierarchy: CpuHierarchy) -> None:
        self._hierarchy = hierarchy
        self.distances = np.full(hierarchy.vertex_count, hierarchy.nothing, hierarchy.type)
        self._found = np.empty(hierarchy.vertex_count, np.uint32)
        core = max(hierarchy.core_count, 1)
        self._places, self._heap = np.zeros(core, np.uint32), np.empty(core, np.uint32)
        self.relaxations, self.overflowed = 0, False

    def search(self, source: int) -> NDArray[np.uint32]:
        """Find distances upward from a vertex, and in the core; ``distances`` are all unreached.

        Returns:
            The places that were found on the way up; more of the core may be reached.
        """
        one = self._hierarchy
        at = np.zeros(near_far.CURSORS, np.int64)
        arcs = (one.offsets, one.heads, one.up)
        start = int(one.places[source])
        climbed = np.zeros(1, np.int64)
        count = sweep.climb(*arcs, start, one.nothing, self.distances, self._found, climbed)
        found = self._found[:count]
        core = self.distances[: one.core_count]
        at[near_far.NEAR_COUNT] = sweep.open_core(
            found, one.core_count, core, self._places, self._heap
        )
        bounds = (np.inf, one.nothing, one.nothing, BY_VERTEX)
        heap.relax(*one.core, core, self._places, self._heap, at, *bounds)
        self.relaxations = int(climbed[0] + at[near_far.RELAXATIONS])
        self.overflowed = bool(at[near_far.OVERFLOWED])
        return found
