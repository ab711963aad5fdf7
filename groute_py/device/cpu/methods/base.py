"""The methods of a core: near–far relaxation, and serial ones, which begin with the source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from groute_py.device.base import Buckets
from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.parts import SolveParts
from groute_py.kernels.cpu import near_far


class CpuMethod:
    """Near–far relaxation of one share; other methods override parts of it."""

    def arrange(self, parts: SolveParts) -> None:
        """Make what the method has beside the share."""

    def start(
        self,
        parts: SolveParts,
        source: int | None,
        buckets: Buckets,
        cutoff: float,
        *,
        record: bool,
    ) -> None:
        parts.begin(source, cutoff, record=record)
        parts.near_far.start(source, buckets)

    def relax(self, parts: SolveParts, limit: float) -> float:
        return parts.near_far.relax(parts.counters, limit)

    def start_claims(self, parts: SolveParts, *, monotone: bool) -> bool:
        return parts.predecessors.start(monotone=monotone)


class SerialMethod(CpuMethod, ABC):
    """One core that has the whole graph; a method says in `step` how it relaxes."""

    @abstractmethod
    def step(self, buffers: SolveBuffers, limit: float) -> Any:
        """Relax a slice within ``limit``; return the least distance left, or unreached."""

    def start(
        self,
        parts: SolveParts,
        source: int | None,
        buckets: Buckets,
        cutoff: float,
        *,
        record: bool,
    ) -> None:
        parts.begin(source, cutoff, record=False)
        parts.near_far.start(None, buckets)
        if source is not None:
            buffers = parts.buffers
            buffers.distances[source] = 0
            buffers.flags[source] = 1
            buffers.near[0] = source
            buffers.at[near_far.NEAR_COUNT] = 1
        self.begin(parts, source)

    def begin(self, parts: SolveParts, source: int | None) -> None:
        """Start what the method has beside near."""

    def relax(self, parts: SolveParts, limit: float) -> float:
        buffers, before = parts.buffers, parts.buffers.relaxations
        floor = self.step(buffers, limit)
        buffers.count(parts.counters, relaxed_before=before)
        return np.inf if floor == buffers.unreached else float(floor)


def least_left(buffers: SolveBuffers) -> Any:
    """Return the answer of `SerialMethod.step` where the least distance left is unknown."""
    some = buffers.at[near_far.NEAR_COUNT] > 0
    return buffers.distances[: buffers.share.own_count].min() if some else buffers.unreached
