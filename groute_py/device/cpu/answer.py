"""The answer for the vertices of a share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import bound_within
from groute_py.device.cpu.buffers import SolveBuffers


class Answer:
    """Reads distances and predecessors, or replaces them; the verbs are those of the device."""

    def __init__(self, buffers: SolveBuffers) -> None:
        self._buffers, self._own = buffers, buffers.share.own_count

    def farthest(self, vertices: NDArray[np.int64]) -> float:
        """As `groute_py.device.base.Device.farthest`."""
        greatest = self._buffers.distances[vertices].max()
        return np.inf if greatest == self._buffers.unreached else greatest.item()

    def forget_beyond(self, bound: float) -> None:
        """As `groute_py.device.base.Device.forget_beyond`."""
        distances = self._buffers.distances
        distances[distances > bound_within(bound, distances.dtype)] = self._buffers.unreached

    def arcs_reached(self) -> int:
        """As `groute_py.device.base.Device.arcs_reached`."""
        reached = self._buffers.distances[: self._own] != self._buffers.unreached
        return int(np.diff(self._buffers.share.offsets)[reached].sum())

    def replace(self, distances: NDArray[Any], parents: NDArray[np.int64]) -> None:
        """As `groute_py.device.base.Device.replace`."""
        self._buffers.distances[: self._own] = distances
        self._buffers.take_parents(parents.copy())

    def distances(self) -> NDArray[Any]:
        """As `groute_py.device.base.Device.distances`."""
        return self._buffers.distances[: self._own].copy()

    def predecessors(self) -> NDArray[np.int64]:
        """As `groute_py.device.base.Device.predecessors`."""
        return self._buffers.parents[: self._own].copy()
