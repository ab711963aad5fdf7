"""Distances with costs of turns by labels of arcs, in plain Python; no expansion of vertices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from groute_py import UNREACHED, Graph

Turns = Mapping[tuple[int, int, int], Any]
"""The cost of each turn (tail, via, head); None where it is forbidden."""

ArcTurns = Mapping[tuple[int, int], Any]
"""The same of turns from an arc to an arc, by their numbers."""


def distances_over_arcs(graph: Graph, turns: Turns, source: int, *, reverse: bool = False) -> Any:
    """Distances from a vertex, or to it, in our conventions."""
    return distances_by_arc(graph, by_arc(graph, turns), source, reverse=reverse)


def by_arc(graph: Graph, turns: Turns) -> dict[tuple[int, int], Any]:
    """Turns of vertices as those of all parallel arcs."""
    arcs = _arcs(graph)
    result = {}
    for before, behind in pairs_of(graph):
        turn = (*arcs[before][:2], arcs[behind][1])
        if turn in turns:
            result[before, behind] = turns[turn]
    return result


def pairs_of(graph: Graph) -> list[tuple[int, int]]:
    """All arcs that can follow each other, by their numbers."""
    leaving: dict[int, list[int]] = {}
    for arc, (tail, _, _) in enumerate(_arcs(graph)):
        leaving.setdefault(tail, []).append(arc)
    heads = graph.heads.tolist()
    return [(arc, after) for arc, head in enumerate(heads) for after in leaving.get(head, [])]


def distances_by_arc(graph: Graph, turns: ArcTurns, source: int, *, reverse: bool = False) -> Any:
    """Distances from a vertex, or to it, in our conventions."""
    result = [np.inf] * graph.vertex_count
    result[source] = 0
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    ends: list[int] = (tails if reverse else graph.heads).tolist()
    for arc, length in labels_of_arcs(graph, turns, source, reverse=reverse).items():
        result[ends[arc]] = min(result[ends[arc]], length)
    if graph.weights.dtype.kind == "f":
        return np.array(result)
    return np.array([UNREACHED if length == np.inf else length for length in result])


def labels_of_arcs(
    graph: Graph, turns: ArcTurns, source: int, *, reverse: bool = False
) -> dict[int, Any]:
    """The cost from a vertex to the end of each arc that is reached; labels are corrected.

    Reversed, that from the begin of the arc to the vertex.
    """
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
        for after in behind[arcs[arc][1]]:
            weight, cost = arcs[after][2], turns.get((arc, after), 0)
            if cost is not None and labels[arc] + cost + weight < labels.get(after, np.inf):
                labels[after] = labels[arc] + cost + weight
                work.append(after)
    return labels


def check_walk(graph: Graph, turns: Turns, path: Sequence[int], length: Any) -> None:
    """Each step is an arc and no turn is forbidden; weights and costs sum up to the length."""
    weights: dict[tuple[int, int], Any] = {}
    for tail, head, weight in _arcs(graph):
        weights[tail, head] = min(weight, weights.get((tail, head), weight))
    costs = [turns.get(turn, 0) for turn in zip(path, path[1:], path[2:], strict=False)]
    total = sum(weights[step] for step in pairwise(path)) + sum(costs)
    np.testing.assert_allclose(float(total), float(length), rtol=1e-5, atol=1e-5)


def least_cost(graph: Graph, turns: ArcTurns, path: Sequence[int]) -> Any:
    """The least cost of arcs along a path, with their turns; infinity where there are none."""
    arcs, labels = _arcs(graph), dict[Any, Any]({None: 0})
    for step in pairwise(path):
        result: dict[Any, Any] = {}
        for arc in [number for number, entry in enumerate(arcs) if entry[:2] == step]:
            for before, length in labels.items():
                cost = 0 if before is None else turns.get((before, arc), 0)
                if cost is not None:
                    total = length + cost + arcs[arc][2]
                    result[arc] = min(total, result.get(arc, total))
        labels = result
    return min(labels.values(), default=np.inf)


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
