"""Dijkstra's algorithm (1959) without a heap: each step scans all open vertices for the nearest."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import BUCKETS, NEAR_COUNT, OVERFLOWED, RELAXATIONS, reach_of


@kernel
def relax(arcs: Any, distances: Any, places: Any, open_set: Any, at: Any, bounds: Any) -> Any:
    """Close vertices for a slice; return the least distance of an open vertex, or ``nothing``.

    ``places`` (uint8, (n,)) is 1 for open vertices, the first ``at[NEAR_COUNT]`` of ``open_set``
    (uint32, (n,)).
    """
    offsets, heads, weights = arcs
    limit, cutoff, nothing, budget = bounds
    one: Any = np.uint64(1)
    count: Any = np.uint64(at[NEAR_COUNT])
    left = budget
    floor = nothing
    while count > 0:
        best: Any = np.uint64(0)
        for i in range(one, count):
            if distances[open_set[i]] < distances[open_set[best]]:
                best = i
        tail = open_set[best]
        floor = distances[tail]
        if left <= 0 or float(floor) > limit:
            break
        left -= count
        count -= one
        open_set[best] = open_set[count]
        places[tail] = 0
        at[BUCKETS] += 1
        for arc in range(offsets[tail], offsets[tail + one]):
            head, reach = heads[arc], reach_of(floor, weights[arc], nothing)
            at[RELAXATIONS] += 1
            left -= 1
            if reach == nothing:
                at[OVERFLOWED] |= cutoff == nothing
            elif reach < distances[head] and reach <= cutoff:
                distances[head] = reach
                if not places[head]:
                    places[head] = 1
                    open_set[count] = head
                    count += one
        floor = nothing
    at[NEAR_COUNT] = count
    return floor
