"""Every kernel that usual jobs ask for is one that a build compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.build_scripts import build_script
from support.local_ranks import on_ranks
from support.skips import EMULATED, needs_gpu, require_metis
from support.solving import source_solver

import groute_py
from groute_py import BPR, Graph, assign, centrality
from groute_py.engine.option_values import METHODS
from groute_py.kernels import source

pytestmark = needs_gpu

BUILD = build_script("compile_gpu_kernels")

INT32 = groute_py.generate("road:8x8")
FLOAT32 = INT32.with_weights(INT32.weights.astype(np.float32))
FEW = [3, 5, 9]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[Any]:
    """The programs that are asked for, each with its options."""
    from groute_py.device.cuda.runtime import compile
    from groute_py.device.cuda.sssp.device import WARMED_UP

    result, module = set[Any](), compile.module

    def noted(program: source.Program, choices: tuple[str, ...], extended: str) -> Any:
        result.add(BUILD.Variant(program, choices))
        return module(program, choices, extended)

    monkeypatch.setattr(compile, "module", noted)
    WARMED_UP.clear()
    return result


def solved(graph: Graph) -> None:
    with groute_py.open(graph, device="cuda") as solver:
        solver.sssp(3)
        solver.sssp(3, targets=[5])
        solver.bfs(3)
        solver.nearest(FEW)
        solver.isochrone(FEW, [4, 8])
        solver.route([(3, 5), (5, 9)], paths=True)


def prepared(graph: Graph) -> None:
    town = groute_py.prepare(graph, device="cuda")
    with groute_py.open(town, device="cuda") as solver:
        assert solver.sssp(3).statistics["algorithm"] == "contraction"
        for to_facility in (False, True):
            solver.nearest(FEW, to_facility=to_facility)
        solver.matrix(FEW, FEW)


def rows(graph: Graph) -> None:
    of_floats = graph.weights.dtype.kind == "f"
    for method in METHODS:
        if method == "sweep" and of_floats:
            continue
        trees = method != "floyd" or not of_floats
        groute_py.apsp(graph, sources=FEW, algorithm=method, device="cuda", predecessors=trees)
        groute_py.matrix(graph, FEW, FEW, algorithm=method, device="cuda")


def measured(graph: Graph) -> None:
    for measure in (centrality.closeness, centrality.harmonic, centrality.betweenness):
        measure(graph, sources=FEW, device="cuda")


def assigned(graph: Graph) -> None:
    require_metis()
    trips, times = ([0], [5], [3.0]), BPR(graph.weights + 1.0, 9)
    assign(graph, trips, times=times, iterations=3, device="cuda")


JOBS: list[tuple[Callable[[Graph], None], set[source.Program]]] = [
    (solved, {source.SOLVE, source.BREADTH_FIRST}),
    (prepared, {source.CONTRACTION, source.SWEEP}),
    (rows, {source.ALL_PAIRS, source.SOLVE}),
    (measured, {source.SUMMARY, source.DEPENDENCIES}),
    (assigned, {source.LOADING, source.LINKS}),
]
"""Jobs, and some of the programs that each needs."""


@pytest.mark.parametrize("graph", [INT32, FLOAT32], ids=["int32", "float32"])
@pytest.mark.parametrize(("job", "programs"), JOBS, ids=lambda one: getattr(one, "__name__", ""))
def test_jobs_on_one_gpu(
    job: Callable[[Graph], None],
    programs: set[source.Program],
    graph: Graph,
    asked: set[Any],
) -> None:
    if job is prepared and graph is FLOAT32:
        pytest.skip("contraction takes integers")
    job(graph)
    assert programs <= {variant.program for variant in asked}
    assert asked <= set(BUILD.usual_variants())


@pytest.mark.skipif(not EMULATED, reason="threads of one process cannot map its own memory")
def test_a_solve_on_two_gpus(asked: set[Any]) -> None:
    def work(channel: Any) -> Any:
        with source_solver(channel, INT32, device="cuda") as solver:
            return solver.sssp(3)

    result = on_ranks(2, work)[0]
    assert result.statistics["mode"] == "fused"
    fused = source.options(np.dtype("int32"), wide_offsets=False, mode="fused")
    assert (source.SOLVE, fused) in asked
    assert asked <= set(BUILD.usual_variants())


@pytest.mark.skipif(not EMULATED, reason="CuPy does not say when it loads a kernel of its own")
def test_a_solve_on_several_gpus_needs_no_kernels_of_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    """To load those of its sums takes longer than to load the graph; here NumPy computes them."""
    import cupy

    def refuse(self: Any, ufunc: Any, method: str, *_: Any, **__: Any) -> Any:
        raise AssertionError(f"{ufunc.__name__} of an array on the GPU")

    def work(channel: Any) -> Any:
        with source_solver(channel, INT32, device="cuda") as solver:
            return solver.sssp(3)

    monkeypatch.setattr(cupy.ndarray, "__array_ufunc__", refuse)
    assert on_ranks(3, work)[0].statistics["mode"] == "fused"
