"""Trees within a cutoff out of a hierarchy by arcs downward: `groute_py.kernels.cpu.descend`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.cpu.hierarchy import Climb, CpuHierarchy
from groute_py.kernels.cpu import descend

PATIENCE = 16
"""Trees that sweeps find before the arcs are sorted, which takes as long as some of them."""

MOST_ARCS = 0.1
"""Share of the arcs that is looked at before a sweep takes over: it takes a fifth of the time for
each, but looks at all of them."""


class Descent:
    """Room for trees within cutoffs, one after the other."""

    def __init__(self, hierarchy: CpuHierarchy, climb: Climb) -> None:
        self._hierarchy, self._climb = hierarchy, climb
        self._asked, self._too_far = 0, hierarchy.nothing

    def solve(self, climbed: NDArray[np.uint32], cutoff: Any, answers: NDArray[Any]) -> int | None:
        """Fill ``answers``, by vertex, within a cutoff; count arcs, or None if a sweep is due."""
        self._asked += 1
        if self._asked <= PATIENCE or cutoff >= self._too_far:
            return None
        one, distances = self._hierarchy, self._climb.distances
        (below, vertices, words, space), relaxations = self._room, np.zeros(1, np.int64)
        core = np.arange(one.core_count, dtype=np.uint32)
        for places in (climbed, core):
            descend.open_places(places, distances, cutoff, words)
        most = np.uint64(MOST_ARCS * len(one.heads))
        count = descend.descend(below, cutoff, distances, words, space, most, relaxations)
        if count < 0:
            self._too_far = cutoff
            return None
        descend.answer_found(space[:count], vertices, distances, one.nothing, answers)
        self._climb.clear(climbed)
        return int(relaxations[0])

    @cached_property
    def _room(self) -> tuple[tuple[NDArray[Any], ...], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The arcs by their heads, the vertex at each place, and bits and space for places."""
        one, count = self._hierarchy, self._hierarchy.vertex_count
        starts = np.zeros(count + 1, np.uint64)
        below = starts, np.empty(len(one.heads), np.uint32), np.empty_like(one.down)
        descend.arcs_below((one.offsets, one.heads, one.down), below)
        vertices, space = np.empty((2, count), np.uint32)
        vertices[one.places] = np.arange(count, dtype=np.uint32)
        return below, vertices, np.zeros(-(-count // descend.BITS), np.uint64), space
