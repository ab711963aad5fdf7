"""The methods of a core: near–far relaxation, and serial ones, which begin with the source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from groute_py.device.base import Buckets, Counters, Terms
from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.near_far import NearFar
from groute_py.device.cpu.predecessors import Predecessors
from groute_py.kernels.cpu import near_far
from groute_py.partition.share import Share


class CpuMethod:
    """Near–far relaxation of one share; other methods override parts of it."""

    def __init__(self, share: Share, terms: Terms) -> None:
        self.counters = Counters()
        self.buffers = SolveBuffers(share, terms)
        self.near_far = NearFar(self.buffers)
        self.predecessors = Predecessors(self.buffers)

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        self.counters = Counters()
        self.buffers.begin(-1 if source is None else source, cutoff, record=record)
        self.near_far.start(source, buckets)

    def relax(self, limit: float) -> float:
        return self.near_far.relax(self.counters, limit)

    def start_claims(self, *, monotone: bool) -> bool:
        return self.predecessors.start(monotone=monotone)


class SerialMethod(CpuMethod, ABC):
    """One core that has the whole graph; a method says in `step` how it relaxes."""

    @abstractmethod
    def step(self, b: SolveBuffers, limit: float) -> Any:
        """Relax a slice within ``limit``; return the least distance left, or unreached."""

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        super().start(None, buckets, cutoff, record=False)
        if source is not None:
            b = self.buffers
            b.source = b.near[0] = source
            b.distances[source], b.flags[source], b.at[near_far.NEAR_COUNT] = 0, 1, 1
        self.begin(self.buffers)

    def begin(self, b: SolveBuffers) -> None:
        """Start what the method has beside near."""

    def relax(self, limit: float) -> float:
        buffers, before = self.buffers, self.buffers.relaxations
        floor = self.step(buffers, limit)
        buffers.count(self.counters, relaxed_before=before)
        return np.inf if floor == buffers.unreached else float(floor)


def least_left(buffers: SolveBuffers) -> Any:
    """Return the answer of `SerialMethod.step` where the least distance left is unknown."""
    some = buffers.at[near_far.NEAR_COUNT] > 0
    return buffers.own_distances.min() if some else buffers.unreached
