"""Serial Bellman-Ford: plain, as in the textbooks, and with a queue."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.methods.base import SerialMethod, least_left
from groute_py.device.cpu.parts import SolveParts
from groute_py.kernels.choices import FIFO
from groute_py.kernels.cpu import near_far, plain_bellman_ford, queue_bellman_ford


class PlainBellmanFord(SerialMethod):
    """Every arc in every round; with ``all_rounds`` n − 1 rounds, as the textbooks do."""

    def __init__(self, *, all_rounds: bool) -> None:
        self._all_rounds = all_rounds

    def step(self, buffers: SolveBuffers, limit: float) -> Any:
        rounds = len(buffers.distances) - 1 if self._all_rounds else 0
        state = (buffers.distances, buffers.at, rounds)
        plain_bellman_ford.relax(buffers.arcs, *state, buffers.bounds(limit))
        return least_left(buffers)


ORDERED_PASSES = 64
"""So many relaxations of every arc in an order of its own; then the queue is taken as it comes."""


class QueueBellmanFord(SerialMethod):
    """A queue of changed vertices; `groute_py.kernels.cpu.queue_bellman_ford`."""

    def __init__(self, order: int) -> None:
        self._order = order

    def begin(self, parts: SolveParts, source: int | None) -> None:
        self._total = np.zeros(1)

    def step(self, buffers: SolveBuffers, limit: float) -> Any:
        b = buffers
        patience = ORDERED_PASSES * (len(b.share.heads) + 1000)
        order = self._order if b.at[near_far.RELAXATIONS] < patience else FIFO
        state = (b.distances, b.flags, b.near, b.at, self._total, order)
        queue_bellman_ford.relax(b.arcs, *state, b.bounds(limit))
        return least_left(b)
