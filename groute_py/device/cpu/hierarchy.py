"""A contraction hierarchy as the kernels take it, and a tree from it on the cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached, widened
from groute_py.device.cpu.buffers import read_only
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.graph.tails import offsets_of
from groute_py.kernels.cpu import near_far, serial, sweep

WHOLE = np.uint64(2**64 - 1)
"""More arcs than there are: the core is solved in one go."""


class CpuHierarchy:
    """The arrays of a hierarchy, in the distance type (int32 or int64), by `places`.

    Within each level the vertices stand in the order of the numbers of their arcs; ``runs`` is for
    `groute_py.kernels.cpu.sweep.sweep`.
    """

    def __init__(self, hierarchy: Hierarchy, distance_type: np.dtype[Any]) -> None:
        hierarchy = hierarchy.to_host()
        self.vertex_count, self.core_count = hierarchy.vertex_count, hierarchy.core_count
        self.type, self.nothing = distance_type, unreached(distance_type)
        degrees = np.diff(hierarchy.offsets)
        kinds = _kinds(hierarchy, degrees)
        order = np.argsort(kinds, kind="stable")
        moved = np.empty(self.vertex_count, np.uint32)
        moved[order] = np.arange(self.vertex_count, dtype=np.uint32)
        self.places = np.empty(self.vertex_count, np.uint32)
        self.places[hierarchy.vertices] = moved
        degrees = degrees[order]
        offsets = offsets_of(degrees)
        arcs = np.arange(offsets[-1])
        arcs += np.repeat(hierarchy.offsets[:-1][order] - offsets[:-1], degrees)
        down = widened(hierarchy.down, distance_type)[arcs]
        up = down if hierarchy.is_symmetric else widened(hierarchy.up, distance_type)[arcs]
        core_weights = widened(hierarchy.core_weights, distance_type)
        self.heaviest = max(greatest(w, self.nothing) for w in (down, up, core_weights))
        self.offsets, self.heads = offsets.view(np.uint64), moved[hierarchy.heads[arcs]]
        self.down, self.up = down, up
        self.runs = _runs(kinds[order], degrees, offsets)
        self.core = (
            read_only(hierarchy.core_offsets.view(np.uint64)),
            read_only(hierarchy.core_heads.view(np.uint32)),
            read_only(core_weights),
        )

    @property
    def down_arcs(self) -> tuple[NDArray[Any], ...]:
        """Runs, heads and weights for sweeps."""
        return self.runs, self.heads, unsigned(self.down)


def _kinds(hierarchy: Hierarchy, degrees: NDArray[np.int64]) -> NDArray[Any]:
    """A number for each place that is the same where level and arcs are."""
    sizes = np.diff(hierarchy.levels)
    most = int(degrees.max(initial=0)) + 1
    fits = len(sizes) * most <= np.iinfo(np.uint16).max  # sorted faster
    levels = np.repeat(np.arange(len(sizes)) * most, sizes)
    return (levels + degrees).astype(np.uint16 if fits else np.int64)


def _runs(
    kinds: NDArray[Any], degrees: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.uint64]:
    begins = np.flatnonzero(np.diff(kinds.astype(np.int64), prepend=-1))
    ends = np.append(begins, len(kinds))[1:]
    runs = np.stack([begins, ends, degrees[begins], offsets[begins]], axis=1)
    return runs[degrees[begins] > 0].astype(np.uint64)


def unsigned(array: NDArray[Any]) -> NDArray[Any]:
    """Integers as unsigned ones: two of them always have a sum."""
    return array.view(f"u{array.itemsize}")


def greatest(weights: NDArray[Any], nothing: Any) -> int:
    """Return the greatest number that is not ``nothing``; at least 0."""
    return int(weights.max(initial=0, where=weights != nothing))


class Climb:
    """Room for searches upward and through the core; between them all distances are unreached."""

    def __init__(self, hierarchy: CpuHierarchy) -> None:
        self._hierarchy = hierarchy
        self.distances = np.full(hierarchy.vertex_count, hierarchy.nothing, hierarchy.type)
        self._found = np.empty(hierarchy.vertex_count, np.uint32)
        core = max(hierarchy.core_count, 1)
        self._places, self._heap = np.zeros(core, np.uint32), np.empty(core, np.uint32)
        self.relaxations, self.overflowed = 0, False

    def search(self, sources: int | NDArray[np.int64]) -> NDArray[np.uint32]:
        """Find distances upward from the nearest source, and in the core; return places on the way.

        There is one vertex or several.
        """
        one = self._hierarchy
        at = np.zeros(near_far.CURSORS, np.int64)
        arcs = (one.offsets, one.heads, one.up)
        climbed = np.zeros(1, np.int64)
        starts = np.atleast_1d(one.places[sources])
        count = sweep.climb(arcs, starts, one.nothing, self.distances, self._found, climbed)
        places = self._found[:count]
        core = self.distances[: one.core_count]
        at[near_far.NEAR_COUNT] = sweep.open_core(
            places, one.core_count, core, self._places, self._heap
        )
        bounds = (np.inf, one.nothing, one.nothing, WHOLE)
        serial.heap_dijkstra(one.core, core, self._places, self._heap, at, bounds)
        self.relaxations = int(climbed[0] + at[near_far.RELAXATIONS])
        self.overflowed = bool(at[near_far.OVERFLOWED])
        return places

    def clear(self, places: NDArray[np.uint32]) -> None:
        """Make what a search has found, and the core, unreached."""
        self.distances[places] = self._hierarchy.nothing
        self.distances[: self._hierarchy.core_count] = self._hierarchy.nothing
