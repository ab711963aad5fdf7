"""Solvers and prepared graphs that are pickled as their recipe, and opened once a process."""

from __future__ import annotations

import gc
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest
from support.graphs import graph_of, random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.prepared_town import ROAD
from support.processes import run_python
from support.turn_cases import rows_of, some_turns

import groute_py
from groute_py import Graph, InputError, PreparedGraph, RunError, Solver
from groute_py.engine.options import Options
from groute_py.graph.direction import Direction
from groute_py.many.opened import Opened
from groute_py.many.recipe import MOST_REOPENED
from groute_py.many.row_graph import RowGraph
from groute_py.source.graph_source import GraphSource


def again(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))


def file_of(solver: Solver) -> Path:
    """Return the file by which a solver of this process goes to another."""
    path: Path = pickle.loads(solver.__reduce__()[1][0]).path
    return path


ZEROS = graph_of(6, [(0, 0, 3), (0, 1, 0), (0, 1, 5), (1, 2, 0), (2, 0, 1), (4, 5, 2)])
"""Loops, parallel arcs, weights of 0, and parts that no path joins."""


@pytest.mark.parametrize(
    "graph",
    [
        ZEROS,
        graph_of(1, []),
        graph_of(3, []),
        random_graph(50, 200, 1, 2**40, "int64"),
        graph_of(3, [(0, 1, 0.5), (1, 2, 0.25)], "float64"),
        graph_of(3, [(0, 1, -2), (1, 2, 1)]),
        ROAD,
    ],
    ids=["zeros", "one vertex", "no arcs", "int64", "float64", "negative", "road"],
)
@pytest.mark.parametrize("suffix", ["", ".csr", ".gr"])
def test_it_answers_as_the_one_that_was_pickled(graph: Graph, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"graph{suffix}"
    if suffix == ".gr" and graph.weights.dtype.kind == "f":
        pytest.skip("a .gr has integers")
    if suffix:
        groute_py.write_graph(graph, path)
    first = 1 if suffix == ".gr" else 0
    with groute_py.open(path if suffix else graph, device="cpu") as solver, again(solver) as other:
        assert other is not solver
        for vertex in range(min(graph.vertex_count, 6)):
            found = other.sssp(vertex + first).distances
            np.testing.assert_array_equal(found, solver.sssp(vertex + first).distances)
            np.testing.assert_array_equal(found, scipy_distances(graph, vertex))


def test_options_ids_and_columns_go_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "town.csv"
    table.write_text("from,to,time_s,toll\na,b,60,1\nb,c,120,1\na,c,240,1\n")
    monkeypatch.chdir(tmp_path)
    how: Any = {"device": "cpu", "weight": "time_s", "ignore_columns": ["toll"]}
    with groute_py.open("town.csv", cutoff="2min", reverse=True, **how) as solver:
        pickled = pickle.dumps(solver)
        monkeypatch.chdir("/")
        with pickle.loads(pickled) as other:
            found = other.sssp("c")
            assert [found.distance_to(name) for name in "abc"] == [None, 120, 0]
            assert other.nearest(["a"]).to_frame().equals(solver.nearest(["a"]).to_frame())
    cities = {"tail": ["b", "a"], "head": ["c", "b"], "km": [2, 3], "x": [9, 9]}
    with groute_py.open(cities, weight="x", device="cpu", hops=True) as solver:
        assert again(solver).bfs("a").distance_to("c") == 2
        assert again(solver).sssp("a").distance_to("c") == 2
        again(solver).close()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("in_file", [False, True])
def test_turns_go_along(reverse: bool, in_file: bool, tmp_path: Path) -> None:
    turns, graph = rows_of(some_turns(ROAD, 5)), tmp_path / "road.csr" if in_file else ROAD
    groute_py.write_graph(ROAD, tmp_path / "road.csr")
    how: Any = {"device": "cpu", "turns": turns, "reverse": reverse}
    with groute_py.open(graph, **how) as solver, again(solver) as other:
        found, known = other.sssp(21).distances, solver.sssp(21).distances
        np.testing.assert_array_equal(found, known)
        plain = scipy_distances(ROAD.reversed() if reverse else ROAD, 21)
        assert (found != plain).any()


def test_other_weights_and_the_other_direction_go_along(tmp_path: Path) -> None:
    groute_py.write_graph(ROAD, tmp_path / "road.csr")
    with groute_py.open(tmp_path / "road.csr", device="cpu") as solver:
        assert file_of(solver) == tmp_path / "road.csr"
        with again(solver) as other, solver.reversed() as backward, again(backward) as there:
            backwards = scipy_distances(ROAD.reversed(), 9)
            np.testing.assert_array_equal(there.sssp(9).distances, backwards)
            np.testing.assert_array_equal(other.sssp(9).distances, scipy_distances(ROAD, 9))
        slower = ROAD.with_weights(2 * ROAD.weights)
        solver.update(slower.weights)
        with again(solver) as other:
            np.testing.assert_array_equal(other.sssp(9).distances, scipy_distances(slower, 9))
            other.update([1], arcs=[0])
            with again(other) as changed:
                assert changed.facts.least == 1


def test_a_relative_path_is_that_of_the_folder_in_which_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groute_py.write_graph(ROAD, tmp_path / "road.csr")
    monkeypatch.chdir(tmp_path)
    with groute_py.open("road.csr", device="cpu") as solver:
        monkeypatch.chdir("/")
        with again(solver) as other:
            assert other.sssp(9).distance_to(9) == 0
        assert solver.sssp(9).distance_to(9) == 0


def test_a_process_keeps_the_solvers_used_last() -> None:
    with ExitStack() as stack:
        solvers = [
            stack.enter_context(groute_py.open(graph_of(size, []), device="cpu"))
            for size in range(1, MOST_REOPENED + 2)
        ]
        copies = [ref(again(solver)) for solver in solvers]
        gc.collect()
        assert [copy() is None for copy in copies] == [True] + [False] * MOST_REOPENED
        assert again(solvers[1]) is copies[1]()
        again(solvers[0])
        gc.collect()
        assert [number for number, copy in enumerate(copies) if copy() is None] == [0, 2]


def test_a_process_opens_it_once_and_when_it_is_used() -> None:
    with groute_py.open(ROAD, device="cpu") as solver:
        one = again(solver)
        assert again(solver) is one
        assert again(one) is one  # as a task passes it on
        assert "_opened" not in vars(one)
        assert one.facts == solver.facts
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            one.nonsense  # noqa: B018
        one.close()
        other = again(solver)
        assert other is not one
        assert other.sssp(3).distances[3] == 0
        other.close()
        with pytest.raises(RunError, match="closed"):
            one.sssp(3)
    with groute_py.open("road:20x20", device="cpu") as solver:
        pass
    with pytest.raises(RunError, match="this solver is closed"):
        pickle.dumps(solver)


@pytest.mark.parametrize("loss", ["change", "remove"])
def test_a_file_that_is_another_is_an_error(loss: str, tmp_path: Path) -> None:
    path = tmp_path / "road.gr"
    groute_py.write_graph(ROAD, path)
    with groute_py.open(path, device="cpu") as solver:
        other = again(solver)
        if loss == "change":
            groute_py.write_graph(groute_py.generate("road:20x21"), path)
        else:
            path.unlink()
        what = {"change": "was changed", "remove": "cannot be read: No such file"}[loss]
        with pytest.raises(InputError, match=rf"road.gr: {what}.* open it again$"):
            other.sssp(3)


@pytest.mark.parametrize("loss", ["change", "remove"])
def test_a_prepared_file_that_is_another_is_an_error(loss: str, tmp_path: Path) -> None:
    path = tmp_path / "road.prepared"
    groute_py.write_graph(groute_py.prepare(ROAD, device="cpu"), path)
    pickled = pickle.dumps(groute_py.read_graph(path))
    if loss == "change":
        other = ROAD.with_weights(2 * ROAD.weights)
        groute_py.write_graph(groute_py.prepare(other, device="cpu"), path)
    else:
        path.unlink()
    what = {"change": "another prepared graph than before", "remove": "No such file"}[loss]
    with pytest.raises(InputError, match=rf"road.prepared: .*{what}.*, and read that$"):
        pickle.loads(pickled)


@pytest.mark.parametrize("loss", ["change", "remove"])
def test_a_solver_of_a_prepared_graph_whose_file_is_another(loss: str, tmp_path: Path) -> None:
    """The other process gets the graph that this one has mapped, not what the file has."""
    path = tmp_path / "road.prepared"
    groute_py.write_graph(groute_py.prepare(ROAD, device="cpu"), path)
    town = groute_py.read_graph(path)
    if loss == "change":
        other = ROAD.with_weights(2 * ROAD.weights)
        groute_py.write_graph(groute_py.prepare(other, device="cpu"), path)
    else:
        path.unlink()
    with groute_py.open(town, device="cpu") as solver, again(solver) as there:
        np.testing.assert_array_equal(there.sssp(21).distances, scipy_distances(ROAD, 21))
        assert there.sssp(21).statistics["algorithm"] == "contraction"


def test_other_weights_of_a_copy_are_not_those_of_the_next() -> None:
    with groute_py.open(ROAD, device="cpu") as solver, again(solver) as one:
        one.update(2 * ROAD.weights)
        with again(solver) as other:
            np.testing.assert_array_equal(other.sssp(21).distances, scipy_distances(ROAD, 21))


def test_several_ranks_do_not_go_along() -> None:
    def work(channel: Any) -> None:
        solver = Solver(Opened(GraphSource(ROAD), channel, Options(device="cpu")))
        with solver, pytest.raises(InputError, match=r"a solver of 2 ranks cannot .*COMM_SELF"):
            pickle.dumps(solver)

    on_ranks(2, work)


def test_a_prepared_graph_is_mapped_once(tmp_path: Path) -> None:
    town = groute_py.prepare(ROAD, device="cpu")
    other = again(town)
    assert again(town) is again(other) is other
    assert isinstance(other, PreparedGraph)
    assert len(pickle.dumps(town)) < 1000
    np.testing.assert_array_equal(other.hierarchy.down, town.hierarchy.down)
    np.testing.assert_array_equal(other.weights, town.weights)
    with groute_py.open(town, device="cpu") as solver, again(solver) as there:
        assert file_of(solver) == other.file.path
        assert there.sssp(21).statistics["algorithm"] == "contraction"


@pytest.mark.parametrize("kind", ["int32", "float64"])
def test_a_customized_graph_has_its_order_and_weights(kind: str, device: str) -> None:
    town = groute_py.customize(ROAD, device=device)
    weights = np.random.default_rng(3).integers(0, 900, ROAD.arc_count) / 8
    town.update(weights.astype(kind))
    town.update([5], arcs=[7])
    other = again(town)
    assert (other.unit, other.statistics) == (town.unit, town.statistics)
    sources, targets = np.random.default_rng(4).integers(0, ROAD.vertex_count, (2, 50))
    right = town.matrix(sources, targets)
    np.testing.assert_array_equal(other.matrix(sources, targets), right)
    np.testing.assert_array_equal(other.pairs(sources, targets), right.diagonal())
    ways, others = (one.paths(sources, targets) for one in (town, other))
    assert [list(way) for way in ways] == [list(way) for way in others]
    other.update(np.ones(ROAD.arc_count, kind))
    np.testing.assert_array_equal(again(town).matrix(sources, targets), right)


def test_ranks_get_a_prepared_graph_without_its_file() -> None:
    town = again(groute_py.prepare(ROAD, device="cpu"))
    whole = again(RowGraph.of(town, Direction.FORWARD, Direction.FORWARD)).graph
    assert isinstance(whole, PreparedGraph)
    assert whole.file is None
    np.testing.assert_array_equal(whole.hierarchy.down, town.hierarchy.down)
    assert type(again(RowGraph.of(ROAD, Direction.FORWARD, Direction.FORWARD)).graph) is Graph


def solved(solver: Solver, source: int) -> tuple[int, int, Any]:
    result = solver.sssp(source)
    assert result is not None
    return os.getpid(), id(solver), result.distances


@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_other_processes_answer(start: str) -> None:
    sources = list(range(12))
    with groute_py.open(ROAD, device="cpu", threads=1) as solver:
        solver.sssp(0)
        with ProcessPoolExecutor(2, mp_context=get_context(start)) as pool:
            answers = list(pool.map(solved, [solver] * len(sources), sources))
    assert os.getpid() not in {process for process, *_ in answers}
    assert len({(process, one) for process, one, _ in answers}) <= 2
    for source, (*_, distances) in zip(sources, answers, strict=True):
        np.testing.assert_array_equal(distances, scipy_distances(ROAD, source))


def test_the_temporary_file_goes_with_the_process(tmp_path: Path) -> None:
    code = """
import os, pickle, sys, groute_py
solver = groute_py.open("road:20x20", device="cpu")
town = pickle.dumps((solver, groute_py.prepare("road:9x9", device="cpu")))
if os.fork() == 0:
    sys.exit()
os.wait()
print(len(os.listdir(os.listdir(".")[0])))
"""
    done = run_python(f"import os; os.chdir({str(tmp_path)!r}){code}", TMPDIR=str(tmp_path))
    assert done.stdout == "2\n", done.stderr
    assert not list(tmp_path.iterdir())
