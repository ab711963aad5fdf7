"""The k shortest simple paths of pairs, on every device and number of ranks, against NetworkX."""

from __future__ import annotations

import csv
import json
import math
import time
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from support.graphs import graph_of, random_graph
from support.local_ranks import on_ranks
from support.opening import opened_on

import groute_py
from groute_py import UNREACHED, Graph, InputError, Routes, RunError, TimeLimitError
from groute_py.device.cpu.rows import CpuGraph
from groute_py.graph.facts import facts_of
from groute_py.jobs import k_routes
from groute_py.jobs.k_routes import PathsWanted, _PathSearches
from groute_py.jobs.route import RouteJob
from groute_py.jobs.searches import Group

Ways = list[tuple[Any, list[int]]]
"""Lengths and vertices of the paths of a pair."""

DIAMOND = graph_of(5, [(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1), (0, 3, 2), (3, 0, 0)])


def lightest(graph: Graph) -> nx.DiGraph[int]:
    """Return a graph for NetworkX, with the lightest of parallel arcs."""
    result: nx.DiGraph[int] = nx.DiGraph()
    result.add_nodes_from(range(graph.vertex_count))
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)).tolist()
    for tail, head, weight in zip(tails, graph.heads.tolist(), graph.weights.tolist(), strict=True):
        known = result.get_edge_data(tail, head, {"weight": math.inf})["weight"]
        result.add_edge(tail, head, weight=min(known, weight))
    return result


def in_order(graph: Graph, source: int, target: int, k: int) -> Ways:
    """Return the k first of all simple paths: by length, by arcs, by vertices."""
    whole, ways = lightest(graph), list[tuple[Any, int, list[int]]]()
    every = [[source]] if source == target else nx.all_simple_paths(whole, source, target)
    for path in every:
        length = sum(whole.edges[arc]["weight"] for arc in pairwise(path))
        ways.append((length, len(path), path))
    return [(length, path) for length, _, path in sorted(ways)[:k]]


def ways_of(routes: Routes | None, number: int) -> Ways:
    assert routes is not None
    assert routes.paths is not None
    paths = [path.tolist() for path in routes.paths[number]]
    distances = routes.distances[number].tolist()
    assert all(d in (UNREACHED, math.inf) for d in distances[len(paths) :])
    return list(zip(distances, paths, strict=False))


