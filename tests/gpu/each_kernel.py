"""Every method of a GPU on small graphs, all answers verified; for a tool that watches memory.

In the folder tests:

compute-sanitizer --tool memcheck --error-exitcode 9 python -m gpu.each_kernel
compute-sanitizer --tool racecheck --error-exitcode 9 python -m gpu.each_kernel grid bfs
compute-sanitizer --tool initcheck --error-exitcode 9 python -m gpu.each_kernel
compute-sanitizer --tool synccheck --error-exitcode 9 python -m gpu.each_kernel

Names of methods (of ``groute-py algorithms`` and of ``apsp --algorithm``) leave out the others.
With ``grid`` the kernels take every step as on large graphs, with ``growing`` buckets grow, with
``pull`` deferred arcs are pulled. CuPy's pool is not used, so that whatever lies beside an array is
nobody's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

import cupy as cp
import numpy as np
from support import as_large
from support.graphs import random_graph, scipy_distances

from groute_py import Graph, PreparedGraph, Result, apsp, bfs, generate, nearest, sssp, verify
from groute_py.device.cuda import certificate
from groute_py.device.cuda.hierarchy.rounds import contract
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.engine.algorithms.methods import algorithms
from groute_py.engine.option_values import METHODS
from groute_py.results.verification import certify

SINGLE = [name for name, method in algorithms().items() if "cuda" in method.devices]

NEAREST = "nearest"
"""Named as a method: nearest facilities by a sweep."""

MOST_SWEPT = 2**20
"""A weight of graphs whose distances fit in 32 bits, which a sweep for facilities needs."""


def graphs() -> Iterator[Graph]:
    """A road graph, one with hubs, parallel arcs and loops, floats, 64 bits."""
    yield generate("road:30x20")
    yield generate("rmat:8,16")
    yield random_graph(300, 2000, 3, 2)
    whole = random_graph(300, 2000, 4, 1000)
    yield Graph(whole.offsets, whole.heads, (whole.weights * 0.37).astype(np.float32))
    yield random_graph(300, 2000, 5, 2**31 - 2)


def check_single(name: str, graph: Graph, source: int) -> None:
    """One source, with and without predecessors, and a target."""
    if name == "bfs":
        unit = graph.with_unit_weights()
        verify(unit, some(bfs(graph, source, device="cuda")))
        np.testing.assert_array_equal(
            some(bfs(graph, source, device="cuda", predecessors=False)).distances,
            scipy_distances(unit, source),
        )
        return
    solved = some(sssp(graph, source, algorithm=name, device="cuda"))
    certify(graph, solved, proves=partial(certificate.proves, GpuContext(0)))
    far = int(np.argmax(np.where(solved.reached, solved.distances, -1)))
    for goal in ((), (far,)):
        again = some(
            sssp(graph, source, algorithm=name, device="cuda", predecessors=False, targets=goal)
        )
        where = list(goal) or slice(None)
        np.testing.assert_array_equal(again.distances[where], solved.distances[where])


def check_many(name: str, graph: Graph) -> None:
    """Rows from a few sources, with their trees where there are any."""
    sources = np.arange(0, graph.vertex_count, 37)
    trees = name != "floyd" or graph.weights.dtype.kind != "f"
    rows = apsp(graph, sources=sources, algorithm=name, device="cuda", predecessors=trees)
    assert rows is not None
    for row, source in enumerate(sources.tolist()):
        if rows.predecessors is None:
            result, right = rows.distances[row], scipy_distances(graph, source)
            np.testing.assert_allclose(result, right, rtol=1e-5)
            continue
        tree = rows.predecessors[row].astype(np.int64)
        verify(graph, Result(source, rows.distances[row], tree))


def check_nearest_facilities(graph: Graph) -> None:
    """By a sweep, in both directions, as without a hierarchy."""
    arcs = graph.offsets, graph.heads, graph.weights
    town = PreparedGraph(graph, contract(*arcs, np.dtype(np.int32)))
    facilities = np.arange(0, graph.vertex_count, 17)
    for to_facility in (False, True):
        result, right = (
            nearest(each, facilities, to_facility=to_facility, device=device)
            for each, device in ((town, "cuda"), (graph, "cpu"))
        )
        assert result is not None
        assert right is not None
        np.testing.assert_array_equal(result.distances, right.distances)
        np.testing.assert_array_equal(result.facilities, right.facilities)
        np.testing.assert_array_equal(result.next < 0, right.next < 0)


def some(result: Result | None) -> Result:
    assert result is not None
    return result


def main(words: list[str]) -> None:
    if "grid" in words:
        as_large.take_grid_steps()
        words.remove("grid")
    if "growing" in words:
        as_large.grow_buckets()
        words.remove("growing")
    if "pull" in words:
        as_large.pull_deferred_arcs()
        words.remove("pull")
    every = [*SINGLE, *METHODS, NEAREST]
    if unknown := {*words} - {*every}:
        sys.exit(f"there is no method {', '.join(unknown)}; there are {', '.join(every)}")
    cp.cuda.set_allocator(None)
    for number, graph in enumerate(graphs()):
        source = int(np.argmax(np.diff(graph.offsets)))
        refused = {"ell-bellman-ford"} if number == 1 else set[str]()
        if graph.weights.dtype.kind == "f":
            refused |= {"contraction", "sweep", NEAREST}
        if graph.weights.max() > MOST_SWEPT:
            refused.add(NEAREST)
        for name in SINGLE:
            if name in (words or SINGLE) and name not in refused:
                check_single(name, graph, source)
                print(f"graph {number}: {name} is right", flush=True)
        for name in METHODS:
            if name in (words or METHODS) and name not in refused:
                check_many(name, graph)
                print(f"graph {number}: {name} for many sources is right", flush=True)
        if NEAREST in (words or [NEAREST]) and NEAREST not in refused:
            check_nearest_facilities(graph)
            print(f"graph {number}: {NEAREST} is right", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
