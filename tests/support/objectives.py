"""Best paths by brute force, for every objective, and random graphs with what is rare in them."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import groute_py

UNREACHED = groute_py.UNREACHED


class Rule(NamedTuple):
    """An objective: the value of the source, that of a longer path, and a key to minimize."""

    begin: Callable[[groute_py.Graph], Any]
    longer: Callable[[Any, Any], Any]
    key: Callable[[Any], Any]


def _least(graph: groute_py.Graph) -> Any:
    return min(0, graph.weights.min().item()) if graph.arc_count else 0


def _greatest(graph: groute_py.Graph) -> Any:
    return graph.weights.max().item() if graph.arc_count else 0


RULES = {
    "minimax": Rule(_least, max, lambda value: value),
    "widest": Rule(_greatest, min, lambda value: -value),
    "reliable": Rule(lambda _: 1.0, lambda a, b: a * b, lambda value: -value),
    "fewest-arcs": Rule(lambda _: (0, 0), lambda a, b: (a[0] + 1, a[1] + b), lambda value: value),
}


def best(graph: groute_py.Graph, objective: str, source: int) -> dict[int, Any]:
    """The best values of the vertices that paths lead to, by Dijkstra's algorithm in plain Python.

    No value improves along an arc, so the best open one is final.
    """
    rule, done = RULES[objective], dict[int, Any]()
    ties = itertools.count()
    start = rule.begin(graph)
    heap = [(rule.key(start), next(ties), source, start)]
    while heap:
        _, _, vertex, value = heapq.heappop(heap)
        if vertex in done:
            continue
        done[vertex] = value
        for arc in range(graph.offsets[vertex], graph.offsets[vertex + 1]):
            weight = graph.weights[arc].item()
            if objective == "reliable" and weight == 0:
                continue
            longer = rule.longer(value, weight)
            heapq.heappush(heap, (rule.key(longer), next(ties), int(graph.heads[arc]), longer))
    return done


def random_graph(rng: np.random.Generator, objective: str) -> groute_py.Graph:
    """A small graph with loops, parallel arcs, weights of 0, ties, and vertices out of reach."""
    count = int(rng.integers(1, 25))
    arcs = int(rng.integers(0, 4 * count))
    tails, heads = rng.integers(0, count, (2, arcs))
    kind = rng.choice(["int32", "int64", "float32", "float64"])
    if objective == "reliable":
        weights = rng.choice([0.0, 1.0, 0.5, *rng.random(5)], arcs)
        weights = weights.astype(rng.choice(["float32", "float64"]))
    else:
        most = int(rng.choice([2, 9, 1000]))
        weights = rng.integers(0, most, arcs).astype(kind)
        if objective != "fewest-arcs":
            weights -= kind_of(kind)(rng.choice([0, 0, most // 2]))
            weights *= kind_of(kind)(rng.choice([1, 1, 2**20]))
        else:
            weights = weights.astype(rng.choice(["int32", "int64"]))
    order = np.argsort(tails, kind="stable")
    offsets = np.searchsorted(tails[order], np.arange(count + 1))
    return groute_py.Graph.from_arrays(offsets, heads[order], weights[order])


def kind_of(name: str) -> Any:
    """The type of NumPy of this name."""
    return np.dtype(name).type


def check_values(
    graph: groute_py.Graph,
    objective: str,
    source: int,
    distances: Any,
    lengths: Any = None,
    targets: Any = None,
) -> None:
    """Compare the values of some vertices, or all, with the best ones."""
    right = best(graph, objective, source)
    vertices = range(graph.vertex_count) if targets is None else targets
    for place, vertex in enumerate(vertices):
        value = distances[place].item()
        if vertex not in right:
            assert value in (UNREACHED, math.inf), (objective, vertex, value)
        elif objective == "reliable":
            assert math.isclose(value, right[vertex], rel_tol=1e-12), (value, right[vertex])
        elif objective == "fewest-arcs":
            assert value == right[vertex][0], (vertex, value, right[vertex])
            assert lengths is None or lengths[place] == right[vertex][1]
        else:
            assert value == right[vertex], (objective, vertex, value, right[vertex])


def value_of(graph: groute_py.Graph, objective: str, path: list[int]) -> Any:
    """The value of a path, each of whose arcs is the best of the parallel ones."""
    rule = RULES[objective]
    value = rule.begin(graph)
    for tail, head in itertools.pairwise(path):
        arcs = range(graph.offsets[tail], graph.offsets[tail + 1])
        there = [graph.weights[arc].item() for arc in arcs if graph.heads[arc] == head]
        assert there, (tail, head)
        value = min((rule.longer(value, weight) for weight in there), key=rule.key)
    return value
