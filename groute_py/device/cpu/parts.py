"""The parts of a device while a share is loaded, and how they refer to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import Counters, Terms, bound_within
from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.near_far import NearFar
from groute_py.device.cpu.outbox import Outbox
from groute_py.device.cpu.predecessors import Predecessors
from groute_py.partition.share import Share


class Answer:
    """Reads distances and predecessors, or replaces them; the verbs are those of the device."""

    def __init__(self, buffers: SolveBuffers) -> None:
        self._buffers, self._own = buffers, buffers.share.own_count

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        greatest = self._buffers.distances[vertices].max()
        return np.inf if greatest == self._buffers.unreached else greatest.item()

    def forget_beyond(self, bound: float) -> None:
        distances = self._buffers.distances
        distances[distances > bound_within(bound, distances.dtype)] = self._buffers.unreached

    def arcs_reached(self) -> int:
        reached = self._buffers.distances[: self._own] != self._buffers.unreached
        return int(np.diff(self._buffers.share.offsets)[reached].sum())

    def replace(self, distances: NDArray[Any], parents: NDArray[np.int64]) -> None:
        self._buffers.distances[: self._own] = distances
        self._buffers.take_parents(parents.copy())

    def distances(self) -> NDArray[Any]:
        return self._buffers.distances[: self._own].copy()

    def predecessors(self) -> NDArray[np.int64]:
        return self._buffers.parents[: self._own].copy()


class SolveParts:
    """Allocates the working arrays of a share, and makes the parts that work on them."""

    def __init__(self, share: Share, terms: Terms) -> None:
        self.counters = Counters()
        self.buffers = SolveBuffers(share, terms)
        self.outbox = Outbox(self.buffers)
        self.near_far = NearFar(self.buffers)
        self.predecessors = Predecessors(self.buffers, self.outbox)
        self.answer = Answer(self.buffers)

    def begin(self, source: int | None, cutoff: float, *, record: bool) -> None:
        """Begin a solve in which nothing is reached yet."""
        self.counters = Counters()
        self.buffers.begin(source, cutoff, record=record)
