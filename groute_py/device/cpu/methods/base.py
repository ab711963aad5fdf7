"""The methods of a core: near–far relaxation, and serial ones, which begin with the source."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer
from groute_py.device.base import NO_PARENT, Buckets, Counters, Terms, within
from groute_py.device.cpu.buffers import SolveBuffers, columns_of, filled, messages_of
from groute_py.device.delta_control import DeltaControl, threshold_after
from groute_py.kernels.cpu import claim, near_far
from groute_py.partition.share import Share


class Predecessors:
    """Assigns predecessors after a solve, by `groute_py.kernels.cpu.claim`."""

    def __init__(self, buffers: SolveBuffers) -> None:
        self._buffers = buffers

    def start(self, *, monotone: bool) -> bool:
        if self._buffers.recording:
            return self.start_known()
        self._buffers.have_parents(self._buffers.share.local_count)
        self._reset()
        self._rising_left, self._onward = monotone, not monotone
        if self._onward:
            claim.queue_claimed(self._claims)
        return False

    def start_known(self) -> bool:
        """The same where relaxing has found all; some of their heads may be unreached by now."""
        self._buffers.parents[self._buffers.distances == self._buffers.unreached] = NO_PARENT
        self._reset()
        self._rising_left = self._onward = False
        return True

    def merge(self, message: Buffer) -> None:
        types = (np.dtype(np.int64), self._buffers.type, np.dtype(np.int32))
        tails, values, vertices = columns_of(message, *types)
        claim.merge_claims(vertices, values, tails, self._claims, self._onward)

    def claim(self) -> bool:
        b = self._buffers
        if self._rising_left:
            self._rising_left = False
            self._onward = self._claim_rising()
            if self._onward:
                claim.queue_claimed(self._claims)
        elif self._onward:
            b.variant(claim.claim_onward)(b.arcs, self._claims, b.slice_arcs)
        rest = self._at[claim.CLAIMED_COUNT] - self._at[claim.CLAIM_HEAD]
        return bool(self._onward and rest > 0)

    def outgoing(self) -> list[tuple[int, Buffer]]:
        return messages_of(self._buffers, self._at, claim.CLAIM_DIRTY, with_parents=True)

    def _claim_rising(self) -> bool:
        """Claim along rising arcs; True if some tight arc is level."""
        claim_rising = self._buffers.variant(claim.claim_rising)
        return bool(claim_rising(self._buffers.arcs, self._claims))

    def _reset(self) -> None:
        b = self._buffers
        filled(b.flags, 0)
        self._at = np.zeros(claim.CLAIM_CURSORS, dtype=np.int64)
        lists = b.near[: b.share.own_count], b.dirty, self._at
        numbers = b.share.first, b.source, b.unreached
        self._claims = claim.Claims(b.distances, b.parents, b.flags, *lists, *numbers)


class NearFar:
    """Relaxes what is below a threshold, which rises by Δ."""

    def __init__(self, buffers: SolveBuffers) -> None:
        self._buffers = buffers

    def start(self, source: int | None, buckets: Buckets) -> None:
        """Begin with the first window; the source, if there is one, is near."""
        buffers = self._buffers
        self._delta = within(buckets.first, buffers.type)
        self._threshold = np.array([self._delta, 0], dtype=buffers.type)
        self._delta_control = DeltaControl(len(buffers.share.heads), self._delta, buffers.unreached)
        if source is not None:
            self._take(np.array([source], np.int32), np.zeros(1, buffers.type))

    def merge(self, message: Buffer) -> None:
        values, vertices = columns_of(message, self._buffers.type, np.dtype(np.int32))
        self._take(vertices, values)

    def relax(self, counters: Counters, limit: float) -> float:
        b, before = self._buffers, self._buffers.relaxations
        state = (b.distances, b.parents, b.lists, self._threshold, self._delta)
        floor = b.variant(near_far.relax)(b.arcs, *state, b.bounds(limit))
        if floor != b.unreached:
            self._narrow_slow_bucket()
        b.count(counters, relaxed_before=before)
        return np.inf if floor == b.unreached else float(floor)

    def outgoing(self) -> list[tuple[int, Buffer]]:
        buffers = self._buffers
        return messages_of(buffers, buffers.at, near_far.DIRTY_COUNT, with_parents=False)

    def bucket_width(self) -> float:
        return float("inf") if self._delta == self._buffers.unreached else float(self._delta)

    def _narrow_slow_bucket(self) -> None:
        b = self._buffers
        delta = self._delta_control.narrower(int(b.at[near_far.BUCKETS]), b.relaxations)
        if delta is None:
            return
        self._delta = delta
        self._threshold[0] = threshold_after(self._threshold[1], delta, b.unreached)
        self._narrow_near()

    def _narrow_near(self) -> None:
        """Move what is no longer below the threshold to far."""
        b = self._buffers
        near_far.narrow(b.distances, b.lists, self._threshold[0])

    def _take(self, vertices: NDArray[np.int32], values: NDArray[Any]) -> None:
        b = self._buffers
        near_far.merge(vertices, values, b.distances, b.lists, self._threshold)


class CpuMethod:
    """Near–far relaxation of one share; other methods override parts of it."""

    least_team: float = 2
    """Threads from which a team relaxes a large share instead."""

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

    least_team = math.inf

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
