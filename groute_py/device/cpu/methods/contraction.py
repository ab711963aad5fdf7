"""Trees out of a contraction hierarchy on the CPU: `sweep` or `descend` of its kernels."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import Terms
from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.hierarchy import Climb, CpuHierarchy, unsigned
from groute_py.device.cpu.methods.base import SerialMethod
from groute_py.graph.tails import transposed
from groute_py.kernels.cpu import near_far, sweep
from groute_py.partition.share import Share

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
            sweep.open_places(places, distances, cutoff, words)
        most = np.uint64(MOST_ARCS * len(one.heads))
        count = sweep.descend(below, cutoff, distances, words, space, most, relaxations)
        if count < 0:
            self._too_far = cutoff
            return None
        sweep.answer_found(space[:count], vertices, distances, one.nothing, answers)
        self._climb.clear(climbed)
        return int(relaxations[0])

    @cached_property
    def _room(self) -> tuple[tuple[NDArray[Any], ...], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The arcs by their heads, the vertex at each place, and bits and space for places."""
        one, count = self._hierarchy, self._hierarchy.vertex_count
        arcs = one.offsets.view(np.int64), one.heads.view(np.int32), one.down
        starts, tails, weights = transposed(*arcs)
        below = starts.view(np.uint64), tails.view(np.uint32), weights
        vertices, space = np.empty((2, count), np.uint32)
        vertices[one.places] = np.arange(count, dtype=np.uint32)
        return below, vertices, np.zeros(-(-count // sweep.BITS), np.uint64), space


class Contraction(SerialMethod):
    """A sweep by one core over a hierarchy, or within a small cutoff a descent.

    Attributes:
        levels: the hierarchy; None if its weights do not fit in the distance type.
    """

    def __init__(self, share: Share, terms: Terms) -> None:
        super().__init__(share, terms)
        hierarchy, kind = share.hierarchy, self.buffers.type
        assert hierarchy is not None
        self.levels: CpuHierarchy | None = None
        if hierarchy.type.itemsize <= kind.itemsize:
            self.levels = CpuHierarchy(hierarchy, kind)
            self._climb = Climb(self.levels)
            self._descent = Descent(self.levels, self._climb)
            self._is_clear = True

    def step(self, b: SolveBuffers, limit: float) -> Any:
        if b.at[near_far.NEAR_COUNT] == 0:
            return b.unreached
        b.at[near_far.NEAR_COUNT] = 0
        b.at[near_far.BUCKETS] = 1
        if self.levels is None:
            b.at[near_far.OVERFLOWED] = 1
            b.distances[b.source] = b.unreached  # nothing is solved, nor final
        else:
            self._solve(b, self.levels)
        return b.unreached

    def _solve(self, buffers: SolveBuffers, one: CpuHierarchy) -> None:
        climb, nothing, cutoff = self._climb, buffers.unreached, buffers.cutoff
        if not self._is_clear:
            climb.distances.fill(nothing)
        self._is_clear = False  # also where a signal ends the solve
        places = climb.search(buffers.source)
        if cutoff < nothing:
            relaxations = self._descent.solve(places, cutoff, buffers.distances)
            if relaxations is not None:
                self._is_clear = True
                buffers.at[near_far.RELAXATIONS] = climb.relaxations + relaxations
                return
        sweep.sweep(*one.down_arcs, unsigned(climb.distances))
        answer = climb.distances, nothing, cutoff, buffers.distances
        greatest = sweep.answer(one.places, *answer)
        lost = climb.overflowed or int(greatest) + one.heaviest >= int(nothing)
        buffers.at[near_far.OVERFLOWED] |= lost and cutoff == nothing
        buffers.at[near_far.RELAXATIONS] = climb.relaxations + len(one.heads)
