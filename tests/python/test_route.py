"""Routes between pairs: distances and paths, on every device and number of ranks."""

from __future__ import annotations

import errno
import math
import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph
from support.keeping import raising_at, row_by_row, write_at_once
from support.kept_rows import listing
from support.local_ranks import on_ranks
from support.opening import opened_on
from support.reference import check_path, rows_from

import groute_py
from groute_py import (
    UNREACHED,
    Graph,
    InputError,
    NegativeCycleError,
    Routes,
    RunError,
    TimeLimitError,
)
from groute_py.comm.agree import on_root
from groute_py.comm.base import SoloChannel
from groute_py.device.cpu.hierarchy import CpuHierarchy
from groute_py.device.cpu.rows import CpuGraph
from groute_py.device.cpu.searches import TwoSidedSearch, UpSearch
from groute_py.engine.options import Options
from groute_py.io.pairs import read_pairs_in
from groute_py.jobs import pairs as pair_jobs
from groute_py.jobs.route import RouteJob
from groute_py.jobs.searches import Group
from groute_py.many.choose import Choice
from groute_py.many.opened import Work
from groute_py.many.solve import Solving
from groute_py.many.storage.store import PartFile, Store


def check(graph: Graph, pairs: Any, routes: Routes | None, *, reverse: bool = False) -> None:
    """Against SciPy; paths lead along arcs from end to end."""
    assert routes is not None
    ends = np.asarray(pairs)[:, ::-1] if reverse else np.asarray(pairs)
    sources, rows = np.unique(ends[:, 0], return_inverse=True)
    wanted = rows_from(graph, sources)[rows, ends[:, 1]]
    np.testing.assert_array_equal(routes.pairs, pairs)
    if graph.weights.dtype.kind == "f":
        np.testing.assert_allclose(routes.distances, wanted, rtol=1e-5, atol=1e-9)
    else:
        np.testing.assert_array_equal(routes.distances, wanted)
    if routes.paths is None:
        return
    for (begin, end), path, length in zip(ends.tolist(), routes.paths, wanted, strict=True):
        if length in (np.inf, groute_py.UNREACHED):
            assert len(path) == 0
        else:
            assert (path[0], path[-1]) == (begin, end)
            check_path(graph, path.tolist(), length)


@settings(max_examples=40)
@given(graph=graphs(greatest=5), paths=st.booleans(), data=st.data())
def test_some_pairs(device: str, graph: Graph, paths: bool, data: st.DataObject) -> None:
    vertex = st.integers(0, graph.vertex_count - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), min_size=1, max_size=20))
    check(graph, pairs, groute_py.route(graph, pairs, paths=paths, device=device))


@settings(max_examples=60)
@given(graph=graphs(greatest=3), data=st.data())
def test_from_both_ends(graph: Graph, data: st.DataObject) -> None:
    """One search after the other, between the ends of pairs, of which some have no path."""
    arcs = CpuGraph(graph, np.dtype(np.int64))
    search, rows = TwoSidedSearch(arcs), rows_from(graph, range(graph.vertex_count))
    vertex = st.integers(0, graph.vertex_count - 1)
    for source, target in data.draw(st.lists(st.tuples(vertex, vertex), min_size=1, max_size=9)):
        result = search.run(source, np.array([target, target]), math.inf)
        assert result.tolist() == [rows[source, target]] * 2
        path = search.path(target).tolist()
        assert path[:1] + path[-1:] == ([source, target] if result[0] != UNREACHED else [])
        check_path(graph, path, result[0] if path else 0)


def test_upward_from_both_ends() -> None:
    road = groute_py.generate("road:14x14")
    town = groute_py.prepare(road, device="cpu")
    search = UpSearch(CpuHierarchy(town.hierarchy, np.dtype(np.int64)))
    every = np.arange(road.vertex_count)
    for source in (0, 37, 195, 37):
        result = search.run(source, every, math.inf)
        np.testing.assert_array_equal(result, rows_from(road, [source])[0])
    pairs = [(37, 5), (37, 90), (3, 3), (195, 37)]
    for reverse in (False, True):
        routes = groute_py.route(town, pairs, device="cpu", reverse=reverse)
        check(road, pairs, routes, reverse=reverse)
    check(road, pairs, groute_py.route(town, pairs, paths=True, device="cpu"))
    with pytest.raises(TimeLimitError):
        search.run(0, every, 0.0)
    assert search.run(3, every[3:4], math.inf).tolist() == [0]


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_sums_that_may_not_fit(dtype: str) -> None:
    """They are searched for from the source alone, which notices it."""
    graph = graph_of(3, [(0, 1, 2**62), (1, 2, 2**62), (0, 2, 7)], dtype)
    routes = groute_py.route(graph, [(0, 1), (0, 2)], device="cpu")
    assert routes is not None
    assert routes.distances.tolist() == [2**62, 7]


