"""Serial Dijkstra, with a heap and with an open set."""

from __future__ import annotations

from typing import Any

from groute_py.device.base import Buckets
from groute_py.device.cpu.methods.base import AloneCpu
from groute_py.kernels.cpu import heap, open_set


class OpenSetCpu(AloneCpu):
    """Looks through all open vertices for the nearest; `groute_py.kernels.cpu.open_set`."""

    def step(self, limit: float) -> Any:
        state = (self._distances, self._flags, self._near, self._at)
        bounds = (limit, self._cutoff, self._nothing, self._slice)
        return open_set.relax(*self._arcs, *state, *bounds)


class HeapCpu(AloneCpu):
    """Takes the nearest from a binary heap; `groute_py.kernels.cpu.heap`."""

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        super().start(source, buckets, cutoff, record=False)
        self._far.fill(0)  # places in the heap
        if source is not None:
            self._far[source] = 1

    def step(self, limit: float) -> Any:
        state = (self._distances, self._far, self._near, self._at)
        bounds = (limit, self._cutoff, self._nothing, self._slice)
        return heap.relax(*self._arcs, *state, *bounds)
