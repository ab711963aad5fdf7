"""The k shortest walks of pairs, on every device and number of ranks, against a brute force."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import networkx as nx
import numpy as np
import pytest
from python.test_k_routes import DIAMOND, lightest, random_case, ways_of
from support.graphs import graph_of, random_graph
from support.local_ranks import on_ranks
from support.opening import opened_on

import groute_py
from groute_py import UNREACHED, Graph, InputError, Routes, RunError, TimeLimitError
from groute_py.jobs import k_routes
from groute_py.jobs.route import RouteJob


def walks_of(graph: Graph, source: int, target: int, k: int) -> list[tuple[Any, list[int]]]:
    """Return the k first of all walks: by length, by arcs, by vertices."""
    whole = lightest(graph)
    rest = nx.single_source_dijkstra_path_length(whole.reverse(), target)
    walks, queue = list[tuple[Any, list[int]]](), [(rest.get(source), 0, [source], 0)]
    while source in rest and queue and len(walks) < k:
        _, arcs, walk, length = heappop(queue)
        if walk[-1] == target:
            walks.append((length, walk))
        for head, of_arc in whole[walk[-1]].items():
            if head in rest:
                further = length + of_arc["weight"]
                heappush(queue, (further + rest[head], arcs + 1, [*walk, head], further))
    return walks


def check(graph: Graph, pairs: list[tuple[int, int]], k: int, **how: Any) -> None:
    routes = groute_py.route(graph, pairs, k=k, loops=True, paths=True, **how)
    for number, pair in enumerate(pairs):
        assert ways_of(routes, number) == walks_of(graph, *pair, k), (graph, pair, k)


@pytest.mark.parametrize("seeds", [range(100), range(100, 200)])
def test_all_walks_in_order(device: str, seeds: range) -> None:
    for seed in seeds:
        graph, pairs, k = random_case(seed)
        check(graph, pairs, k, device=device)


@pytest.mark.slow
def test_1000_graphs() -> None:
    for seed in range(200, 1200):
        graph, pairs, k = random_case(seed)
        check(graph, pairs[:3], k, device="cpu")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats(device: str, dtype: str) -> None:
    for seed in range(30):
        graph, pairs, k = random_case(seed)
        check(graph.with_weights(graph.weights.astype(dtype) / 8), pairs, k, device=device)
        rounded = graph.with_weights((graph.weights * 0.1).astype(dtype))
        routes = groute_py.route(rounded, pairs, k=k, loops=True, device=device)
        assert routes is not None
        expected = np.full((len(pairs), k), np.inf)
        for number, pair in enumerate(pairs):
            some = [length * 0.1 for length, _ in walks_of(graph, *pair, k)]
            expected[number, : len(some)] = some
        np.testing.assert_allclose(routes.distances, expected, rtol=1e-5)
        assert (routes.distances[:, 1:] >= routes.distances[:, :-1]).all()


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("reverse", [False, True])
def test_on_ranks(device: str, ranks: int, reverse: bool) -> None:
    graph = random_graph(9, 27, seed=ranks, greatest=3)
    pairs = [(s, t) for s in (0, 4, 5) for t in range(9)]

    def work(channel: Any) -> Routes | None:
        opened = opened_on(channel, graph, device=device, reverse=reverse)
        return opened.answer(RouteJob(pairs, paths=True, k=4, loops=True))

    routes, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    whole = graph.reversed() if reverse else graph
    for number, pair in enumerate(pairs):
        step = -1 if reverse else 1
        expected = [(length, walk[::step]) for length, walk in walks_of(whole, *pair, 4)]
        assert ways_of(routes, number) == expected


def test_paths_are_the_simple_walks() -> None:
    graph, pairs = random_graph(200, 700, 3, 5), [(7, v) for v in range(50)]
    with groute_py.open(graph, device="cpu", prepare=True) as solver:
        walks = solver.route(pairs, k=60, loops=True, paths=True)
        paths = solver.route(pairs, k=4, paths=True)
    count = 0
    for number in range(len(pairs)):
        simple = [way for way in ways_of(walks, number) if len(set(way[1])) == len(way[1])][:4]
        assert simple == ways_of(paths, number)[: len(simple)]
        count += len(simple)
    assert count > len(pairs)


def test_threads_and_many_pairs_of_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, pairs = random_graph(200, 700, 3, 5), [(7, v) for v in range(200)]
    how: Any = {"k": 5, "loops": True, "paths": True, "device": "cpu"}
    one = groute_py.route(graph, pairs, threads=1, **how)
    monkeypatch.setattr(k_routes, "PAIRS_AT_ONCE", 1)
    several = groute_py.route(graph, pairs, threads=3, **how)
    assert [ways_of(one, v) for v in range(200)] == [ways_of(several, v) for v in range(200)]


def test_loops_and_parallel_arcs_and_the_empty_walk() -> None:
    graph = graph_of(4, [(0, 0, 2), (0, 1, 5), (0, 1, 3), (0, 1, 3), (1, 2, 0), (2, 1, 0)])
    routes = groute_py.route(graph, [(0, 0), (0, 1), (1, 0)], k=3, loops=True, paths=True)
    assert ways_of(routes, 0) == [(0, [0]), (2, [0, 0]), (4, [0, 0, 0])]
    assert ways_of(routes, 1) == [(3, [0, 1]), (3, [0, 1, 2, 1]), (3, [0, 1, 2, 1, 2, 1])]
    assert ways_of(routes, 2) == []
    without = groute_py.route(graph, [(0, 1)], k=3, paths=True)
    assert ways_of(without, 0) == [(3, [0, 1])]


def test_cutoffs_and_hops() -> None:
    how: Any = {"loops": True, "paths": True, "device": "cpu"}
    for limit, count in ((3.5, 3), (4, 12)):  # 2 to go, once or with 2 back and again
        routes = groute_py.route(DIAMOND, [(0, 3)], k=50, cutoff=limit, **how)
        assert ways_of(routes, 0) == walks_of(DIAMOND, 0, 3, count)
    with groute_py.open(DIAMOND, device="cpu", hops=True) as solver:
        hops = solver.route([(0, 3)], k=5, loops=True, paths=True)
    ones = DIAMOND.with_weights(np.ones(6, np.int32))
    assert ways_of(hops, 0) == walks_of(ones, 0, 3, 5)


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(graph: Graph, **how: Any) -> Routes | None:
        return groute_py.route(graph, [(0, 2)], **{"k": 3, "loops": True, "device": "cpu"} | how)

    with pytest.raises(InputError, match="loops are of the k shortest; ask for k"):
        ask(DIAMOND, k=1, alternatives=2)
    with pytest.raises(InputError, match=r"negative weight \(-1\).*leave out k"):
        ask(graph_of(3, [(0, 1, -1), (1, 2, 3)]))
    with pytest.raises(InputError, match="turns: not for route with k > 1"):
        ask(DIAMOND, turns=[(0, 1, 3, 5)])
    with pytest.raises(InputError, match="objective widest: for sssp"):
        ask(DIAMOND, objective="widest")
    large = graph_of(3, [(0, 2, 5), (0, 1, 2**62), (1, 0, 2**62)], "int64")
    with pytest.raises(RunError, match="does not fit in int64"):
        ask(large, k=2)
    near = ask(large, k=2, cutoff=9)
    assert near is not None
    assert near.distances.tolist() == [[5, UNREACHED]]
    monkeypatch.setattr("groute_py.jobs.k_routes.room_for", lambda _: 100_000)
    with pytest.raises(InputError, match="20,000 walks of a pair do not fit in memory"):
        ask(DIAMOND, k=20_000)
    assert ask(DIAMOND, k=30, threads=1)
    monkeypatch.setattr("groute_py.jobs.k_routes.local_size", lambda: 20)
    with pytest.raises(InputError, match="30 walks of a pair do not fit in memory"):
        ask(DIAMOND, k=30, threads=1)


def test_distances_of_64_bits() -> None:
    graph = graph_of(3, [(0, 1, 2**60), (1, 2, 2**60), (1, 1, 2**59)], "int64")
    check(graph, [(0, 2), (0, 1)], 5, device="cpu")


def test_the_time_limit_within_a_pair() -> None:
    """The run would take minutes, and its thread ends too, as after Ctrl-C."""
    arcs = [(tail, head, 1) for tail in range(300) for head in range(300)]
    options: Any = {"device": "cpu", "time_limit_s": 0.5}
    with groute_py.open(graph_of(300, arcs), **options) as solver, pytest.raises(TimeLimitError):
        solver.route([(0, 1)], k=10**6, loops=True)
