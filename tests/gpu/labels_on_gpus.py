"""Labels in a share for each of the GPUs of one host, all distances against SciPy; under mpirun.

In the folder tests:

mpirun -n 2 python -m gpu.labels_on_gpus
"""

from __future__ import annotations

import numpy as np
from mpi4py import MPI
from support.graphs import graph_of, random_graph
from support.labels import check
from support.opening import solver_on

from groute_py import generate
from groute_py.comm.connect import connect
from groute_py.device.cuda.hierarchy import customization
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.many import labels

GRAPHS = [
    graph_of(1, [(0, 0, 3)]),
    graph_of(3, [(0, 1, 9), (0, 1, 4), (1, 0, 3), (1, 2, 8), (1, 2, 2)]),
    random_graph(60, 45, 3, 40),
    random_graph(40, 120, 4, 2**45, "int64"),
    random_graph(40, 100, 5, 2**31 - 1),
    generate("road:30x30"),
]
UPDATES = 5


def main() -> None:
    labels.pays = lambda order_s, *_: order_s < np.inf
    customization.team_for = lambda channel, *_: channel  # as if no GPU had room for all
    channel = connect(MPI.COMM_WORLD)
    gpu = GpuContext(channel.rank)
    for graph in GRAPHS:
        own, random = graph if channel.rank == 0 else None, np.random.default_rng(1)
        with solver_on(channel, own, prepare=True, device="cuda") as solver:
            check(solver, graph)
            for _ in range(UPDATES):
                other = graph.with_weights(random.permutation(graph.weights))
                solver.update(other.weights if own is not None else None)
                check(solver, other)
            routes = solver.route([(0, 0)])
            if routes is not None:
                assert f"{channel.size} ranks have a share" in routes.statistics["reason"]
                print(f"{graph.vertex_count} vertices right on {channel.size} ranks", flush=True)
            del routes
    free = gpu.room()
    for _ in range(UPDATES):
        with solver_on(channel, own, prepare=True, device="cuda") as solver:
            solver.route([(0, 1)])
    lost = free - gpu.room()
    assert lost < 8 << 20, f"{lost:,} bytes are not freed"


if __name__ == "__main__":
    main()
