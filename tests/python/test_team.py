"""Solves by several threads on a CPU, against SciPy and the certificate."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.graphs import graphs, random_graph, scipy_distances
from support.solving import solve, source_solver

from groute_py import UNREACHED, Graph, Result, RunError, SetupError, generate, verify
from groute_py.comm.base import SoloChannel
from groute_py.device.cpu import team
from groute_py.device.cpu.methods.bfs import BreadthFirst
from groute_py.kernels.cpu.kernel import Kernel
from groute_py.system import threads

EACH_EXAMPLE = [HealthCheck.function_scoped_fixture]


@pytest.fixture(autouse=True)
def _little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small graphs have a team too, and lists that have to grow."""
    monkeypatch.setattr(team, "ARCS_A_THREAD", 1)
    monkeypatch.setattr(team, "LEAST_ARCS", 1)
    monkeypatch.setattr(team, "FIRST_ROOM", 16)
    monkeypatch.setattr(team, "FEWEST", 4)
    monkeypatch.setattr(team, "SPINS", 100)  # threads share the cores of the machine
    monkeypatch.setattr(threads, "available_cores", lambda: 64)


def by_threads(
    monkeypatch: pytest.MonkeyPatch, count: int, graph: Graph, source: int, **options: object
) -> Result:
    monkeypatch.setenv("OMP_NUM_THREADS", str(count))
    monkeypatch.setattr(team, "TOGETHER_ARCS", 1 if count == 3 else 1 << 22)
    return solve(graph, source, device="cpu", **options)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
@settings(max_examples=40, suppress_health_check=EACH_EXAMPLE, deadline=None)
@given(data=st.data(), source=st.integers(0, 23), delta=st.sampled_from([None, 1.0, 1e9]))
def test_distances_and_tree(
    monkeypatch: pytest.MonkeyPatch,
    dtype: str,
    data: st.DataObject,
    source: int,
    delta: float | None,
) -> None:
    graph = data.draw(graphs(dtype))
    source %= graph.vertex_count
    trees = []
    for count in (2, 3, 8):
        result = by_threads(
            monkeypatch, count, graph, source, algorithm="delta-stepping", delta=delta
        )
        np.testing.assert_allclose(result.distances, scipy_distances(graph, source), rtol=1e-12)
        verify(graph, result)
        trees.append(result.predecessors)
    if graph.arc_count >= 8:
        np.testing.assert_array_equal(trees[0], trees[1])
        np.testing.assert_array_equal(trees[0], trees[2])


@pytest.mark.parametrize("spec", ["road:60x50", "rmat:10,8", "random:2000,9000"])
@pytest.mark.parametrize("cutoff", [None, 40])
def test_as_one_thread(monkeypatch: pytest.MonkeyPatch, spec: str, cutoff: int | None) -> None:
    graph = generate(spec)
    source = int(np.argmax(np.diff(graph.offsets)))
    one = by_threads(monkeypatch, 1, graph, source, cutoff=cutoff)
    for count in (2, 3, 8):
        result = by_threads(monkeypatch, count, graph, source, cutoff=cutoff)
        np.testing.assert_array_equal(result.distances, one.distances)
        assert result.distances.dtype == one.distances.dtype
        verify(graph, result, cutoff=cutoff)


@pytest.mark.parametrize("spec", ["road:60x50", "rmat:10,8", "random:2000,9000"])
@pytest.mark.parametrize("cutoff", [None, 4])
def test_breadth_first(monkeypatch: pytest.MonkeyPatch, spec: str, cutoff: int | None) -> None:
    graph = generate(spec).with_unit_weights()
    source = int(np.argmax(np.diff(graph.offsets)))
    how: dict[str, object] = {"algorithm": "bfs", "hops": True, "cutoff": cutoff}
    one = by_threads(monkeypatch, 1, graph, source, **how)
    verify(graph, one, cutoff=cutoff)
    trees = []
    for count, method in ((3, BreadthFirst), (4, team.TeamMethod), (8, team.TeamMethod)):
        monkeypatch.setenv("OMP_NUM_THREADS", str(count))
        with source_solver(SoloChannel(), graph, device="cpu", **how) as solver:
            result = solver.sssp(source)
            assert type(solver.device.parts) is method
        np.testing.assert_array_equal(result.distances, one.distances)
        verify(graph, result, cutoff=cutoff)
        trees.append(result.predecessors)
    np.testing.assert_array_equal(trees[1], trees[2])


