"""Dijkstra with a binary heap and decrease-key (S15), as in ``heap.cu``; predecessors of rows.

Threads solve for one source each, so nothing is shared but the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

OPEN = -2
"""Reached, and its predecessor not found yet."""


@njit(cache=True, nogil=True)
def dijkstra(offsets: Any, heads: Any, weights: Any, source: Any, distances: Any) -> Any:
    """Fill ``distances``, which are all unreached; returns whether every sum fits.

    Args:
        offsets: uint64, shape (n + 1,).
        heads: uint32, shape (m,).
        weights: of the type of the distances, not negative.
        source: the vertex to start from.
        distances: shape (n,), filled with the greatest value of an integer type, or infinity.
    """
    count = len(distances)
    nothing = distances[source]
    keys = np.empty(count + 1, distances.dtype)
    vertices = np.empty(count + 1, np.uint32)
    place = np.zeros(count, np.uint32)
    distances[source] = 0
    keys[1], vertices[1], place[source] = 0, source, 1
    size = 1
    while size > 0:
        known, tail = keys[1], vertices[1]
        place[tail] = 0
        last_key, last_vertex = keys[size], vertices[size]
        size -= 1
        at = 1
        while 2 * at <= size:
            child = 2 * at
            if child < size and keys[child + 1] < keys[child]:
                child += 1
            if last_key <= keys[child]:
                break
            keys[at], vertices[at] = keys[child], vertices[child]
            place[vertices[at]] = at
            at = child
        if size > 0:
            keys[at], vertices[at] = last_key, last_vertex
            place[last_vertex] = at
        for arc in range(offsets[tail], offsets[tail + np.uint64(1)]):
            head = heads[arc]
            reach = known + weights[arc]
            if weights[arc] >= nothing - known or reach >= nothing:  # of integers, of floats
                return False
            if reach >= distances[head]:
                continue
            distances[head] = reach
            at = place[head]
            if at == 0:
                size += 1
                at = size
            while at > 1 and keys[at // 2] > reach:
                keys[at], vertices[at] = keys[at // 2], vertices[at // 2]
                place[vertices[at]] = at
                at //= 2
            keys[at], vertices[at] = reach, head
            place[head] = at
    return True


@njit(cache=True, nogil=True)
def find_parents(
    offsets: Any, tails: Any, weights: Any, source: Any, distances: Any, nothing: Any, parents: Any
) -> None:
    """Predecessors of one row of exact distances, as ``parents.cu`` finds them.

    Args:
        offsets: uint64, shape (n + 1,), of the arcs that come in.
        tails: uint32, shape (m,).
        weights: of the type of the distances.
        source: of the row.
        distances: shape (n,).
        nothing: the distance of unreached vertices.
        parents: int32, shape (n,), to be filled.
    """
    left = False
    for head in range(len(distances)):
        known = distances[head]
        parents[head] = -1
        if head == source or known == nothing:
            continue
        parents[head] = OPEN
        for arc in range(offsets[head], offsets[head + 1]):
            tail = tails[arc]
            before = distances[tail]
            if before > known or before + weights[arc] != known:
                continue
            if tail == source:
                parents[head] = tail
                break
            if before < known:
                parents[head] = tail
        left = left or parents[head] == OPEN
    while left:
        left = False
        for head in range(len(distances)):
            if parents[head] != OPEN:
                continue
            known = distances[head]
            for arc in range(offsets[head], offsets[head + 1]):
                tail = tails[arc]
                level = distances[tail] == known and known + weights[arc] == known
                if level and parents[tail] >= 0:
                    parents[head] = tail
                    left = True
                    break
