"""Contraction on the CPU: `groute_py.kernels.cpu.contraction` and `groute_py.kernels.cpu.sweep`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from groute_py.device.base import Terms
from groute_py.device.cpu.contraction import contract, rehearse
from groute_py.device.cpu.hierarchy import Climb, CpuHierarchy, unsigned
from groute_py.device.cpu.methods.base import AloneCpu
from groute_py.errors import InputError
from groute_py.hierarchy.hierarchy import Hierarchy
from groute_py.hierarchy.problems import DenseError, NarrowError
from groute_py.kernels.cpu import near_far, sweep
from groute_py.partition.share import Share


class ContractionCpu(AloneCpu):
    """A core that sweeps over a hierarchy, which all cores have made."""

    _rehearsed_types: ClassVar[set[np.dtype[Any]]] = set()

    def rehearse(self, terms: Terms) -> None:
        super().rehearse(terms)
        if terms.distance_type not in self._rehearsed_types:
            self._rehearsed_types.add(terms.distance_type)
            rehearse(terms.distance_type)

    def load(self, share: Share, terms: Terms) -> None:
        super().load(share, terms)
        hierarchy = share.hierarchy or self._contracted(share)
        self._hierarchy = None
        if hierarchy is not None and hierarchy.type.itemsize <= self._type.itemsize:
            self._hierarchy = CpuHierarchy(hierarchy, self._type)
            self._climb = Climb(self._hierarchy)

    def step(self, limit: float) -> Any:
        if self._at[near_far.NEAR_COUNT] == 0:
            return self._nothing
        self._at[near_far.NEAR_COUNT] = 0
        self._at[near_far.WINDOWS] = 1
        if self._hierarchy is None:
            self._at[near_far.OVERFLOWED] = 1
        else:
            self._solve(self._hierarchy)
        return self._nothing

    def _solve(self, one: CpuHierarchy) -> None:
        climb = self._climb
        climb.distances.fill(self._nothing)
        climb.search(self._source)
        distances = climb.distances
        sweep.sweep(*one.down_arcs, unsigned(distances))
        bounds = (self._nothing, self._cutoff)
        greatest = sweep.answer(one.places, distances, *bounds, self._distances)
        lost = climb.overflowed or int(greatest) + one.heaviest >= int(self._nothing)
        self._at[near_far.OVERFLOWED] |= lost and self._cutoff == self._nothing
        self._at[near_far.RELAXATIONS] = climb.relaxations + len(one.heads)

    def _contracted(self, share: Share) -> Hierarchy | None:
        """The hierarchy of a graph; None if a shortcut does not fit in 32 bits.

        If one does not fit in 64 bits, all vertices are the core.
        """
        arcs = (share.offsets, share.heads, share.weights, self._type)
        try:
            return contract(*arcs)
        except DenseError as problem:
            raise InputError(f"{problem}; use another --algorithm") from problem
        except NarrowError:
            return None if self._type.itemsize < 8 else contract(*arcs, core=share.own_count)
