"""Solves on the GPUs of one host that the time limit ends, and the solves after them; under mpirun.

In the folder tests:

mpirun -n 2 python -m gpu.stops_on_gpus road:2000x2000
mpirun -n 4 python -m gpu.stops_on_gpus road:600x600 15 shared

With ``shared`` there may be more ranks than GPUs.
Every rank has to leave each of them soon, with the same error; what it prints is how soon. A rank
alone hears of a limit between slices only, which are longer than these solves.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np
from mpi4py import MPI
from support import as_large
from support.exchange import check

from groute_py import TimeLimitError, generate
from groute_py.comm.connect import connect
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.source.whole import GraphSupply

SHARES = (0.02, 0.1, 0.3, 0.5, 0.8)
"""Limits, as shares of what a whole solve takes."""

SOON, ENDS_S = 0.25, 0.5
"""Within how much of a whole solve the median run ends once its limit has passed, which one that
went on would not; and within how many seconds each does, for hosts may be busy."""


def main(spec: str, times: int) -> None:
    world, channel = MPI.COMM_WORLD, connect()
    if world.size == 1:
        sys.exit("run it under mpirun, on several ranks")
    graph = generate(spec)
    source, options = graph.vertex_count // 2, Options(device="cuda", mode="fused")
    late: list[float] = []
    with SourceSolver(GraphSupply(graph if world.rank == 0 else None), channel, options) as solver:
        plan = solver._graph.plan
        whole_s = [timed(solver, source)[0] for _ in range(5)][-1]
        first = solver.sssp(source)
        check(first, graph, source, "fused")
        for turn in range(times):
            limit_s = world.bcast(whole_s * SHARES[turn % len(SHARES)])
            solver._graph.plan = replace(plan, options=replace(options, time_limit_s=limit_s))
            took_s, stopped = timed(solver, source)
            assert len(set(world.allgather(stopped))) == 1
            late += world.allgather(took_s - limit_s) if stopped else []
            solver._graph.plan = plan
            again = solver.sssp(source)
            if first is not None and again is not None:
                np.testing.assert_array_equal(again.distances, first.distances)
    assert late, "no limit passed within a solve"
    assert np.median(late) < SOON * whole_s, (np.median(late), whole_s)
    assert max(late) < ENDS_S, max(late)
    if world.rank == 0:
        middle, most = 1e3 * np.median(late), 1e3 * max(late)
        print(
            f"{len(late) // world.size} of {times} solves stopped on {world.size} ranks, ", end=""
        )
        print(f"{middle:.1f} ms after their limits, {most:.1f} at most; all others right")


def timed(solver: SourceSolver, source: int) -> tuple[float, bool]:
    """Seconds that a solve takes, and whether the limit passed."""
    MPI.COMM_WORLD.Barrier()
    start = time.monotonic()
    try:
        solver.sssp(source)
    except TimeLimitError:
        return time.monotonic() - start, True
    return time.monotonic() - start, False


if __name__ == "__main__":
    if "shared" in sys.argv:
        as_large.share_gpus()
    count = [word for word in sys.argv[2:] if word != "shared"]
    main(sys.argv[1], int(count[0]) if count else 50)
