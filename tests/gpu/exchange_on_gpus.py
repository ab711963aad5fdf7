"""Many small random graphs over the GPUs of one host, each answer verified; run under mpirun.

In the folder tests:

mpirun -n 4 python -m gpu.exchange_on_gpus fused 200
mpirun -n 4 python -m gpu.exchange_on_gpus fused 200 sssp grid
mpirun -n 4 python -m gpu.exchange_on_gpus fused 200 sssp growing
mpirun -n 4 python -m gpu.exchange_on_gpus fused 200 sssp pull
mpirun -n 4 python -m gpu.exchange_on_gpus rounds 200 bfs
GROUTE_PY_HOSTS=2 mpirun -n 4 python -m gpu.exchange_on_gpus hierarchical 200

With ``grid`` the kernels take every step as on large graphs: grid-wide, often with dense pulls;
with ``roomy`` besides without them. With ``growing`` buckets grow as on large graphs, with
``pull`` deferred arcs are pulled as well. With ``laps`` low-latency rings are short. With
``shared`` there may be more ranks than GPUs. All can be combined.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from support import as_large
from support.exchange import check
from support.graphs import random_graph

from groute_py import Graph, bfs, generate, sssp


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


def main(expected: str, count: int, command: str) -> None:
    from mpi4py import MPI

    mode, world = "rounds" if expected == "rounds" else "fused", MPI.COMM_WORLD
    for seed in range(count):
        graph = draw(seed)
        source = int(np.random.default_rng(seed).integers(graph.vertex_count))
        if command == "bfs":
            result = bfs(graph, source, mode=mode, device="cuda")
            check(result, graph.with_unit_weights(), source, expected)
        else:
            algorithm = "bellman-ford" if seed % 5 == 0 else "auto"
            goal = [graph.vertex_count // 2] if seed % 3 == 1 else []
            words: Any = {"mode": mode, "device": "cuda", "algorithm": algorithm}
            check(sssp(graph, source, targets=goal, **words), graph, source, expected, goal)
    if world.rank == 0:
        print(f"{count} graphs right on {world.size} ranks, {command}, {expected}")


if __name__ == "__main__":
    if "grid" in sys.argv:
        as_large.take_grid_steps()
        if "roomy" not in sys.argv:
            as_large.fill_inboxes()
    if "laps" in sys.argv:
        as_large.shorten_ll_rings()
    if "growing" in sys.argv:
        as_large.grow_buckets()
    if "pull" in sys.argv:
        as_large.pull_deferred_arcs()
    if "shared" in sys.argv:
        as_large.share_gpus()
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "sssp")
