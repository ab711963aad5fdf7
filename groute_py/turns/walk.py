"""The arcs of a shortest path with turns of which the vertices are known.

Turns between arcs tell parallel arcs apart. So the arc to a vertex is chosen by what may follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.turns.expanded import Original

Way = tuple[Any, Any]
"""The cost to come to a place, and how: the last arc and the way before it, or None."""


def arcs_along(original: Original, vertices: Sequence[int]) -> list[int]:
    """The numbers of the arcs of the cheapest walk over some vertices, one fewer than these."""
    ways: dict[int, Way] = {vertices[0]: (0, None)}
    for tail, head in pairwise(vertices):
        ways = _onward(original, ways, tail, head)
    way: Any = min(ways.values(), key=lambda entry: entry[0])[1]
    arcs = []
    while way is not None:
        arc, way = way
        arcs.append(arc)
    return arcs[::-1]


def _onward(original: Original, ways: dict[int, Way], tail: int, head: int) -> dict[int, Way]:
    """The cheapest ways to the places of a vertex, by its place, from those to the one before."""
    graph, places = original
    onward: dict[int, Way] = {}
    for place, (cost, way) in ways.items():
        for arc, turn in _leaving(original, place, tail, head):
            total, at = cost + graph.weights[arc].item() + turn, int(places.heads[arc])
            if at not in onward or total < onward[at][0]:
                onward[at] = total, (arc, way)
    return onward


def _leaving(original: Original, place: int, tail: int, head: int) -> list[tuple[int, Any]]:
    """The arcs from a place of a vertex to another vertex, and the costs of the turns to them."""
    graph, places = original
    arcs: NDArray[np.int64]
    if place == tail:  # no turn is listed from the arc that led here, if any
        arcs = np.arange(*graph.offsets[tail : tail + 2])
        costs: Any = np.zeros(len(arcs), np.int64)
    else:
        some = slice(*np.searchsorted(places.copies, [place, place + 1]))
        arcs, costs = places.arcs[some], places.costs[some]
    is_there = graph.heads[arcs] == head
    return list(zip(arcs[is_there].tolist(), costs[is_there].tolist(), strict=True))
