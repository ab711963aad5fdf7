"""Dijkstra's algorithm for many vertices at once, and ExtractMin by reduction.

A round closes every open vertex for which a cheap criterion proves that no path through another
open vertex is shorter, and relaxes their arcs in parallel. `groute_py.kernels.choices` has the four
criteria; OUT compares with the value D. Rows are sorted by weight once, so the first arc of a row
to a vertex that is not closed is the lightest.

Invariant: the distance of a closed vertex never falls. So no arc is relaxed twice, and the number
of relaxations is the number of arcs that leave reached vertices. On USA-road-d.NY a round of OUT
settles 65 vertices on average.

Crauser, Mehlhorn, Meyer and Sanders, "A parallelization of Dijkstra's shortest path algorithm"
(1998).
"""

from __future__ import annotations

from groute_py.algorithms.base import Algorithm
from groute_py.device.registry import on_cpu, on_gpu


def _algorithm(name: str, summary: str, criterion: str) -> Algorithm:
    return Algorithm(
        name=name,
        summary=summary,
        complexity="m relaxations, up to n rounds",
        devices={
            "cpu": on_cpu(
                "groute_py.device.cpu.methods.frontier_dijkstra",
                "FrontierDijkstra",
                criterion=criterion,
            ),
            "cuda": on_gpu(
                "groute_py.device.cuda.methods.frontier_dijkstra",
                "FrontierDijkstra",
                criterion=criterion,
            ),
        },
    )


ALGORITHMS = (
    _algorithm("frontier-dijkstra", "Dijkstra in rounds, settled by D (OUT)", "out"),
    _algorithm("frontier-dijkstra-in", "the same, by the lightest incoming arc (IN)", "in"),
    _algorithm("frontier-dijkstra-in-out", "the same, by either", "in-out"),
    _algorithm("reduction-dijkstra", "Dijkstra with ExtractMin by reduction", "min"),
)
