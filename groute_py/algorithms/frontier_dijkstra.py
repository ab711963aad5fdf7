"""Dijkstra's algorithm for many vertices at once (S7), and ExtractMin by reduction (S11).

A vertex is unopened, open (it has a distance) or closed (its distance is final). Dijkstra's
algorithm closes the nearest open vertex, because no other open vertex can lead to it on a shorter
way. A round of this one closes every open vertex of which that can be told cheaply, and relaxes
their arcs in parallel. Four ways to tell are in `groute_py.kernels.choices`; OUT is the evaluation
value D of the source thesis. Rows are sorted by weight once, so that the lightest arc to a vertex
that is not closed is the first.

Invariant: the distance of a closed vertex never falls. So nothing is relaxed twice, and relaxations
are as many as arcs that leave reached vertices. On USA-road-d.NY a round of OUT settles 65 vertices
on average; the thesis counted about 2.

* `groute_py.kernels.cpu.frontier`: on one core.
* ``kernels/frontier.cu``: on one GPU; a single block where few vertices are open.

Crauser, Mehlhorn, Meyer and Sanders, "A parallelization of Dijkstra's shortest path algorithm"
(1998).
"""

from __future__ import annotations

from groute_py.algorithms.base import Algorithm
from groute_py.device.choose import on_cpu, on_gpu


def _algorithm(name: str, summary: str, criterion: str) -> Algorithm:
    return Algorithm(
        name=name,
        summary=summary,
        complexity="m relaxations, up to n rounds",
        devices={
            "cpu": on_cpu(
                "groute_py.device.alone.frontier_cpu", "FrontierCpu", criterion=criterion
            ),
            "cuda": on_gpu(
                "groute_py.device.alone.frontier_cuda", "FrontierCuda", criterion=criterion
            ),
        },
    )


ALGORITHMS = (
    _algorithm("frontier-dijkstra", "Dijkstra in rounds, settled by D (OUT)", "out"),
    _algorithm("frontier-dijkstra-in", "the same, by the lightest incoming arc (IN)", "in"),
    _algorithm("frontier-dijkstra-in-out", "the same, by either", "in-out"),
    _algorithm("reduction-dijkstra", "Dijkstra with ExtractMin by reduction", "min"),
)