@settings(max_examples=20)
@given(graph=graphs(dtype="float64"), paths=st.booleans())
def test_floats(device: str, graph: Graph, paths: bool) -> None:
    pairs = [(v, (7 * v + 3) % graph.vertex_count) for v in range(graph.vertex_count)]
    check(graph, pairs, groute_py.route(graph, pairs, paths=paths, device=device))


@settings(max_examples=30)
@given(graph=graphs(least=-2, greatest=9))
def test_negative_weights(device: str, graph: Graph) -> None:
    pairs = [(0, v) for v in range(graph.vertex_count)]
    try:
        routes = groute_py.route(graph, pairs, paths=True, device=device)
    except NegativeCycleError as error:
        cycle = error
    else:
        check(graph, pairs, routes)
        return
    assert cycle.weight < 0


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("reverse", [False, True])
def test_on_ranks(device: str, ranks: int, reverse: bool) -> None:
    graph = random_graph(150, 500, seed=ranks, greatest=9)
    pairs = np.random.default_rng(ranks).integers(0, 150, (60, 2))
    pairs[:20, 0] = 7  # many of one source

    def work(channel: Any) -> Routes | None:
        opened = opened_on(channel, graph, device=device, reverse=reverse)
        return opened.answer(RouteJob(pairs, paths=True))

    routes, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    check(graph, pairs, routes, reverse=reverse)


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_go_on(tmp_path: Path, ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 0's disk fills up after the first round; other ranks go on with what is there."""
    write_at_once(monkeypatch)
    graph = random_graph(150, 500, seed=ranks, greatest=9)
    pairs = np.random.default_rng(ranks).integers(0, 150, (400, 2))
    done: list[tuple[int, int]] = []

    def work(channel: Any, *, resume: bool) -> Routes | None:
        keep = Store(tmp_path / "out.csv", "sources", resume=resume)
        work = Work(lambda *n: done.append(n) if channel.rank == 0 else None, keep)
        with closing(keep):
            result = opened_on(channel, graph).answer(RouteJob(pairs, paths=True), work)
            on_root(channel, keep.finish)
        return result

    with monkeypatch.context() as change:
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        change.setattr(PartFile, "append", raising_at(2, PartFile.append, full))
        with pytest.raises(RunError, match=r"No space left .* --resume"):
            on_ranks(ranks, partial(work, resume=False))
    first = 16 * ranks
    done.clear()
    routes, *_ = on_ranks(ranks - 1, partial(work, resume=True))
    check(graph, pairs, routes)
    assert done[0][0] == first
    assert done[-1][0] == done[-1][1] == len(np.unique(pairs[:, 0]))
    assert listing(tmp_path) == []


def test_more_ranks_than_sources(device: str) -> None:
    graph = random_graph(50, 200, seed=1, greatest=9)

    def work(channel: Any) -> Routes | None:
        pairs = np.array([[3, 4]])
        return opened_on(channel, graph, device=device).answer(RouteJob(pairs))

    check(graph, [[3, 4]], on_ranks(4, work)[0])


def test_searches_leave_nothing(device: str) -> None:
    """One solver, call after call: near and far targets, unreachable ones, the source itself."""
    graph = random_graph(200, 450, seed=6, greatest=30)
    random = np.random.default_rng(3)
    with groute_py.open(graph, device=device) as solver:
        for count in (1, 1, 5, 1, 30, 1):
            pairs = random.integers(0, 200, (count, 2))
            check(graph, pairs, solver.route(pairs, paths=True))
        check(graph, [(5, 5), (5, 5)], solver.route([(5, 5), (5, 5)], paths=True))


def test_sources_in_several_goes(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_jobs, "SOURCES_AT_ONCE", 7)
    graph = random_graph(80, 300, seed=6, greatest=30)
    pairs = np.random.default_rng(3).integers(0, 80, (50, 2))
    check(graph, pairs, groute_py.route(graph, pairs, device=device))


def test_hops_of_a_solver() -> None:
    graph = random_graph(80, 300, seed=6, greatest=30)
    pairs = [(0, 5), (7, 9)]
    with groute_py.open(graph, device="cpu", hops=True) as solver:
        check(graph.with_unit_weights(), pairs, solver.route(pairs, paths=True))


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ([], "a source and a target each"),
        ([1, 2], "a source and a target each"),
        ([[1, 2, 0]], "a source and a target each"),
        ([[0, 3]], "target 3 is not a vertex"),
        ([[-1, 0]], "source -1 is not a vertex"),
        ([[0.5, 1]], "source 0.5 is no integer"),
    ],
)
def test_wrong_pairs(pairs: Any, problem: str) -> None:
    graph = graph_of(3, [(0, 1, 1)])
    with pytest.raises(InputError, match=problem):
        groute_py.route(graph, pairs, device="cpu")
    with groute_py.open(graph, device="cpu") as solver, pytest.raises(InputError, match=problem):
        solver.route(pairs)


