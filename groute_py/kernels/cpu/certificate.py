"""The optimality certificate, and the serial oracle."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from groute_py.kernels.cpu.algebra import extend
from groute_py.kernels.cpu.kernel import kernel

NO_PARENT = np.uint64(0xFFFFFFFFFFFFFFFF)
"""−1, where predecessors are unsigned."""


@kernel
def find_led(rows: Any, arcs: Any, answer: Any, led: Any) -> Any:
    """Return True if no arc of a range of rows shortens a distance, or has a negative weight.

    Sets ``led`` (bool, (n,)) where a tight arc leads to from a smaller distance; with predecessors
    only where it leads from these. Vertices and offsets are unsigned. The ``answer`` are distances,
    predecessors (uint64, (n,), or (0,) for none), ``nothing``, and the greatest distance that
    counts.
    """
    offsets, heads, weights = arcs
    distances, parents, nothing, bound = answer
    one, is_tree = np.uint64(1), len(parents) > 0
    for tail in range(rows[0], rows[1]):
        base = distances[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            weight = weights[arc]
            if weight < 0:
                return False
            if base > nothing - weight:
                continue  # the sum would not fit, so it shortens nothing
            head, reach = heads[arc], extend(base, weight)
            if reach < distances[head]:
                if reach <= bound:
                    return False
            elif (
                base < reach and reach == distances[head] and (not is_tree or parents[head] == tail)
            ):
                led[head] = True
    return True


@kernel
def are_led(rows: Any, answer: Any, source: Any, led: Any) -> Any:
    """Return True if no vertex of a range is in doubt once `find_led` has looked at all rows."""
    distances, parents, nothing, bound = answer
    is_tree = len(parents) > 0
    for vertex in range(rows[0], rows[1]):
        distance = distances[vertex]
        if vertex == source:
            if distance != 0:
                return False
        elif distance != nothing and not (led[vertex] and distance <= bound):
            return False
        if is_tree and (vertex == source or distance == nothing) and parents[vertex] != NO_PARENT:
            return False
    return True


@kernel
def improvable_arc(rows: Any, arcs: Any, distances: Any, nothing: Any, cutoff: Any) -> Any:
    """The first (tail, arc) in a range of rows that would shorten a distance, or (−1, −1)."""
    offsets, heads, weights = arcs
    for tail in range(rows[0], rows[1]):
        if distances[tail] == nothing:
            continue
        for arc in range(offsets[tail], offsets[tail + 1]):
            if weights[arc] > 0 and distances[tail] > nothing - weights[arc]:
                continue  # the sum would not fit, so it shortens nothing
            reach = extend(distances[tail], weights[arc])
            if reach < distances[heads[arc]] and reach <= cutoff:
                return tail, arc
    return -1, -1


@kernel
def is_tight(base: Any, weight: Any, reach: Any) -> Any:
    """The arc gives its head just its distance. A sum that has wrapped gives none."""
    if (weight > 0 and reach < base) or (weight < 0 and reach > base):
        return False
    return extend(base, weight) == reach


@kernel
def lead_from_nearer(rows: Any, arcs: Any, distances: Any, led: Any) -> None:
    """Set ``led`` where a tight arc of a range of rows leads to from a smaller distance."""
    offsets, heads, weights = arcs
    for tail in range(rows[0], rows[1]):
        base = distances[tail]
        for arc in range(offsets[tail], offsets[tail + 1]):
            reach = distances[heads[arc]]
            if base < reach and is_tight(base, weights[arc], reach):
                led[heads[arc]] = True


@kernel
def spread(arcs: Any, distances: Any, source: Any) -> Any:
    """bool, shape (n,): the vertices that tight arcs lead to from the source."""
    offsets, heads, weights = arcs
    count = len(offsets) - 1
    seen = np.zeros(count, np.bool_)
    stack = np.empty(count, np.int64)
    seen[source], stack[0], size = True, source, 1
    while size > 0:
        size -= 1
        tail = stack[size]
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = heads[arc]
            if not seen[head] and is_tight(distances[tail], weights[arc], distances[head]):
                seen[head], stack[size] = True, head
                size += 1
    return seen


@kernel
def lengths_along(arcs: Any, distances: Any, source: Any, steps: Any, absolute: Any) -> None:
    """Follow tight arcs of floats from the source, breadth first.

    Fills ``steps`` (int64, (n,), all −1) with the arcs on the way to each vertex, and ``absolute``
    (float64, (n,)) with the sum of their absolute weights.
    """
    offsets, heads, weights = arcs
    queue = np.empty(len(steps), np.int64)
    queue[0], size, done = source, 1, 0
    steps[source], absolute[source] = 0, 0.0
    while done < size:
        tail = queue[done]
        done += 1
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = heads[arc]
            if steps[head] < 0 and is_tight(distances[tail], weights[arc], distances[head]):
                steps[head] = steps[tail] + 1
                absolute[head] = absolute[tail] + abs(np.float64(weights[arc]))
                queue[size] = head
                size += 1


@kernel
def tight_parents(rows: Any, arcs: Any, distances: Any, parents: Any, tight: Any) -> None:
    """Set ``tight`` of those whose predecessor, in a range of rows, has a tight arc to them."""
    offsets, heads, weights = arcs
    for tail in range(rows[0], rows[1]):
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = heads[arc]
            if parents[head] == tail and not tight[head]:
                tight[head] = is_tight(distances[tail], weights[arc], distances[head])


@kernel
def is_rooted(parents: Any, source: Any) -> Any:
    """bool, shape (n,): whose chain of predecessors ends at the source."""
    unknown, good, bad = 0, 1, 2
    state = np.zeros(len(parents), np.uint8)
    state[source] = good
    for start in range(len(parents)):
        vertex = start
        steps = 0
        while vertex >= 0 and state[vertex] == unknown and steps <= len(parents):
            vertex = parents[vertex]
            steps += 1
        verdict = good if vertex >= 0 and state[vertex] == good else bad
        vertex = start
        while vertex >= 0 and state[vertex] == unknown:
            state[vertex] = verdict
            vertex = parents[vertex]
    return state == good


@kernel
def dijkstra(offsets: Any, heads: Any, weights: Any, source: Any, distances: Any) -> None:
    """Dijkstra with a binary heap whose stale entries are skipped; fills ``distances``."""
    distances[source] = 0
    heap = [(distances[source], source)]
    while len(heap) > 0:
        distance, tail = heapq.heappop(heap)
        if distance > distances[tail]:
            continue
        for arc in range(offsets[tail], offsets[tail + 1]):
            reach = extend(distance, weights[arc])
            if reach < distances[heads[arc]]:
                distances[heads[arc]] = reach
                heapq.heappush(heap, (reach, np.int64(heads[arc])))
