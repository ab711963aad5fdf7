"""Dijkstra's algorithm with a binary heap (Williams, 1964) and decrease-key.

A second array has the place of each open vertex in the heap, from which it rises when its distance
falls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import BUCKETS, NEAR_COUNT, OVERFLOWED, RELAXATIONS, reach_of


@kernel
def rise(heap: Any, places: Any, distances: Any, place: Any, vertex: Any) -> None:
    """Put ``vertex`` at ``place`` or as far above as it belongs."""
    one = np.uint64(1)
    while place > 0:
        parent = (place - one) >> one
        above = heap[parent]
        if distances[above] <= distances[vertex]:
            break
        heap[place] = above
        places[above] = place + one
        place = parent
    heap[place] = vertex
    places[vertex] = place + one


@kernel
def sink(heap: Any, places: Any, distances: Any, count: Any, vertex: Any) -> None:
    """Put ``vertex`` at the top or as far below as it belongs."""
    one, place = np.uint64(1), np.uint64(0)
    while True:
        child = (place << one) + one
        if child >= count:
            break
        if child + one < count and distances[heap[child + one]] < distances[heap[child]]:
            child += one
        below = heap[child]
        if distances[vertex] <= distances[below]:
            break
        heap[place] = below
        places[below] = place + one
        place = child
    heap[place] = vertex
    places[vertex] = place + one


@kernel
def relax(arcs: Any, distances: Any, places: Any, heap: Any, at: Any, bounds: Any) -> Any:
    """Close vertices for a slice; return the least distance of an open vertex, or ``nothing``.

    ``places`` (uint32, (n,)) has a vertex's place in the heap from 1, or 0; the first
    ``at[NEAR_COUNT]`` of ``heap`` (uint32, (n,)) are in use.
    """
    offsets, heads, weights = arcs
    limit, cutoff, nothing, budget = bounds
    one = np.uint64(1)
    count, done = np.uint64(at[NEAR_COUNT]), np.uint64(0)
    floor = nothing
    while count > 0:
        tail = heap[0]
        floor = distances[tail]
        if done >= budget or float(floor) > limit:
            break
        count -= one
        places[tail] = 0
        if count > 0:
            sink(heap, places, distances, count, heap[count])
        at[BUCKETS] += 1
        done += offsets[tail + one] - offsets[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head, reach = heads[arc], reach_of(floor, weights[arc], nothing)
            if reach == nothing:
                at[OVERFLOWED] |= cutoff == nothing
            elif reach < distances[head] and reach <= cutoff:
                distances[head] = reach
                place = np.uint64(places[head])
                if place == 0:
                    count += one
                    place = count
                rise(heap, places, distances, place - one, head)
        floor = nothing
    at[NEAR_COUNT] = count
    at[RELAXATIONS] += done
    return floor
