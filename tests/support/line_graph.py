"""Distances with costs of turns by labels of arcs, in plain Python; no expansion of vertices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from groute_py import UNREACHED, Graph

Turns = Mapping[tuple[int, int, int], Any]
"""The cost of each turn (tail, via, head); None where it is forbidden."""


def distances_over_arcs(graph: Graph, turns: Turns, source: int, *, reverse: bool = False) -> Any:
    """Distances from a vertex, or to it, in our conventions: labels of arcs are corrected."""
    arcs = _arcs(graph)
    if reverse:
        arcs = [(head, tail, weight) for tail, head, weight in arcs]
        turns = {turn[::-1]: cost for turn, cost in turns.items()}
    behind: list[list[int]] = [[] for _ in range(graph.vertex_count)]
    for arc, (tail, _, _) in enumerate(arcs):
        behind[tail].append(arc)
    labels = {arc: arcs[arc][2] for arc in behind[source]}
    work = list(labels)
    while work:
        arc = work.pop(0)
        tail, via, _ = arcs[arc]
        for after in behind[via]:
            _, head, weight = arcs[after]
            cost = turns.get((tail, via, head), 0)
            if cost is not None and labels[arc] + cost + weight < labels.get(after, np.inf):
                labels[after] = labels[arc] + cost + weight
                work.append(after)
    found = [np.inf] * graph.vertex_count
    found[source] = 0
    for arc, length in labels.items():
        found[arcs[arc][1]] = min(found[arcs[arc][1]], length)
    if graph.weights.dtype.kind == "f":
        return np.array(found)
    return np.array([UNREACHED if length == np.inf else length for length in found])


def check_walk(graph: Graph, turns: Turns, path: Sequence[int], length: Any) -> None:
    """Each step is an arc and no turn is forbidden; weights and costs sum up to the length."""
    weights: dict[tuple[int, int], Any] = {}
    for tail, head, weight in _arcs(graph):
        weights[tail, head] = min(weight, weights.get((tail, head), weight))
    costs = [turns.get(turn, 0) for turn in zip(path, path[1:], path[2:], strict=False)]
    total = sum(weights[step] for step in pairwise(path)) + sum(costs)
    np.testing.assert_allclose(float(total), float(length), rtol=1e-5, atol=1e-5)


def turns_of(graph: Graph) -> list[tuple[int, int, int]]:
    """All turns of a graph, each once."""
    arcs = {(tail, head) for tail, head, _ in _arcs(graph)}
    heads: dict[int, list[int]] = {}
    for tail, head in sorted(arcs):
        heads.setdefault(tail, []).append(head)
    return [(tail, via, head) for tail, via in sorted(arcs) for head in heads.get(via, [])]


def _arcs(graph: Graph) -> list[tuple[int, int, Any]]:
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)).tolist()
    return list(zip(tails, graph.heads.tolist(), graph.weights.tolist(), strict=True))
