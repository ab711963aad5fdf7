"""Serial Bellman-Ford: plain, as in the textbooks, and with a queue."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.device.base import Buckets
from groute_py.device.cpu.methods.base import AloneCpu
from groute_py.kernels.choices import FIFO
from groute_py.kernels.cpu import near_far, plain_bellman_ford, queue_bellman_ford


class PlainBellmanFordCpu(AloneCpu):
    """Every arc in every round; `groute_py.kernels.cpu.plain_bellman_ford`."""

    def least_rounds(self) -> int:
        """The number of rounds that are done even if they change nothing."""
        return 0

    def step(self, limit: float) -> Any:
        bounds = (self._cutoff, self._nothing, self.least_rounds(), self._slice)
        plain_bellman_ford.relax(*self._arcs, self._distances, self._at, *bounds)
        return self.left()


class TextbookBellmanFordCpu(PlainBellmanFordCpu):
    """The same in n - 1 rounds."""

    def least_rounds(self) -> int:
        return len(self._distances) - 1


ORDERED_PASSES = 64
"""So many relaxations of every arc in an order of its own; then the queue is taken as it comes."""


class QueueBellmanFordCpu(AloneCpu):
    """A queue of changed vertices; `groute_py.kernels.cpu.queue_bellman_ford`.

    Args:
        order: one of the module's orders.
    """

    def __init__(self, order: int) -> None:
        super().__init__()
        self._order = order

    def copy(self) -> QueueBellmanFordCpu:
        return QueueBellmanFordCpu(self._order)

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        super().start(source, buckets, cutoff, record=False)
        self._total = np.zeros(1)

    def step(self, limit: float) -> Any:
        patience = ORDERED_PASSES * (len(self._share.heads) + 1000)
        order = self._order if self._at[near_far.RELAXATIONS] < patience else FIFO
        state = (self._distances, self._flags, self._near, self._at, self._total, order)
        bounds = (self._cutoff, self._nothing, self._slice)
        queue_bellman_ford.relax(*self._arcs, *state, *bounds)
        return self.left()
