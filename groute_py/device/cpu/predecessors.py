"""Predecessors on one core: recorded while relaxing, or claimed along tight arcs."""

from __future__ import annotations

import numpy as np

from groute_py.comm.base import Buffer
from groute_py.device.base import NO_PARENT
from groute_py.device.cpu.buffers import SolveBuffers, columns_of, messages_of
from groute_py.kernels.cpu import claim


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
            self._onward = claim.claim_rising(b.arcs, self._claims)
            if self._onward:
                claim.queue_claimed(self._claims)
        elif self._onward:
            claim.claim_onward(b.arcs, self._claims, b.slice_arcs)
        rest = self._at[claim.CLAIMED_COUNT] - self._at[claim.CLAIM_HEAD]
        return bool(self._onward and rest > 0)

    def outgoing(self) -> list[tuple[int, Buffer]]:
        return messages_of(self._buffers, self._at, claim.CLAIM_DIRTY, with_parents=True)

    def _reset(self) -> None:
        b = self._buffers
        b.flags.fill(0)
        self._at = np.zeros(claim.CLAIM_CURSORS, dtype=np.int64)
        lists = b.near[: b.share.own_count], b.dirty, self._at
        numbers = b.share.first, b.source, b.unreached
        self._claims = claim.Claims(b.distances, b.parents, b.flags, *lists, *numbers)
