"""Shortest paths with Python integers; shares nothing with the package."""

from __future__ import annotations

import heapq
from collections import deque
from typing import NamedTuple


class Arc(NamedTuple):
    """An arc with its exact weight."""

    tail: int
    head: int
    weight: int


def distances_from(source: int, count: int, arcs: list[Arc]) -> list[int | None] | None:
    """Exact distances, None where no path leads; None where a negative cycle can be reached."""
    out: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for tail, head, weight in arcs:
        out[tail].append((head, weight))
    if all(arc.weight >= 0 for arc in arcs):
        return _dijkstra(source, out)
    return _bellman_ford(source, out)


def has_negative_cycle(count: int, arcs: list[Arc]) -> bool:
    """Whether there is one anywhere: all vertices are reached from one more."""
    everywhere = [Arc(count, vertex, 0) for vertex in range(count)]
    return distances_from(count, count + 1, arcs + everywhere) is None


def _dijkstra(source: int, out: list[list[tuple[int, int]]]) -> list[int | None]:
    result: list[int | None] = [None] * len(out)
    heap = [(0, source)]
    while heap:
        distance, tail = heapq.heappop(heap)
        if result[tail] is None:
            result[tail] = distance
            for head, weight in out[tail]:
                if result[head] is None:
                    heapq.heappush(heap, (distance + weight, head))
    return result


def _bellman_ford(source: int, out: list[list[tuple[int, int]]]) -> list[int | None] | None:
    """By a queue; a shortest path of n arcs or more has a negative cycle on it."""
    result: list[int | None] = [None] * len(out)
    steps = [0] * len(out)
    result[source] = 0
    queue, waits = deque([source]), [False] * len(out)
    while queue:
        tail = queue.popleft()
        waits[tail] = False
        distance = result[tail]
        assert distance is not None
        for head, weight in out[tail]:
            known = result[head]
            if known is None or distance + weight < known:
                result[head], steps[head] = distance + weight, steps[tail] + 1
                if steps[head] >= len(out):
                    return None
                if not waits[head]:
                    queue.append(head)
                    waits[head] = True
    return result
