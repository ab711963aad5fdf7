"""Other programs on the same graph in the same run: SciPy on one core, cuGraph if installed.

``PEERS`` lists them. A new program needs one function and one line there.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cases import SkippedError
from benchmarks.plan import Plan
from groute_py import Graph, Result, VerificationError

Solve = Callable[[], Any]
Distances = Callable[[Any], Any]


def measure_peers(graph: Graph, source: int, ours: Result, plan: Plan) -> dict[str, Any]:
    """Time each program that can run: one warm-up, then ``plan.repeat`` solves.

    Returns:
        By name: the median and all times in seconds, or the reason why it was skipped.

    Raises:
        VerificationError: a program's distances differ from ours.
    """
    return {name: _measure(name, graph, source, ours, plan) for name in PEERS}


def _measure(name: str, graph: Graph, source: int, ours: Result, plan: Plan) -> dict[str, Any]:
    try:
        solve, distances = PEERS[name](graph, source, plan)
    except SkippedError as reason:
        return {"skipped": str(reason)}
    _check_agrees(name, ours, distances(solve()))
    times = []
    for _ in range(plan.repeat):
        start = time.perf_counter()
        solve()
        times.append(time.perf_counter() - start)
    return {"median": statistics.median(times), "seconds": times}


def scipy_dijkstra(graph: Graph, source: int, plan: Plan) -> tuple[Solve, Distances]:
    """`scipy.sparse.csgraph.dijkstra`, distances only, one core."""
    try:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra
    except ImportError as error:
        raise SkippedError("not installed") from error
    if graph.arc_count > plan.scipy_up_to:
        raise SkippedError(f"more than {plan.scipy_up_to / 1e6:.0f} M arcs; see --scipy-up-to")
    shape = (graph.vertex_count, graph.vertex_count)
    matrix = csr_array(lightest(graph), shape=shape)
    return lambda: dijkstra(matrix, indices=source), lambda found: found


def lightest(graph: Graph) -> tuple[Any, tuple[Any, Any]]:
    """Weights and ends of arcs, with only the lightest of parallel arcs: SciPy would add them."""
    count = np.int64(graph.vertex_count)
    tails = np.repeat(np.arange(count), np.diff(graph.offsets))
    ends = tails * count + graph.heads
    order = np.argsort(ends, kind="stable")
    ends = ends[order]
    starts = np.flatnonzero(np.diff(ends, prepend=-1))
    weights = np.minimum.reduceat(graph.weights[order].astype(np.float64), starts)
    tails, heads = np.divmod(ends[starts], count)
    return weights, (tails.astype(np.int32), heads.astype(np.int32))


def cugraph_sssp(graph: Graph, source: int, plan: Plan) -> tuple[Solve, Distances]:
    """`cugraph.sssp`: float32, with predecessors, the graph on the device."""
    if plan.device != "cuda":
        raise SkippedError("runs on GPUs only")
    try:
        import cudf
        import cugraph
        import cupy
    except ImportError as error:
        raise SkippedError("not installed") from error
    held = cugraph.Graph(directed=True)
    columns = (graph.offsets, graph.heads, graph.weights.astype(np.float32))
    held.from_cudf_adjlist(*(cudf.Series(column) for column in columns), renumber=False)

    def solve() -> Any:
        found = cugraph.sssp(held, source)
        cupy.cuda.Device().synchronize()
        return found

    return solve, lambda found: found.sort_values("vertex")["distance"].to_numpy()


PEERS = {"scipy": scipy_dijkstra, "cugraph": cugraph_sssp}


def _check_agrees(name: str, ours: Result, theirs: Any) -> None:
    """Compare distances: exactly for integers in float64, otherwise within 1e-4."""
    reached, theirs = ours.reached, np.asarray(theirs)
    far = np.finfo(theirs.dtype).max
    exact = ours.distances.dtype.kind != "f" and theirs.dtype == np.float64
    alike = np.allclose(theirs[reached], ours.distances[reached], rtol=0 if exact else 1e-4, atol=0)
    if not alike or not (theirs[~reached] >= far).all():
        raise VerificationError(f"{name} has other distances: one of us is wrong")
