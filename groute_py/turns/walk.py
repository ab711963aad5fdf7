"""The arcs of a shortest path with turns of which the vertices are known.

Turns between arcs tell parallel arcs apart. So the arc to a vertex is chosen by what may follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.turns.expanded import Given

Way = tuple[Any, Any]
"""The cost to come to a place, and how: the last arc and the way before it, or None."""


def arcs_along(given: Given, vertices: Sequence[int]) -> list[int]:
    """The numbers of the arcs of the cheapest walk over some vertices, one fewer than these."""
    ways: dict[int, Way] = {vertices[0]: (0, None)}
    for tail, head in pairwise(vertices):
        ways = _onward(given, ways, tail, head)
    way: Any = min(ways.values(), key=lambda found: found[0])[1]
    arcs = []
    while way is not None:
        arc, way = way
        arcs.append(arc)
    return arcs[::-1]


def _onward(given: Given, ways: dict[int, Way], tail: int, head: int) -> dict[int, Way]:
    """The cheapest ways to the places of a vertex, by its place, from those to the one before."""
    graph, places = given
    found: dict[int, Way] = {}
    for place, (cost, way) in ways.items():
        for arc, turn in _leaving(given, place, tail, head):
            total, at = cost + graph.weights[arc].item() + turn, int(places.heads[arc])
            if at not in found or total < found[at][0]:
                found[at] = total, (arc, way)
    return found


def _leaving(given: Given, place: int, tail: int, head: int) -> list[tuple[int, Any]]:
    """The arcs from a place of a vertex to another vertex, and the costs of the turns to them."""
    graph, places = given
    arcs: NDArray[np.int64]
    if place == tail:  # no turn is listed from the arc that led here, if any
        arcs = np.arange(*graph.offsets[tail : tail + 2])
        costs: Any = np.zeros(len(arcs), np.int64)
    else:
        some = slice(*np.searchsorted(places.copies, [place, place + 1]))
        arcs, costs = places.arcs[some], places.costs[some]
    is_there = graph.heads[arcs] == head
    return list(zip(arcs[is_there].tolist(), costs[is_there].tolist(), strict=True))
