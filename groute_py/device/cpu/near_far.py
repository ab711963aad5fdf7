"""Near–far relaxation of a share on one core: `groute_py.kernels.cpu.near_far`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer
from groute_py.device.base import Buckets, Counters, within
from groute_py.device.cpu.buffers import SolveBuffers, columns_of, messages_of
from groute_py.device.delta_control import DeltaControl, threshold_after
from groute_py.kernels.cpu import near_far


class NearFar:
    """Relaxes what is below a threshold, which rises by Δ."""

    def __init__(self, buffers: SolveBuffers) -> None:
        self._buffers = buffers

    def start(self, source: int | None, buckets: Buckets) -> None:
        """Begin with the first window; the source, if there is one, is near."""
        buffers = self._buffers
        self._delta = within(buckets.widest, buffers.type)
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
        floor = near_far.relax(b.arcs, *state, b.bounds(limit))
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
        near_far.narrow(b.distances, b.lists, self._threshold[0])

    def _take(self, vertices: NDArray[np.int32], values: NDArray[Any]) -> None:
        b = self._buffers
        near_far.merge(vertices, values, b.distances, b.lists, self._threshold)
