"""A graph with costs of turns, its distances, and the check of a result with turns."""

from __future__ import annotations

from typing import Any

import numpy as np

import groute_py
from groute_py import Graph, Result
from support.graphs import graph_of, random_graph
from support.line_graph import (
    Turns,
    by_arc,
    check_walk,
    distances_by_arc,
    distances_over_arcs,
    labels_of_arcs,
    turns_of,
)

COSTS = (None, None, 0, 1, 7, 30)


def rows_of(turns: Turns) -> list[tuple[Any, ...]]:
    return [(*turn, cost) for turn, cost in turns.items()]


def some_turns(graph: Graph, seed: int, count: int = 60) -> dict[tuple[int, int, int], Any]:
    random = np.random.default_rng(seed)
    every = turns_of(graph)
    drawn = random.choice(len(every), min(count, len(every)), replace=False)
    return {every[turn]: COSTS[random.integers(len(COSTS))] for turn in drawn.tolist()}


GRAPH = random_graph(50, 170, seed=5, greatest=9)
"""With parallel arcs, loops, weights of 0, and vertices that nothing reaches."""

TURNS = some_turns(GRAPH, seed=1, count=150)

ROWS = np.array([distances_over_arcs(GRAPH, TURNS, source) for source in range(50)])

WAY_BACK = graph_of(3, [(0, 1, 4), (1, 0, 4), (1, 2, 2), (2, 1, 2)])


def check(
    graph: Graph, turns: Turns, source: int, result: Result | None, *, reverse: bool = False
) -> None:
    assert result is not None
    assert result.predecessors is None
    wanted = distances_over_arcs(graph, turns, source, reverse=reverse)
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(result.distances, wanted, rtol=1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(result.distances, wanted)
    for vertex in range(0, graph.vertex_count, 3):
        path = result.path_to(vertex)
        assert bool(path) == result.reached[vertex]
        if path:
            assert (path[0], path[-1]) == ((vertex, source) if reverse else (source, vertex))
            check_walk(graph, turns, path, result.distances[vertex])


def check_k_nearest(graph: Graph, turns: Turns, every: list[int], result: Any, *, k: int) -> None:
    """Facilities by all distances from each; next vertices by the last arcs of shortest walks."""
    back, listed = result.to_facility, by_arc(graph, turns)
    rows = np.array([distances_by_arc(graph, listed, each, reverse=back) for each in every])
    nothing = np.inf if rows.dtype.kind == "f" else groute_py.UNREACHED
    order = np.argsort(rows, axis=0, kind="stable")[:k].T
    wanted = np.take_along_axis(rows.T, order, axis=1)
    np.testing.assert_array_equal(result.distances[:, : order.shape[1]], wanted)
    owners = np.where(wanted == nothing, -1, np.array(every)[order])
    np.testing.assert_array_equal(result.facilities[:, : order.shape[1]], owners)
    assert not result.reached[:, order.shape[1] :].any()
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)).tolist()
    arcs = list(zip(tails, graph.heads.tolist(), strict=True))
    labels = {each: labels_of_arcs(graph, listed, each, reverse=back) for each in every}
    for (vertex, rank), owner in np.ndenumerate(result.facilities):
        if owner in (-1, vertex):
            assert result.next[vertex, rank] == -1
            continue
        beside = result.next[vertex, rank]
        last = (vertex, beside) if back else (beside, vertex)
        lengths = [length for arc, length in labels[owner].items() if arcs[arc] == last]
        assert min(lengths) == result.distances[vertex, rank]
