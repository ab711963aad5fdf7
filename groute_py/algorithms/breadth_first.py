"""Breadth-first search, in which every arc counts 1.

The search goes level by level. On a GPU it changes direction (Beamer, Asanovic and Patterson,
2012): while the frontier holds a large part of the graph, unreached vertices search their in-arcs
for a tail in the frontier, and most find one at the first arcs. Near–far relaxation serves several
ranks, and deep graphs, whose levels have too little work for a GPU.
"""

from __future__ import annotations

from groute_py.algorithms.base import Algorithm
from groute_py.algorithms.delta_stepping import BUSY_DEGREE, automatic_delta
from groute_py.device.base import Buckets, alike
from groute_py.device.registry import on_cpu, on_gpu
from groute_py.graph.facts import Facts

LEVELS_AHEAD = 1024.0
"""Width of a bucket on GPUs, where levels come nearly in order by themselves; measured, see
docs/what-we-learned.md#methods."""


def buckets(facts: Facts, device: str, ranks: int) -> Buckets:
    """Buckets of near–far relaxation."""
    in_order = ranks == 1 or facts.mean_degree < BUSY_DEGREE
    if device == "cuda" and in_order:
        return alike(LEVELS_AHEAD)
    return alike(automatic_delta(facts, device, ranks))


ALGORITHM = Algorithm(
    name="bfs",
    summary="breadth-first search, in both directions on a GPU",
    complexity="m",
    unit_weights=True,
    distributed=True,
    devices={
        "cpu": on_cpu("groute_py.device.cpu.methods.bfs", "BreadthFirst"),
        "cuda": on_gpu("groute_py.device.cuda.methods.bfs", "BreadthFirst"),
    },
    buckets=buckets,
)
