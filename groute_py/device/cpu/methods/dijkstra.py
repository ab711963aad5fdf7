"""Serial Dijkstra, with a heap and with an open set."""

from __future__ import annotations

from typing import Any

from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.methods.base import SerialMethod
from groute_py.device.cpu.parts import SolveParts
from groute_py.kernels.cpu import heap, open_set


class OpenSetDijkstra(SerialMethod):
    """Looks through all open vertices for the nearest; `groute_py.kernels.cpu.open_set`."""

    def step(self, buffers: SolveBuffers, limit: float) -> Any:
        state = (buffers.distances, buffers.flags, buffers.near, buffers.at)
        return open_set.relax(buffers.arcs, *state, buffers.bounds(limit))


class HeapDijkstra(SerialMethod):
    """Takes the nearest from a binary heap; `groute_py.kernels.cpu.heap`."""

    def begin(self, parts: SolveParts, source: int | None) -> None:
        parts.buffers.far.fill(0)  # places in the heap
        if source is not None:
            parts.buffers.far[source] = 1

    def step(self, buffers: SolveBuffers, limit: float) -> Any:
        state = (buffers.distances, buffers.far, buffers.near, buffers.at)
        return heap.relax(buffers.arcs, *state, buffers.bounds(limit))
