"""Serial Dijkstra, with a heap and with an open set, and Bellman-Ford, plain and with a queue."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.device.base import Terms
from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.methods.base import SerialMethod, least_left
from groute_py.kernels.choices import FIFO
from groute_py.kernels.cpu import near_far, serial
from groute_py.partition.share import Share


class OpenSetDijkstra(SerialMethod):
    """Looks through all open vertices for the nearest."""

    def step(self, b: SolveBuffers, limit: float) -> Any:
        dijkstra = b.variant(serial.scan_dijkstra)
        return dijkstra(b.arcs, b.distances, b.flags, b.near, b.at, b.bounds(limit))


class HeapDijkstra(SerialMethod):
    """Takes the nearest from a binary heap."""

    def begin(self, b: SolveBuffers) -> None:
        b.far.fill(0)  # places in the heap
        if b.source >= 0:
            b.far[b.source] = 1

    def step(self, b: SolveBuffers, limit: float) -> Any:
        dijkstra = b.variant(serial.heap_dijkstra)
        return dijkstra(b.arcs, b.distances, b.far, b.near, b.at, b.bounds(limit))


class PlainBellmanFord(SerialMethod):
    """Every arc in every round; with ``all_rounds`` n − 1 rounds, as the textbooks do."""

    def __init__(self, share: Share, terms: Terms, *, all_rounds: bool) -> None:
        super().__init__(share, terms)
        self._all_rounds = all_rounds

    def step(self, b: SolveBuffers, limit: float) -> Any:
        rounds = len(b.distances) - 1 if self._all_rounds else 0
        relax = b.variant(serial.plain_bellman_ford)
        relax(b.arcs, b.distances, b.at, rounds, b.bounds(limit))
        return least_left(b)


ORDERED_PASSES = 64
"""So many relaxations of every arc in an order of its own; then the queue is taken as it comes."""


class QueueBellmanFord(SerialMethod):
    """A queue of changed vertices; `groute_py.kernels.cpu.serial.queue_bellman_ford`."""

    def __init__(self, share: Share, terms: Terms, *, order: int) -> None:
        super().__init__(share, terms)
        self._order = order

    def begin(self, b: SolveBuffers) -> None:
        self._total = np.zeros(1)

    def step(self, b: SolveBuffers, limit: float) -> Any:
        patience = ORDERED_PASSES * (len(b.share.heads) + 1000)
        order = self._order if b.at[near_far.RELAXATIONS] < patience else FIFO
        state = (b.distances, b.flags, b.near, b.at, self._total, order)
        b.variant(serial.queue_bellman_ford)(b.arcs, *state, b.bounds(limit))
        return least_left(b)
