"""Contraction on the CPU: `groute_py.kernels.cpu.contraction` and `groute_py.kernels.cpu.sweep`."""

from __future__ import annotations

from typing import Any

from groute_py.device.base import Terms
from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.contraction import contract, warm_up
from groute_py.device.cpu.descent import Descent
from groute_py.device.cpu.hierarchy import Climb, CpuHierarchy, unsigned
from groute_py.device.cpu.methods.base import SerialMethod
from groute_py.device.cpu.warm_up import WARMED_UP
from groute_py.errors import InputError
from groute_py.hierarchy.hierarchy import Hierarchy
from groute_py.hierarchy.problems import DenseError, NarrowError
from groute_py.kernels.cpu import near_far, sweep
from groute_py.partition.share import Share


class Contraction(SerialMethod):
    """A sweep by one core over a hierarchy, or within a small cutoff a descent."""

    def __init__(self, share: Share, terms: Terms) -> None:
        super().__init__(share, terms)
        buffers = self.buffers
        if ("contract", buffers.type) not in WARMED_UP:
            WARMED_UP.add(("contract", buffers.type))
            warm_up(buffers.type)
        hierarchy = share.hierarchy or _contracted(buffers)
        self._hierarchy = None
        if hierarchy is not None and hierarchy.type.itemsize <= buffers.type.itemsize:
            self._hierarchy = CpuHierarchy(hierarchy, buffers.type)
            self._climb = Climb(self._hierarchy)
            self._descent = Descent(self._hierarchy, self._climb)
            self._is_clear = True

    def step(self, b: SolveBuffers, limit: float) -> Any:
        if b.at[near_far.NEAR_COUNT] == 0:
            return b.unreached
        b.at[near_far.NEAR_COUNT] = 0
        b.at[near_far.BUCKETS] = 1
        if self._hierarchy is None:
            b.at[near_far.OVERFLOWED] = 1
            b.distances[b.source] = b.unreached  # nothing is solved, nor final
        else:
            self._solve(b, self._hierarchy)
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


def _contracted(buffers: SolveBuffers) -> Hierarchy | None:
    """The hierarchy of a share; None if it needs 64 bits; only a core if it needs more."""
    share = buffers.share
    arcs = (share.offsets, share.heads, share.weights, buffers.type)
    try:
        return contract(*arcs)
    except DenseError as problem:
        raise InputError(f"{problem}; use another --algorithm") from problem
    except NarrowError:
        return None if buffers.type.itemsize < 8 else contract(*arcs, core=share.own_count)
