"""Alternatives of shortest paths, on every device and number of ranks, against a brute force."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from python.test_k_routes import DIAMOND, lightest, ways_of
from support.graphs import graph_of, random_graph
from support.local_ranks import on_ranks
from support.opening import opened_on

import groute_py
from groute_py import InputError, Routes
from groute_py.jobs.route import RouteJob

LOCAL = 0.25


def parts(path: list[int], whole: nx.DiGraph[int], some: set[Any] | None = None) -> float:
    """Return the length of a path, or of those of its arcs that are in a set."""
    arcs = [arc for arc in pairwise(path) if some is None or arc in some]
    return sum(whole.edges[arc]["weight"] for arc in arcs)


def ways_via_any(
    whole: nx.DiGraph[int], source: int, target: int
) -> list[tuple[float, Any, float]]:
    """Return lengths, vertices and spans of the paths through any vertex, by length."""
    to, ways = nx.single_source_dijkstra(whole, source)
    back, turned = nx.single_source_dijkstra(whole.reverse(), target)
    ways_via = {tuple(ways[v] + turned[v][-2::-1]): v for v in to if v in back}
    result = list[tuple[float, Any, float]]()
    for way, via in ways_via.items():
        sums = [
            to[one] + weight == to[other] and back[one] == weight + back[other]
            for one, other in pairwise(way)
            for weight in [whole.edges[one, other]["weight"]]
        ]
        first = last = ways[via].index(via)
        while first > 0 and sums[first - 1]:
            first -= 1
        while last < len(sums) and sums[last]:
            last += 1
        if len(set(way)) == len(way):
            span = parts(way[max(first - 1, 0) : last + 2], whole)
            result.append((parts(way, whole), list(way), span))
    return sorted(result)


def alternatives_of(
    whole: nx.DiGraph[int], source: int, target: int, count: int, longer: float, overlap: float
) -> list[tuple[float, list[int]]]:
    """Return the routes of a pair where no two paths to or from a vertex are equally long."""
    answer, earlier = list[tuple[float, list[int]]](), set[Any]()
    for length, way, span in ways_via_any(whole, source, target):
        if answer:
            best = answer[0]
            of_best = parts(way, whole, set(pairwise(best[1])))
            detour, replaced = length - of_best, best[0] - of_best
            if detour > (1 + longer) * replaced or span < LOCAL * detour:
                continue
            if parts(way, whole, earlier) > overlap * length or length == 0 or len(answer) > count:
                continue
        answer.append((length, way))
        earlier |= set(pairwise(way))
    return answer


def check_route(
    whole: nx.DiGraph[int], ways: list[tuple[Any, list[int]]], longer: float, overlap: float
) -> None:
    """Check what is promised of the routes of a pair, the first of which is a shortest path."""
    (best, first), *others = ways
    assert best == nx.dijkstra_path_length(whole, first[0], first[-1])
    assert [length for length, _ in ways] == sorted(length for length, _ in ways)
    earlier, distance = set(pairwise(first)), dict(nx.all_pairs_dijkstra_path_length(whole))
    for length, way in others:
        assert (way[0], way[-1]) == (first[0], first[-1])
        assert len(set(way)) == len(way)
        assert parts(way, whole) == length
        of_best = parts(way, whole, set(pairwise(first)))
        assert length - of_best <= (1 + longer) * (best - of_best) * (1 + 1e-6)
        assert length <= best * (1 + longer) * (1 + 1e-6)
        assert parts(way, whole, earlier) <= overlap * length * (1 + 1e-6)
        earlier |= set(pairwise(way))
        for begin in range(len(way)):
            for end in range(begin, len(way)):
                part = parts(way[begin : end + 1], whole)
                if part < LOCAL * (length - of_best):
                    assert part == distance[way[begin]][way[end]]


def check_by_brute_force(device: str, seeds: range) -> None:
    """Compare the routes of four pairs in a random graph for each seed."""
    several = 0
    for seed in seeds:
        random = np.random.default_rng(seed)
        graph = random_graph(25, int(random.integers(40, 110)), seed, 10**6)
        pairs = random.integers(0, 25, (4, 2)).tolist()
        longer, overlap = random.choice([0, 0.25, 1, 5]), random.choice([0, 0.5, 0.7, 0.95])
        bounds = {"longer": float(longer), "overlap": float(overlap)}
        routes = groute_py.route(graph, pairs, alternatives=3, paths=True, device=device, **bounds)
        for number, pair in enumerate(pairs):
            whole = lightest(graph)
            expected = alternatives_of(whole, *pair, 3, **bounds)
            assert ways_of(routes, number) == expected, (seed, pair)
            several += len(expected) > 1
    assert several > len(seeds) / 2


@pytest.mark.parametrize("seeds", [range(100), range(100, 200)])
def test_as_by_brute_force(device: str, seeds: range) -> None:
    check_by_brute_force(device, seeds)


@pytest.mark.slow
def test_1000_graphs_by_brute_force() -> None:
    check_by_brute_force("cpu", range(1000, 2000))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_promises_where_paths_are_equally_long(device: str, dtype: str) -> None:
    several = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        graph = random_graph(20, 70, seed, int(random.choice([0, 1, 3, 20])))
        graph = graph.with_weights(graph.weights.astype(dtype) / (1 if dtype == "int32" else 8))
        pairs = random.integers(0, 20, (6, 2)).tolist()
        bounds = {"longer": 0.5, "overlap": 0.6}
        routes = groute_py.route(graph, pairs, alternatives=2, paths=True, device=device, **bounds)
        one = groute_py.route(graph, pairs, k=2, paths=True, device=device)
        for number in range(len(pairs)):
            ways = ways_of(routes, number)
            assert ways[:1] == ways_of(one, number)[:1]
            if ways:
                check_route(lightest(graph), ways, **bounds)
            several += len(ways) > 1
    assert several > 20


@pytest.mark.parametrize("reverse", [False, True])
def test_on_ranks_and_threads(device: str, reverse: bool) -> None:
    graph = random_graph(40, 130, seed=5, greatest=6)
    pairs = [(s, t) for s in range(40) for t in (0, 4, 5)]
    job = RouteJob(pairs, paths=True, alternatives=2, longer=0.6)

    def work(channel: Any) -> Routes | None:
        return opened_on(channel, graph, device=device, reverse=reverse).answer(job)

    answers = [on_ranks(ranks, work)[0] for ranks in (1, 2, 3)]
    with groute_py.open(graph, device=device, reverse=reverse, threads=1) as solver:
        answers.append(solver.route(pairs, paths=True, alternatives=2, longer=0.6))
    whole = graph.reversed() if reverse else graph
    expected = groute_py.route(whole, pairs, paths=True, alternatives=2, longer=0.6, device="cpu")
    step = -1 if reverse else 1
    several = 0
    for number in range(len(pairs)):
        ways = [(length, path[::step]) for length, path in ways_of(expected, number)]
        assert [ways_of(answer, number) for answer in answers] == [ways] * 4
        several += len(ways) > 1
    assert several > 10


def test_cutoffs_and_pairs_without_alternatives(device: str) -> None:
    arcs = [(0, 1, 5), (1, 3, 5), (0, 2, 6), (2, 3, 6), (4, 4, 0), (3, 4, 0)]
    with groute_py.open(graph_of(6, arcs), device=device) as solver:
        pairs = [(0, 3), (0, 0), (0, 5), (3, 4), (0, 1)]
        routes = solver.route(pairs, alternatives=2)
        assert routes is not None
        lengths = [[d for d in row if d < 10**9] for row in routes.distances.tolist()]
        assert lengths == [[10, 12], [0], [], [0], [5]]
    for cutoff, wanted in ((12, [10, 12]), (11, [10]), (9, [])):
        near = groute_py.route(graph_of(6, arcs), [(0, 3)], alternatives=2, cutoff=cutoff)
        assert near.distances[near.reached].tolist() == wanted
    large = graph_of(4, [(t, h, w * 2**59) for t, h, w in arcs[:4]], "int64")
    far = groute_py.route(large, [(0, 3)], alternatives=2, longer=0.5, device=device)
    assert far.distances[far.reached].tolist() == [10 * 2**59, 12 * 2**59]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"alternatives": -1}, "alternatives must be at least 1"),
        ({"alternatives": 1.5}, "alternatives must be an integer"),
        ({"alternatives": True}, "alternatives must be a number"),
        ({"alternatives": 2, "k": 2}, "ask for one of them"),
        ({"longer": 0.2}, "longer is of alternatives"),
        ({"overlap": 0.2}, "overlap is of alternatives"),
        ({"alternatives": 1, "longer": -0.1}, "longer must be a share, 0 or more and finite"),
        ({"alternatives": 1, "longer": math.inf}, "longer must be a share, 0 or more and finite"),
        ({"alternatives": 1, "overlap": 1}, "overlap must be a share, 0 or more and below 1"),
        ({"alternatives": 1, "overlap": math.nan}, "overlap must be a share"),
        ({"alternatives": 1, "overlap": "70%"}, "overlap must be a number"),
        ({"alternatives": 1, "turns": [(0, 1, 3, 5)]}, "turns: not for route"),
    ],
)
def test_refusals(words: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        groute_py.route(DIAMOND, [(0, 3)], device="cpu", **words)
    negative = graph_of(3, [(0, 1, -1), (1, 2, 3)])
    with pytest.raises(InputError, match=r"negative weight \(-1\).*leave out k and alternatives"):
        groute_py.route(negative, [(0, 2)], alternatives=1)
