"""Distances between sources and targets: every method, on every device and number of ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph
from support.local_ranks import on_ranks
from support.opening import opened_on
from support.reference import rows_from

import groute_py
from groute_py import Graph, InputError, Matrix, NegativeCycleError
from groute_py.comm.base import SoloChannel
from groute_py.device.cpu import sweeps
from groute_py.device.cpu.rows import CpuGraph
from groute_py.device.cpu.sweeps import CpuSweeps
from groute_py.device.rows import NarrowError
from groute_py.engine.options import Options
from groute_py.graph.direction import Direction
from groute_py.graph.hierarchy.problems import DenseError
from groute_py.jobs.matrix import MatrixJob
from groute_py.many import solve
from groute_py.many.choose import Choice
from groute_py.many.row_graph import RowGraph
from groute_py.many.solve import Solving
from groute_py.system import memory_limits


def check(graph: Graph, matrix: Matrix | None) -> None:
    """Against SciPy; each predecessor is the tail of a tight arc."""
    assert matrix is not None
    rows = rows_from(graph, matrix.sources)
    wanted = rows[:, matrix.targets]
    if graph.weights.dtype.kind == "f":
        np.testing.assert_allclose(matrix.distances, wanted, rtol=1e-5, atol=1e-9)
    else:
        np.testing.assert_array_equal(matrix.distances, wanted)
        assert matrix.distances.dtype == np.int64
    if matrix.predecessors is None:
        return
    assert matrix.predecessors.shape == matrix.distances.shape
    for (row, column), before in np.ndenumerate(matrix.predecessors):
        target, known = matrix.targets[column], wanted[row, column]
        if before < 0:
            none = known in (np.inf, groute_py.UNREACHED)
            assert none or target == matrix.sources[row]
            continue
        out = slice(graph.offsets[before], graph.offsets[before + 1])
        weight = graph.weights[out][graph.heads[out] == target].min()
        np.testing.assert_allclose(float(rows[row, before]) + weight, float(known), rtol=1e-5)


@settings(max_examples=25)
@given(graph=graphs(), data=st.data())
def test_some_ends(device: str, method: str, graph: Graph, data: st.DataObject) -> None:
    vertices = st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=9)
    ends = data.draw(vertices), data.draw(vertices)
    options: Any = {"algorithm": method, "device": device, "predecessors": True}
    check(graph, groute_py.matrix(graph, *ends, **options))


@settings(max_examples=15)
@given(graph=graphs(least=-3, greatest=12))
def test_negative_weights(device: str, method: str, graph: Graph) -> None:
    ends = [0, graph.vertex_count // 2], [graph.vertex_count - 1, 0, 0]
    try:
        result = groute_py.matrix(graph, *ends, algorithm=method, device=device)
    except NegativeCycleError as error:
        cycle = error
    else:
        check(graph, result)
        return
    assert cycle.weight < 0


@settings(max_examples=15)
@given(graph=graphs(dtype="float32"))
def test_floats(device: str, method: str, graph: Graph) -> None:
    ends = [0], list(range(graph.vertex_count))[::-1]
    trees = method != "floyd"
    if method == "sweep":
        with pytest.raises(InputError, match="rounded in another order"):
            groute_py.matrix(graph, *ends, algorithm=method, device=device)
        return
    check(
        graph,
        groute_py.matrix(graph, *ends, algorithm=method, device=device, predecessors=trees),
    )


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("reverse", [False, True])
def test_on_ranks(device: str, ranks: int, reverse: bool) -> None:
    graph = random_graph(150, 500, seed=ranks, greatest=9)
    sources, targets = np.array([7, 7, 149, 0, 20, 3, 1]), np.array([5, 149, 5, 0])

    def work(channel: Any) -> Matrix | None:
        opened = opened_on(channel, graph, device=device, reverse=reverse)
        return opened.answer(MatrixJob(sources, targets, predecessors=True))

    result, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    assert result is not None
    assert result.reverse == reverse
    check(graph.reversed() if reverse else graph, result)


def test_many_pieces(device: str) -> None:
    """More rows than leave a GPU at once."""
    graph = random_graph(3000, 9000, seed=4, greatest=50)
    ends = np.random.default_rng(1).integers(0, 3000, (2, 300))
    result = groute_py.matrix(graph, *ends, device=device, algorithm="batch", predecessors=True)
    assert result is not None
    some = groute_py.apsp(graph, sources=ends[0], device="cpu", algorithm="heap")
    assert some is not None
    np.testing.assert_array_equal(result.distances, some.distances[:, ends[1]])


@pytest.mark.parametrize(
    ("sources", "targets", "problem"),
    [
        ([3], [0], "source 3 is not a vertex"),
        ([0], [-1], "target -1 is not a vertex"),
        ([], [0], "sources must be a list of at least one"),
        ([0], [], "targets must be a list of at least one"),
        ([0], None, "must be lists, not None"),
        ([0], [[1]], "targets must be a list"),
        ([0], ["a"], "target 'a' is no integer"),
        ([0.5], [0], "source 0.5 is no integer"),
    ],
)
def test_wrong_ends(sources: Any, targets: Any, problem: str) -> None:
    graph = graph_of(3, [(0, 1, 1)])
    with pytest.raises(InputError, match=problem):
        groute_py.matrix(graph, sources, targets, device="cpu")
    with groute_py.open(graph, device="cpu") as solver:
        with pytest.raises(InputError, match=problem):
            solver.matrix(sources, targets)
        assert solver.matrix([0], [1]) is not None


def test_a_matrix_that_fits_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its columns alone count."""
    graph = random_graph(100, 300, seed=1, greatest=3)
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 1000)
    assert groute_py.matrix(graph, range(100), [0], device="cpu") is not None
    with pytest.raises(InputError, match=r"100 rows of 2 vertices take 1,600 bytes, and 1,000"):
        groute_py.matrix(graph, range(100), [0, 1], device="cpu")