def test_sums_beyond_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(300, 1500, 5, 2**31 - 1)
    result = by_threads(monkeypatch, 3, graph, 0)
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))
    reached = result.distances[result.distances != UNREACHED]
    assert reached.max() > 2**31
    assert result.statistics["distance_type"] == "int64"


def test_narrower_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Δ that is far too wide, on paths of light arcs beside heavy ones."""
    monkeypatch.setattr("groute_py.device.cpu.buffers.SLICE_ARCS_ALONE", 1 << 10)
    count = 3000
    steps = np.arange(count - 1)
    offsets = np.concatenate([2 * np.arange(count), [2 * count - 2]])
    heads = np.stack([steps + 1, np.minimum(steps + 50, count - 1)], axis=1).ravel()
    weights = np.stack([np.ones(count - 1, int), np.full(count - 1, 10**5)], axis=1).ravel()
    graph = Graph.from_arrays(offsets, heads, weights.astype(np.int32))
    result = by_threads(monkeypatch, 3, graph, 0, algorithm="delta-stepping", delta=1e8)
    np.testing.assert_array_equal(result.distances, np.arange(count))


@pytest.mark.parametrize("least", [0, 10**9])
def test_widened_buckets(monkeypatch: pytest.MonkeyPatch, least: int) -> None:
    """Buckets with little work, where arcs are few and nobody has named a width."""
    monkeypatch.setattr(team, "LEAST_WORK", least)
    monkeypatch.setattr(team, "FIRST_ROOM", 1 << 12)  # lists that grow end a run of buckets

    def steps(spec: str, count: int, **options: object) -> int:
        graph = generate(spec)
        result = by_threads(monkeypatch, count, graph, 1700, **options)
        np.testing.assert_array_equal(result.distances, scipy_distances(graph, 1700))
        verify(graph, result)
        return int(result.statistics["steps"])

    assert (steps("road:60x50", 3) < steps("road:60x50", 1)) == (least > 0)
    assert steps("road:60x50", 3, delta=300) == steps("road:60x50", 1, delta=300)
    assert steps("rmat:11", 3) == steps("rmat:11", 1)


@pytest.mark.parametrize("count", [2, 3])
def test_short_lists_and_many_buckets(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    for seed in range(8):
        graph = random_graph(300, 900, seed, 10)
        result = by_threads(monkeypatch, count, graph, 0, algorithm="delta-stepping", delta=3)
        np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))


def test_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads end with the solve, and the next one is right."""
    monkeypatch.setattr("groute_py.device.cpu.buffers.SLICE_ARCS_ALONE", 1)
    with pytest.raises(RunError, match="time limit"):
        by_threads(monkeypatch, 3, generate("road:200x200"), 20100, time_limit_s=0.001)


def test_a_child_process_has_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    graph = generate("road:30x30")
    with source_solver(SoloChannel(), graph, device="cpu") as solver:
        solver.sssp(7)
        with warnings.catch_warnings(action="ignore"):  # of threads, which the child does not have
            child = os.fork()
        if child == 0:  # its end is checked by the parent
            signal.alarm(60)
            result = solver.sssp(5)
            expected = scipy_distances(graph, 5)
            os._exit(0 if result is not None and (result.distances == expected).all() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = generate("road:30x30")
    by_threads(monkeypatch, 2, graph, 5)  # compiles

    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("groute-py-team"):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(SetupError, match="3 threads cannot be started"):
        by_threads(monkeypatch, 3, graph, 5)


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_ends_all_threads(monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    """Others would wait in a kernel for ever; a compiler that was interrupted is of no help."""
    graph = generate("road:30x30")
    by_threads(monkeypatch, 2, graph, 5)  # compiles
    kernel = team.team.relax

    def compiled(kernel: Kernel) -> Any:
        raise RuntimeError("interrupted")

    def relax(*arguments: Any) -> Any:
        if arguments[-2] == failing:
            monkeypatch.setattr(Kernel, "dispatcher", property(compiled))
            raise MemoryError
        return kernel(*arguments)

    monkeypatch.setattr(team.team, "relax", relax)
    with pytest.raises(MemoryError):
        by_threads(monkeypatch, 3, graph, 5)


def test_width_lost_in_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distances so great that those and Δ added are the same floats."""
    weights = np.array([1e17, 1.0, 16.0, 0.0, 64.0])
    offsets, heads = np.array([0, 1, 3, 4, 5, 5]), np.array([1, 2, 3, 4, 3], np.int32)
    graph = Graph.from_arrays(offsets, heads, weights)
    result = by_threads(monkeypatch, 2, graph, 0, algorithm="delta-stepping", delta=1e-3)
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))
