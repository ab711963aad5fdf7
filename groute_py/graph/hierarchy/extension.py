"""The hierarchy of a graph with some more vertices, which are contracted before all others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.hierarchy.hierarchy import Hierarchy

Neighbours = dict[int, dict[int, int]]
"""The weights of the arcs of each new vertex, by the vertices at their other ends."""


def extended(
    hierarchy: Hierarchy, count: int, arcs: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
) -> tuple[Hierarchy, Mapping[tuple[int, int], int]]:
    """Return the hierarchy of a graph with ``count`` more vertices, from n on.

    Rounds of independent sets become levels behind those that are there. The work is that of the
    new vertices, which should have few neighbours.

    Args:
        hierarchy: of n vertices.
        arcs: tails, heads and weights of all arcs of which an end is new, shape (a,) each.

    Returns:
        The hierarchy, and the least weights of paths over new vertices from one of the n vertices
        to another. It is right if the hierarchy had paths between these that are no longer.
    """
    host, first = hierarchy.to_host(), hierarchy.vertex_count
    out: Neighbours = {vertex: {} for vertex in range(first, first + count)}
    into: Neighbours = {vertex: {} for vertex in out}
    between: dict[tuple[int, int], int] = {}

    def add(tail: int, head: int, weight: int) -> None:
        if tail < first and head < first:
            between[tail, head] = min(weight, between.get((tail, head), weight))
        if tail in out:
            out[tail][head] = min(weight, out[tail].get(head, weight))
        if head in into:
            into[head][tail] = min(weight, into[head].get(tail, weight))

    for tail, head, weight in zip(*(array.tolist() for array in arcs), strict=True):
        if tail != head:
            add(tail, head, weight)
    rounds: list[dict[int, tuple[dict[int, int], dict[int, int]]]] = []
    while out:
        rounds.append({})
        near: set[int] = set()
        for vertex in [*out]:
            if vertex not in near:
                near |= out[vertex].keys() | into[vertex].keys()
                rounds[-1][vertex] = into[vertex], out[vertex]
        for vertex in rounds[-1]:
            del out[vertex], into[vertex]
        for vertex, (before, behind) in rounds[-1].items():
            for other in before.keys() & out.keys():
                del out[other][vertex]
            for other in behind.keys() & into.keys():
                del into[other][vertex]
            for tail, weight in before.items():
                for head, further in behind.items():
                    if tail != head:
                        add(tail, head, weight + further)
    return _behind(host, rounds), between


def _behind(
    host: Hierarchy, rounds: list[dict[int, tuple[dict[int, int], dict[int, int]]]]
) -> Hierarchy:
    """Put rounds behind the levels that are there, the last one first."""
    places = np.empty(host.vertex_count, np.int64)
    places[host.vertices] = np.arange(host.vertex_count)
    new = [vertex for contracted in reversed(rounds) for vertex in contracted]
    place_of = {vertex: host.vertex_count + number for number, vertex in enumerate(new)}
    levels, offsets = list(host.levels), [host.arc_count]
    rows: list[tuple[int, int, int]] = []
    unreached = int(np.iinfo(host.type).max)
    for contracted in reversed(rounds):
        levels.append(levels[-1] + len(contracted))
        for before, behind in contracted.values():
            rows += sorted(
                (
                    place_of[other] if other in place_of else int(places[other]),
                    before.get(other, unreached),
                    behind.get(other, unreached),
                )
                for other in before.keys() | behind.keys()
            )
            offsets.append(host.arc_count + len(rows))
    heads, down, up = np.array(rows, np.int64).reshape(-1, 3).T
    return replace(
        host,
        levels=tuple(levels),
        vertices=np.concatenate([host.vertices, np.array(new, np.int32)]),
        offsets=np.concatenate([host.offsets, np.array(offsets[1:], np.int64)]),
        heads=np.concatenate([host.heads, heads.astype(np.int32)]),
        down=np.concatenate([host.down, down.astype(host.type)]),
        up=np.concatenate([host.up, up.astype(host.type)]),
    )