def test_a_sum_beyond_int64(device: str) -> None:
    half = 2**62
    graph = graph_of(4, [(0, 1, half), (1, 2, half), (2, 3, half)], "int64")
    with pytest.raises(groute_py.RunError, match="does not fit"):
        groute_py.matrix(graph, [0], [3], device=device)


def test_what_is_in_place_for_the_next_matrix() -> None:
    """A solver that has answered for options like these."""
    road, options = groute_py.generate("road:9x9"), Options(device="cpu", predecessors=False)
    swept = Choice("sweep", "cpu", "")
    kept = RowGraph.of(road, Direction.FORWARD, Direction.FORWARD)
    assert kept.resident(options) is None
    solving = kept.solving(None, options, swept, SoloChannel())
    assert kept.resident(options) is None
    list(solving.blocks(np.array([3])))
    assert kept.resident(options) == swept
    assert kept.resident(replace(options, predecessors=not options.predecessors)) is None


def test_what_takes_over_from_sweeps_is_not_in_place_as_these(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next choice is made by what sweeps and others take when both begin."""

    def resisting(*_: Any, **_how: Any) -> CpuSweeps:
        raise DenseError(100, 90.0)

    monkeypatch.setattr(solve, "CpuSweeps", resisting)
    road, options = groute_py.generate("road:9x9"), Options(device="cpu", predecessors=False)
    kept = RowGraph.of(road, Direction.FORWARD, Direction.FORWARD)
    swept = Choice("sweep", "cpu", "")
    solving = kept.solving(None, options, swept, SoloChannel())
    list(solving.blocks(np.array([3])))
    assert kept.resident(options) is None
    assert kept.solving(None, options, swept, SoloChannel()) is solving


def test_a_solver_is_gone_before_a_wider_one_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU has no room for both."""
    road, options = groute_py.generate("road:9x9"), Options(device="cpu", predecessors=False)
    solving = Solving(road, None, options, Choice("sweep", "cpu", ""), SoloChannel(), stays=True)
    narrow: list[Any] = []

    class Narrow(CpuSweeps):
        def blocks(self, *ends: Any) -> Any:
            for _ in super().blocks(*ends):
                raise NarrowError
            yield

    def opened(kind: np.dtype[Any]) -> CpuSweeps:
        assert [solver() for solver in narrow] == [None] * len(narrow)
        if narrow:
            return CpuSweeps(CpuGraph(road, kind), None, predecessors=False)
        result = Narrow(CpuGraph(road, kind), None, predecessors=False)
        narrow.append(ref(result))
        return result

    monkeypatch.setattr(solving, "opened", opened)
    list(solving.blocks(np.array([3])))
    assert solving.is_open
    assert len(narrow) == 1


def test_few_sources_go_with_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open solver does not contract its graph anew because of a question between."""
    contracted: list[object] = []
    contract = sweeps._contracted
    monkeypatch.setattr(sweeps, "_contracted", lambda g: contracted.append(g) or contract(g))
    with groute_py.open(groute_py.generate("road:100x100"), device="cpu") as solver:
        for count in (2000, 1, 2000):
            result = solver.matrix(np.arange(count), [5])
            assert result is not None
            assert result.statistics["algorithm"] == "sweep"
    assert len(contracted) == 1


def test_a_solver_with_predecessors_stays_beside_one_without() -> None:
    road, swept = groute_py.generate("road:9x9"), Choice("sweep", "cpu", "")
    kept = RowGraph.of(road, Direction.FORWARD, Direction.FORWARD)
    both = [Options(device="cpu", predecessors=predecessors) for predecessors in (False, True)]
    first = [kept.solving(None, options, swept, SoloChannel()) for options in both]
    rows = [next(solving.blocks(np.array([3]))) for solving in first]
    assert [block.predecessors is None for block in rows] == [True, False]
    assert [kept.solving(None, options, swept, SoloChannel()) for options in both] == first
