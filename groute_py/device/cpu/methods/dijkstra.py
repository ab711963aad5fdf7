"""Serial Dijkstra, with a heap and with an open set."""

from __future__ import annotations

from typing import Any

from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.methods.base import SerialMethod
from groute_py.kernels.cpu import serial


class OpenSetDijkstra(SerialMethod):
    """Looks through all open vertices for the nearest."""

    def step(self, b: SolveBuffers, limit: float) -> Any:
        return serial.scan_dijkstra(b.arcs, b.distances, b.flags, b.near, b.at, b.bounds(limit))


class HeapDijkstra(SerialMethod):
    """Takes the nearest from a binary heap."""

    def begin(self, b: SolveBuffers) -> None:
        b.far.fill(0)  # places in the heap
        if b.source >= 0:
            b.far[b.source] = 1

    def step(self, b: SolveBuffers, limit: float) -> Any:
        return serial.heap_dijkstra(b.arcs, b.distances, b.far, b.near, b.at, b.bounds(limit))
