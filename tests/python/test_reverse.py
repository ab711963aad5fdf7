"""Distances to a vertex, and graphs that are turned round or weighed anew."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command import Run, as_json
from support.graphs import arcs_by_id, graph_of, graphs, random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.opening import solver_on
from support.reference import check_path, rows_from, turned_round

import groute_py
from groute_py import Graph, GraphError, InputError, NegativeCycleError, Positions, Result
from groute_py.jobs.solver import Solver
from groute_py.results.result import read_result


def check(graph: Graph, source: int, result: Result | None) -> None:
    """Distances and paths to the source; the certificate; and back from a file."""
    assert result is not None
    assert result.reverse
    np.testing.assert_array_equal(result.distances, scipy_distances(turned_round(graph), source))
    groute_py.verify(graph, result)
    for vertex in range(0, graph.vertex_count, 5):
        path = result.positions_to(Positions([vertex]))
        if path:
            assert (path[0], path[-1]) == (vertex, source)
            check_path(graph, path, result.distances[vertex])


@settings(max_examples=30)
@given(graph=graphs(), data=st.data())
def test_one_source(device: str, graph: Graph, data: st.DataObject) -> None:
    source = data.draw(st.integers(0, graph.vertex_count - 1))
    check(graph, source, groute_py.sssp(graph, source, reverse=True, device=device))


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["it.csr", "it.gr", None])
def test_on_ranks(tmp_path: Path, device: str, ranks: int, name: str | None) -> None:
    graph: Any = random_graph(120, 400, seed=ranks, greatest=9)
    given = graph
    if name is not None:
        groute_py.write_graph(graph, tmp_path / name)
        given = tmp_path / name

    def work(channel: Any) -> Result | None:
        with solver_on(channel, given, device=device, reverse=True) as solver:
            return solver.sssp(Positions([17]))

    check(graph, 17, on_ranks(ranks, work)[0])


def test_other_functions(device: str) -> None:
    graph = random_graph(60, 200, seed=8, greatest=9)
    wanted = rows_from(turned_round(graph), range(60))
    hops = groute_py.bfs(graph, 4, reverse=True, device=device)
    assert hops is not None
    groute_py.verify(graph, hops, hops=True)
    every = groute_py.apsp(graph, reverse=True, predecessors=True, device=device)
    assert every is not None
    np.testing.assert_array_equal(every.distances, wanted)
    path = every.path(4, 33)
    assert (path[0], path[-1]) == (33, 4)
    check_path(graph, path, wanted[4, 33])
    with groute_py.open(graph, reverse=True, device=device) as solver:
        check(graph, 4, solver.sssp(4))
        rows = solver.apsp([4], predecessors=True)
        assert rows is not None
        np.testing.assert_array_equal(rows.distances, wanted[[4]])
        path = rows.path(4, 33)
        assert (path[0], path[-1]) == (33, 4)


def test_targets_end_it() -> None:
    graph = groute_py.generate("road:40x40")
    some = groute_py.sssp(graph, 900, targets=[901, 860], reverse=True, device="cpu")
    assert some is not None
    wanted = scipy_distances(turned_round(graph), 900)
    assert some.statistics["bound"] == max(wanted[901], wanted[860])
    assert some.reached.sum() < 1000


CYCLE = graph_of(4, [(0, 1, 4), (1, 2, -6), (2, 3, 1), (3, 1, 2), (2, 0, 9)])
"""1 → 2 → 3 → 1 weighs −3."""


CALLS: dict[str, Callable[[str], Any]] = {
    "sssp": lambda device: groute_py.sssp(CYCLE, 0, reverse=True, device=device),
    "apsp": lambda device: groute_py.apsp(CYCLE, sources=[0], reverse=True, device=device),
    "matrix": lambda device: groute_py.matrix(CYCLE, [0], [1], reverse=True, device=device),
    "route": lambda device: groute_py.route(CYCLE, [(0, 1)], reverse=True, device=device),
    "nearest": lambda device: groute_py.nearest(CYCLE, [0], to_facility=True, device=device),
}
METHODS: dict[str, Callable[[Solver], Any]] = {
    "sssp": lambda solver: solver.sssp(0),
    "apsp": lambda solver: solver.apsp([0]),
    "matrix": lambda solver: solver.matrix([0], [1]),
    "route": lambda solver: solver.route([(0, 1)]),
    "nearest": lambda solver: solver.nearest([0]),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("of_solver", [False, True])
def test_a_negative_cycle_has_the_direction_of_the_graph(
    device: str, name: str, of_solver: bool
) -> None:
    def work() -> None:
        if not of_solver:
            CALLS[name](device)
            return
        with groute_py.open(CYCLE, reverse=True, device=device) as solver:
            METHODS[name](solver)

    with pytest.raises(NegativeCycleError) as caught:
        work()
    assert set(pairwise(caught.value.cycle)) == {(1, 2), (2, 3), (3, 1)}
    assert caught.value.weight == -3


def test_saved_results_know_it(tmp_path: Path) -> None:
    graph = random_graph(40, 150, seed=2, greatest=9)
    result = groute_py.sssp(graph, 3, reverse=True, device="cpu")
    assert result is not None
    result.save(tmp_path / "back.npz")
    check(graph, 3, read_result(tmp_path / "back.npz"))
    plain = groute_py.sssp(graph, 3, device="cpu")
    assert plain is not None
    plain.save(tmp_path / "out.npz")
    assert not read_result(tmp_path / "out.npz").reverse
    assert "reverse" not in np.load(tmp_path / "out.npz")


def test_on_the_command_line(tmp_path: Path, run: Run) -> None:
    (tmp_path / "town.csv").write_text("from,to,km\nhome,work,5\nwork,pub,2\n")
    town, out = tmp_path / "town.csv", tmp_path / "out.npz"
    words = ["sssp", town, "-s", "pub", "-t", "home", "--reverse", "--device", "cpu", "--verify"]
    result = as_json(run(*words, "--json", "-o", out))
    assert result["paths"] == [{"target": "home", "distance": 7, "path": ["home", "work", "pub"]}]
    assert result["reverse"]
    assert "path from home, length 7 km:" in run(*words).stdout
    assert as_json(run("verify", town, out, "--json"))["verified"]
    assert (
        "no path from pub"
        in run("sssp", town, "-s", "home", "-t", "pub", "--reverse", "--device", "cpu").stdout
    )
    rows = tmp_path / "rows.npy"
    run("apsp", town, "--sources", "pub", "--reverse", "-o", rows, "--device", "cpu")
    assert np.load(rows).tolist() == [[7, 2, 0]]


class TestGraphs:
    """`Graph.reversed`, `Graph.with_weights`, `Graph.arc`."""

    @settings(max_examples=40)
    @given(graph=graphs(dtype="float64"))
    def test_reversed(self, graph: Graph) -> None:
        back = graph.reversed()
        ours = [(tail, head, weight) for head, tail, weight in arcs_by_id(graph)]
        assert sorted(ours) == arcs_by_id(back)
        assert arcs_by_id(back.reversed()) == arcs_by_id(graph)

    def test_ids_stay(self, tmp_path: Path) -> None:
        (tmp_path / "town.csv").write_text("from,to,km\nhome,work,5\nwork,pub,2\n")
        back = groute_py.read_graph(tmp_path / "town.csv").reversed()
        assert arcs_by_id(back) == [("pub", "work", 2), ("work", "home", 5)]
        assert int(back.weights[back.arc("pub", "work")]) == 2

    def test_with_weights(self) -> None:
        graph = graph_of(3, [(0, 1, 4), (0, 2, 9), (1, 2, 3)])
        slow = graph.with_weights([1.5, 1, 1])
        assert slow.heads is graph.heads
        assert slow.weights.dtype == np.float64
        assert graph.weights.tolist() == [4, 9, 3]
        assert not slow.weights.flags.writeable
        result = groute_py.sssp(slow, 0, device="cpu")
        assert result is not None
        assert result.distances.tolist() == [0, 1.5, 1]

    @pytest.mark.parametrize(
        ("weights", "problem"),
        [
            ([1, 2], "must have one length"),
            ([[1, 2, 3]], "one-dimensional"),
            ([1, np.nan, 2], "must be finite"),
            (["a", "b", "c"], "array of numbers"),
        ],
    )
    def test_wrong_weights(self, weights: Any, problem: str) -> None:
        graph = graph_of(3, [(0, 1, 4), (0, 2, 9), (1, 2, 3)])
        with pytest.raises(GraphError, match=problem):
            graph.with_weights(weights)

    def test_arc(self) -> None:
        graph = graph_of(3, [(0, 1, 4), (0, 2, 9), (0, 2, 3), (0, 2, 3), (1, 1, 0)])
        assert [graph.arc(0, 1), graph.arc("0", 2), graph.arc(1, 1)] == [0, 2, 4]
        for ends, problem in [
            ((1, 0), "no arc of graph leads from 1 to 0"),
            ((0, 3), "vertex 3 is not a vertex"),
            (("x", 0), "is no integer"),
        ]:
            with pytest.raises(InputError, match=problem):
                graph.arc(*ends)
