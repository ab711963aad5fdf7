"""Serial methods on one core, for comparison.

Dijkstra takes a heap, or scans all open vertices. Bellman-Ford is plain, or has a queue in three
orders. Two of these can take exponential time, so after 64 passes over the arcs the queue becomes
first in, first out, and the bound of n·m holds for all. `groute_py.engine.negative_cycle` finds
negative cycles.
"""

from __future__ import annotations

from groute_py.algorithms.base import Algorithm
from groute_py.device.registry import on_cpu
from groute_py.kernels.choices import FIFO, SLF, SLF_LLL

_DIJKSTRA = "groute_py.device.cpu.methods.dijkstra"
_BELLMAN_FORD = "groute_py.device.cpu.methods.bellman_ford"


def _queued(name: str, summary: str, order: int) -> Algorithm:
    return Algorithm(
        name=name,
        summary=summary,
        complexity="n·m",
        negative_weights=True,
        devices={"cpu": on_cpu(_BELLMAN_FORD, "QueueBellmanFord", order=order)},
    )


BEST = _queued("queue-bellman-ford-slf-lll", "the same, and large label last", SLF_LLL)
"""The method of one core for negative weights; measured, see docs/what-we-learned.md#methods."""

ALGORITHMS = (
    Algorithm(
        name="heap-dijkstra",
        summary="serial Dijkstra with a binary heap",
        complexity="m·log n",
        devices={"cpu": on_cpu(_DIJKSTRA, "HeapDijkstra")},
    ),
    Algorithm(
        name="open-set-dijkstra",
        summary="serial Dijkstra that looks through all open vertices",
        complexity="n²",
        devices={"cpu": on_cpu(_DIJKSTRA, "OpenSetDijkstra")},
    ),
    Algorithm(
        name="plain-bellman-ford",
        summary="serial Bellman-Ford, every arc in every round",
        complexity="n·m",
        negative_weights=True,
        devices={"cpu": on_cpu(_BELLMAN_FORD, "PlainBellmanFord", all_rounds=False)},
    ),
    Algorithm(
        name="textbook-bellman-ford",
        summary="the same in n − 1 rounds, whatever they change",
        complexity="n·m, also where few rounds would do",
        negative_weights=True,
        devices={"cpu": on_cpu(_BELLMAN_FORD, "PlainBellmanFord", all_rounds=True)},
    ),
    _queued("queue-bellman-ford", "serial Bellman-Ford with a queue", FIFO),
    _queued("queue-bellman-ford-slf", "the same, small label first", SLF),
    BEST,
)
