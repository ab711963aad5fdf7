"""Floyd–Warshall over the GPUs of one host, all distances against SciPy; run under mpirun.

In the folder tests:

mpirun -n 4 python -m gpu.floyd_on_gpus
"""

from __future__ import annotations

import numpy as np
from mpi4py import MPI
from support.graphs import random_graph, scipy_distances

from groute_py import Result, apsp, verify

CASES = [(1, 0, 1), (130, 500, 9), (700, 2100, 1000), (2500, 9000, 100), (1300, 4000, 2**30)]
"""Vertices, arcs, the greatest weight: with the last ones distances need 64 bits."""


def main() -> None:
    ranks = MPI.COMM_WORLD
    for count, arcs, greatest in CASES:
        graph = random_graph(count, arcs, count, greatest)
        some = np.random.default_rng(1).permutation(count)[:40]
        rows = apsp(graph, sources=some, algorithm="floyd", device="cuda", predecessors=True)
        if rows is None:
            continue
        assert rows.predecessors is not None
        for row, source in enumerate(some.tolist()):
            wanted = scipy_distances(graph, source)
            np.testing.assert_array_equal(rows.distances[row], wanted)
            verify(graph, Result(source, wanted, rows.predecessors[row].astype(np.int64)))
        print(f"{count} vertices right on {ranks.size} ranks: {rows.statistics['device']}")


if __name__ == "__main__":
    main()
