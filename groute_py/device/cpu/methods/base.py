"""The base of the CPU's serial methods: they begin with the source in near."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from groute_py.device.base import Buckets, Terms, alike
from groute_py.device.cpu.device import CpuDevice
from groute_py.kernels.cpu import near_far
from groute_py.partition.share import Share


class AloneCpu(CpuDevice, ABC):
    """One core that has the whole graph; a method says in `step` how it relaxes."""

    _compiled: ClassVar[set[tuple[type, np.dtype[Any]]]] = set()

    @abstractmethod
    def step(self, limit: float) -> Any:
        """Relax for one slice what is not farther than ``limit``.

        Returns:
            The least distance left, or the unreached value.
        """

    def copy(self) -> AloneCpu:
        """Another one of the same kind, without a graph."""
        return type(self)()

    def warm_up(self, terms: Terms) -> None:
        super().warm_up(terms)
        distance_type = terms.distance_type
        if (type(self), distance_type) in self._compiled:
            return
        self._compiled.add((type(self), distance_type))
        small = self.copy()
        small.load(_two_arcs(distance_type), terms._replace(ranks=1))
        small.start(0, alike(np.inf), np.inf, record=False)
        small.relax(np.inf)

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        super().start(None, buckets, cutoff, record=False)
        if source is None:
            return
        self._source = source
        self._distances[source] = 0
        self._flags[source] = 1
        self._near[0] = source
        self._at[near_far.NEAR_COUNT] = 1

    def relax(self, limit: float) -> float:
        before = self._at[near_far.RELAXATIONS]
        floor = self.step(limit)
        self._count(worked=bool(self._at[near_far.RELAXATIONS] > before))
        return np.inf if floor == self._nothing else float(floor)

    def left(self) -> Any:
        """What `step` returns where nothing is known of the least distance left."""
        some = self._at[near_far.NEAR_COUNT] > 0
        return self._distances[: self._share.own_count].min() if some else self._nothing


def _two_arcs(distance_type: np.dtype[Any]) -> Share:
    """A share with two vertices and a row of arcs that some sort, for it does not ascend."""
    offsets = np.array([0, 2, 2])
    offsets.flags.writeable = False  # as a graph's
    return Share(
        first=0,
        own_count=2,
        offsets=offsets,
        heads=np.array([1, 1], np.int32),
        weights=np.array([2, 1], distance_type),
        halo=np.zeros(0, np.int64),
        halo_starts=np.zeros(2, np.int64),
        halo_home=np.zeros(0, np.int32),
    )