def random_case(seed: int) -> tuple[Graph, list[tuple[int, int]], int]:
    """A small graph with loops, parallel arcs, zero weights and unreachable parts; pairs; k."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 9))
    arcs = int(random.integers(0, 3 * count + 1))
    graph = random_graph(count, arcs, seed, int(random.choice([0, 1, 3, 20])))
    pairs = random.integers(0, count, (6, 2)).tolist()
    return graph, [tuple(pair) for pair in pairs], int(random.choice([2, 3, 5, 40]))


@pytest.mark.parametrize("seeds", [range(150), range(150, 300)])
def test_all_simple_paths_in_order(device: str, seeds: range) -> None:
    for seed in seeds:
        graph, pairs, k = random_case(seed)
        routes = groute_py.route(graph, pairs, k=k, paths=True, device=device)
        for number, (source, target) in enumerate(pairs):
            assert ways_of(routes, number) == in_order(graph, source, target, k), seed


def check_lengths(seed: int) -> None:
    random = np.random.default_rng(seed)
    graph = random_graph(int(random.integers(10, 60)), 150, seed, int(random.choice([2, 9, 1000])))
    pairs = random.integers(0, graph.vertex_count, (4, 2)).tolist()
    routes = groute_py.route(graph, pairs, k=6, paths=True, device="cpu")
    whole = lightest(graph)
    for number, (source, target) in enumerate(pairs):
        ways = ways_of(routes, number)
        try:
            paths = list(islice(nx.shortest_simple_paths(whole, source, target, "weight"), 6))
        except nx.NetworkXNoPath:
            paths = []
        assert [length for length, _ in ways] == [nx.path_weight(whole, p, "weight") for p in paths]
        for length, path in ways:
            assert len(set(path)) == len(path)
            assert nx.path_weight(whole, path, "weight") == length


def test_lengths_of_networkx() -> None:
    for seed in range(60):
        check_lengths(seed)


@pytest.mark.slow
def test_lengths_of_networkx_on_1000_graphs() -> None:
    for seed in range(1000, 2000):
        check_lengths(seed)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats(device: str, dtype: str) -> None:
    for seed in range(40):
        graph, pairs, k = random_case(seed)
        exact = graph.with_weights(graph.weights.astype(dtype) / 8)  # sums do not round
        routes = groute_py.route(exact, pairs, k=k, paths=True, device=device)
        assert routes is not None
        assert routes.distances.dtype == dtype
        for number, (source, target) in enumerate(pairs):
            assert ways_of(routes, number) == in_order(exact, source, target, k), seed
        rounded = graph.with_weights((graph.weights * 0.1).astype(dtype))
        lengths = groute_py.route(rounded, pairs, k=k, device=device)
        assert lengths is not None
        wanted = np.full((len(pairs), k), np.inf)
        for number, pair in enumerate(pairs):
            some = [length for length, _ in in_order(rounded, *pair, k)]
            wanted[number, : len(some)] = some
        np.testing.assert_allclose(lengths.distances, wanted, rtol=1e-5)
        assert (lengths.distances[:, 1:] >= lengths.distances[:, :-1]).all()


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("reverse", [False, True])
def test_on_ranks(device: str, ranks: int, reverse: bool) -> None:
    graph = random_graph(9, 27, seed=ranks, greatest=3)
    pairs = [(s, t) for s in range(9) for t in (0, 4, 5)]

    def work(channel: Any) -> Routes | None:
        opened = opened_on(channel, graph, device=device, reverse=reverse)
        return opened.answer(RouteJob(pairs, paths=True, k=4))

    routes, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    whole = graph.reversed() if reverse else graph
    for number, pair in enumerate(pairs):
        wanted = in_order(whole, *pair, 4)
        step = -1 if reverse else 1
        assert ways_of(routes, number) == [(length, path[::step]) for length, path in wanted]


def test_threads_and_many_pairs_of_a_target(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, pairs = random_graph(200, 700, 3, 5), [(v, 7) for v in range(200)]
    answers = [groute_py.route(graph, pairs, k=5, paths=True, threads=n) for n in (1, 2)]
    monkeypatch.setattr(k_routes, "PAIRS_AT_ONCE", 1)
    with groute_py.open(graph, device="cpu", prepare=True) as solver:
        answers += [solver.route(pairs, k=5, paths=True) for _ in range(2)]
    first = answers[0]
    for other in answers[1:]:
        assert [ways_of(other, v) for v in range(200)] == [ways_of(first, v) for v in range(200)]


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_cutoffs(device: str, dtype: str) -> None:
    for seed in range(40):
        graph, pairs, k = random_case(seed)
        graph = graph.with_weights(graph.weights.astype(dtype) / (1 if dtype == "int32" else 10))
        limit = 4 if dtype == "int32" else 0.4
        for some in (1, k):
            near = groute_py.route(graph, pairs, k=some, paths=True, cutoff=limit, device=device)
            assert near is not None
            assert near.paths is not None
            for number, pair in enumerate(pairs):
                wanted = [way for way in in_order(graph, *pair, some) if way[0] <= limit]
                if some > 1:
                    assert len(ways_of(near, number)) == len(wanted)
                else:
                    assert near.reached[number] == bool(len(near.paths[number])) == bool(wanted)


def test_weights_that_change_and_hops() -> None:
    with groute_py.open(DIAMOND, device="cpu") as solver:
        assert ways_of(solver.route([(0, 3)], k=4, paths=True), 0) == [
            (2, [0, 3]),
            (2, [0, 1, 3]),
            (2, [0, 2, 3]),
        ]
        solver.update([9, 1, 9, 1, 1, 0])
        assert ways_of(solver.route([(0, 3)], k=2, paths=True), 0)[0] == (2, [0, 2, 3])
    with groute_py.open(DIAMOND, device="cpu", hops=True) as solver:
        routes = solver.route([(0, 3)], k=2)
        assert routes is not None
        assert routes.distances.tolist() == [[1, 2]]


def test_tables_and_sums(tmp_path: Path) -> None:
    graph = groute_py.Graph(
        *(DIAMOND.offsets, DIAMOND.heads, DIAMOND.weights), columns={"toll": np.arange(6)}
    )
    routes = groute_py.route(graph, [(0, 3), (3, 4), (1, 1)], k=3, paths=True, carry=["toll"])
    assert routes is not None
    lines = [
        (0, 3, 1, 2, "[0, 3]", 2),
        (0, 3, 2, 2, "[0, 1, 3]", 3),
        (0, 3, 3, 2, "[0, 2, 3]", 5),
        (3, 4, 1, None, "[]", None),
        (1, 1, 1, 0, "[1]", 0),
    ]
    frame = routes.to_frame(library="pyarrow")
    assert frame.column_names == ["source", "target", "rank", "distance", "toll", "path"]
    order = ("source", "target", "rank", "distance", "path", "toll")
    assert [tuple(row[name] for name in order) for row in frame.to_pylist()] == lines
    assert routes.carried["toll"].tolist()[1:] == [[UNREACHED] * 3, [0, UNREACHED, UNREACHED]]
    assert routes.reached.tolist() == [[True] * 3, [False] * 3, [True, False, False]]
    assert (routes.path(0, 3), routes.path(2, 2), routes.path(1)) == ([0, 2, 3], [], [])
    routes.save(tmp_path / "routes.csv")
    with (tmp_path / "routes.csv").open() as file:
        assert [row["rank"] for row in csv.DictReader(file)] == ["1", "2", "3", "1", "1"]
    routes.save(tmp_path / "routes.geojson", np.zeros((5, 2)))
    features = json.loads((tmp_path / "routes.geojson").read_text())["features"]
    assert [feature["properties"]["rank"] for feature in features] == [1, 2, 3, 1, 1]
    assert [len((f["geometry"] or {"coordinates": ()})["coordinates"]) for f in features][:4] == [
        *(2, 3, 3),
        0,
    ]


@pytest.mark.parametrize(
    ("k", "problem"),
    [
        (0, "k must be at least 1"),
        (-2, "k must be at least 1"),
        (2.5, "k must be an integer, not 2.5"),
        ("5", "k must be a number"),
        (True, "k must be a number"),
        (2**31, "k must be at least 1 and at most"),
        (2**31 - 1, "paths, by .* threads, .*ask for fewer"),
    ],
)
def test_wrong_k(k: Any, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.engine.memory.host.room_for", lambda _: 1 << 30)
    with pytest.raises(InputError, match=problem):
        groute_py.route(DIAMOND, [(0, 3)], k=k, device="cpu")


def test_paths_whose_vertices_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.engine.memory.host.room_for", lambda _: 800_000)
    corners = [(source, target) for source in range(35) for target in range(1565, 1600)]
    with pytest.raises(InputError, match=r"vertices in all take .*ask for fewer"):
        groute_py.route("road:40x40", corners[::3], k=5, paths=True, threads=2, device="cpu")


def test_refusals() -> None:
    negative = graph_of(3, [(0, 1, -1), (1, 2, 3)])
    with pytest.raises(InputError, match=r"negative weight \(-1\).*leave out k"):
        groute_py.route(negative, [(0, 2)], k=2)
    with pytest.raises(InputError, match="negative weight"):
        groute_py.route(negative, [(0, 2)], cutoff=3)
    with pytest.raises(InputError, match="turns: not for route with k > 1"):
        groute_py.route(DIAMOND, [(0, 3)], k=2, turns=[(0, 1, 3, 5)])
    with pytest.raises(InputError, match="cutoff must not be negative"):
        groute_py.route(DIAMOND, [(0, 3)], k=2, cutoff=-1)
    large = graph_of(3, [(0, 1, 2**62), (1, 2, 2**62), (0, 2, 5)], "int64")
    with pytest.raises(RunError, match="does not fit in int64"):
        groute_py.route(large, [(0, 2)], k=2, device="cpu")
    assert ways_of(groute_py.route(large, [(0, 2)], k=2, cutoff=9, paths=True), 0) == [(5, [0, 2])]


def test_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.device.cpu.rows.BLOCK_BYTES", 1)
    graph = random_graph(50, 200, 1, 9)
    pairs = [(0, v) for v in range(50)]
    options: Any = {"device": "cpu", "threads": 1, "time_limit_s": 1e-6}
    with groute_py.open(graph, **options) as solver, pytest.raises(TimeLimitError):
        solver.route(pairs, k=2)


def test_the_time_limit_within_a_pair() -> None:
    """The run would take minutes; its threads end too, as after Ctrl-C."""
    side = 30
    cells = np.arange(side * side).reshape(side, side)
    pairs = [(cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])]
    steps = [arc for one, other in pairs for arc in zip(one.flat, other.flat, strict=True)]
    both = steps + [(head, tail) for tail, head in steps]
    weights = np.random.default_rng(0).integers(1, 1000, len(both)).tolist()
    graph = graph_of(side * side, [(*arc, w) for arc, w in zip(both, weights, strict=True)])
    start = time.monotonic()
    options: Any = {"device": "cpu", "time_limit_s": 1.0}
    with groute_py.open(graph, **options) as solver, pytest.raises(TimeLimitError):
        solver.route([(0, side * side - 1)], k=2_000_000)
    assert time.monotonic() - start < 60


def test_a_search_ends_at_once() -> None:
    graph = graph_of(3, [(0, 1, 1), (1, 2, 1)])
    incoming = CpuGraph(graph.reversed(), np.dtype(np.int64)).incoming
    searches = _PathSearches(incoming, PathsWanted(1, bounds=(0.25, 0.8)), None, facts_of(graph))
    group = Group(2, np.array([0]), np.array([0]))
    assert searches._of_part(np.array([2, 1, 0]), *group).counts.tolist() == [1]
    searches.close()
    assert searches._of_part(np.array([2, 1, 0]), *group).counts.tolist() == [0]


def test_paths_out_of_range_are_missed_by_their_pair_only() -> None:
    arcs = [(0, 1, 2**62), (1, 3, 2**62), (0, 2, 1), (2, 3, 1), (0, 3, 9)]
    routes = groute_py.route(graph_of(4, arcs, "int64"), [(0, 3), (2, 3)], k=2, device="cpu")
    assert routes is not None
    assert routes.distances.tolist() == [[2, 9], [1, UNREACHED]]