def test_a_sum_beyond_int64() -> None:
    half = 2**62
    graph = graph_of(5, [(0, 1, half), (1, 2, half), (2, 3, half), (0, 4, 1)], "int64")
    near = groute_py.route(graph, [(0, 4), (0, 1)], device="cpu")
    assert near is not None
    assert near.distances.tolist() == [1, half]
    with pytest.raises(RunError, match="does not fit"):
        groute_py.route(graph, [(0, 3)], device="cpu")


def test_a_sum_beyond_float64() -> None:
    graph = graph_of(3, [(0, 1, 1.2e308), (1, 2, 1.2e308)], "float64")
    with pytest.raises(RunError, match=r"does not fit in float64; scale the weights down$"):
        groute_py.route(graph, [(0, 2)], device="cpu")
    with pytest.raises(RunError, match=r"does not fit in float64: .*; scale them down$"):
        groute_py.sssp(graph, 0, device="cpu")


def test_a_time_limit() -> None:
    graph = groute_py.generate("road:1000x1000")
    with groute_py.open(graph, device="cpu", time_limit_s=1e-6) as solver:
        with pytest.raises(TimeLimitError, match="give more time"):
            solver.route([(1001, 998_998)])
        assert solver.matrix([5], [9]) is not None  # complete with the first block


def test_a_time_limit_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends a job between two blocks, and one that is complete is no more late."""
    row_by_row(monkeypatch)
    graph, channel = groute_py.generate("road:10x10"), SoloChannel()
    options, choice = Options(device="cpu", predecessors=False), Choice("heap", "cpu", "")
    find = partial(pair_jobs.by_rows, Solving(graph, None, options, choice, channel))
    groups = [Group(source, np.array([0]), np.array([5])) for source in range(64)]
    every = find(groups, paths=False, deadline=0.0)
    with pytest.raises(TimeLimitError, match="give more time"):
        list(every)
    assert len(list(find(groups[:1], paths=False, deadline=0.0))) == 1


def test_a_time_limit_of_short_searches() -> None:
    with (
        groute_py.open("road:10x10", device="cpu", time_limit_s=1e-6) as solver,
        pytest.raises(TimeLimitError, match="the time limit passed"),
    ):
        solver.route([(11, 12), (13, 14)])


def test_tables(tmp_path: Path) -> None:
    (tmp_path / "town.csv").write_text('from,to,km\n"a,b",inn,3\ninn,bar,1\n')
    graph = groute_py.read_graph(tmp_path / "town.csv")
    routes = groute_py.route(graph, [("a,b", "bar"), ("bar", "a,b")], paths=True, device="cpu")
    assert routes is not None
    assert [routes.path(row) for row in (0, 1)] == [["a,b", "inn", "bar"], []]
    routes.save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == (
        "source,target,distance_km,path\n"
        '"a,b",bar,4,"[""a,b"", ""inn"", ""bar""]"\nbar,"a,b",inf,[]\n'
    )
    pq = pytest.importorskip("pyarrow.parquet")
    routes.save(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pylist()[1] == {
        "source": "bar",
        "target": "a,b",
        "distance_km": None,
        "path": "[]",
    }


class TestFiles:
    """Pairs from files."""

    NUMBERING = graph_of(4, []).numbering

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("it.csv", "source,target\n1,2\n\n 3 ,0\n"),
            ("it.csv", "\ufeff1,2\r\n3,0"),
            ("it.csv", '"1","2"\n3,0\n'),
            ("it.p2p", "c it\np aux sp p2p 2\nq 1 2\nq 3 0\n"),
        ],
    )
    def test_forms(self, tmp_path: Path, name: str, text: str) -> None:
        (tmp_path / name).write_text(text, encoding="utf-8")
        result = read_pairs_in(tmp_path / name, self.NUMBERING, "it")
        assert result.tolist() == [[1, 2], [3, 0]]

    @pytest.mark.parametrize(
        ("name", "content", "problem"),
        [
            ("it.csv", b"1,2\n1\n", "it.csv:2: expected a source and a target, got '1'"),
            ("it.csv", b"1,2,3\n", "expected a source and a target"),
            ("it.csv", b"1,\n", "expected a source and a target"),
            ("it.csv", b"\xff,2\n", "UTF-8"),
            ("it.csv", b'"1,2\n', "it.csv:1: unexpected end"),
            ("it.csv", b"", "has no pairs"),
            ("it.csv", b"source,target\n", "has no pairs"),
            ("it.csv", b"1,9\n", "target 9 is not a vertex"),
            ("it.csv", b"1,x\n", "is no integer"),
            ("it.p2p", b"q 1 2\n", "expected"),
            ("it.txt", b"1 2\n", "unknown suffix"),
            ("none.csv", None, "No such file"),
        ],
    )
    def test_wrong_files(
        self, tmp_path: Path, name: str, content: bytes | None, problem: str
    ) -> None:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=problem):
            read_pairs_in(tmp_path / name, self.NUMBERING, "it")
