"""Serial Dijkstra on one core, for comparison: with a heap, or a scan of all open vertices."""

from __future__ import annotations

from groute_py.algorithms.base import Algorithm
from groute_py.device.registry import on_cpu

ALGORITHMS = (
    Algorithm(
        name="heap-dijkstra",
        summary="serial Dijkstra with a binary heap",
        complexity="m·log n",
        devices={"cpu": on_cpu("groute_py.device.cpu.methods.dijkstra", "HeapDijkstra")},
    ),
    Algorithm(
        name="open-set-dijkstra",
        summary="serial Dijkstra that looks through all open vertices",
        complexity="n²",
        devices={"cpu": on_cpu("groute_py.device.cpu.methods.dijkstra", "OpenSetDijkstra")},
    ),
)
