"""Many small random graphs over the GPUs of one host, each answer verified; run under mpirun.

mpirun -n 4 python tests/exchange_on_gpus.py fused 200
GROUTE_PY_HOSTS=2 mpirun -n 4 python tests/exchange_on_gpus.py hierarchical 200
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from graphs import random_graph
from mpi4py import MPI

from groute_py import Graph, generate, sssp, verify
from groute_py.verification import reference_distances


def draw(seed: int) -> Graph:
    """Another graph for each seed: sparse, dense, zero weights, roads, R-MAT, floats, 64 bits."""
    random = np.random.default_rng(seed)
    kind = seed % 8
    if kind == 0:
        return generate(f"road:{random.integers(2, 90)}x{random.integers(2, 90)}", seed=seed)
    if kind == 1:
        return generate(f"rmat:{random.integers(3, 13)},{random.integers(1, 17)}", seed=seed)
    count = int(random.integers(1, 3000))
    arcs = int(random.integers(0, 12 * count))
    greatest = (0, 1, 1000, 30, 2**31 - 2, 7)[kind - 2]
    whole = random_graph(count, arcs, seed, greatest)
    if kind == 7:
        return Graph(whole.offsets, whole.heads, (whole.weights * 0.37).astype(np.float32))
    return whole


def main(expected: str, count: int) -> None:
    mode = "rounds" if expected == "rounds" else "fused"
    rank = MPI.COMM_WORLD.rank
    done = 0
    for seed in range(count):
        graph = draw(seed)
        source = int(np.random.default_rng(seed).integers(graph.vertex_count))
        algorithm = "bellman-ford" if seed % 5 == 0 else "auto"
        goal = [graph.vertex_count // 2] if seed % 3 == 1 else []
        words: Any = {"mode": mode, "device": "cuda", "algorithm": algorithm}
        result = sssp(graph, source, targets=goal, **words)
        if rank == 0:
            assert result is not None
            right = reference_distances(graph, source)
            where = goal or slice(None)
            np.testing.assert_array_equal(result.distances[where], right[where])
            if not goal:
                verify(graph, result)
            assert result.statistics["mode"] in (expected, "alone"), result.statistics["mode"]
            done += 1
    if rank == 0:
        print(f"{done} graphs right on {MPI.COMM_WORLD.size} ranks, {expected}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
