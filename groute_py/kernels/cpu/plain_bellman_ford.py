"""Plain Bellman-Ford: each round relaxes every arc. Bellman (1958), Ford (1956).

After k rounds every distance is at most that of the best path with k arcs. So n - 1 rounds are
enough if no negative cycle is reachable from the source.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import BUCKETS, NEAR_COUNT, OVERFLOWED, RELAXATIONS, reach_of


@kernel
def take_round(arcs: Any, distances: Any, at: Any, cutoff: Any, nothing: Any) -> bool:
    """Relax every arc that leaves a reached vertex; return True if that changed anything."""
    offsets, heads, weights = arcs
    one = np.uint64(1)
    count, relaxed = np.uint64(len(offsets) - 1), np.uint64(0)
    changed = overflowed = False
    for tail in range(count):
        if distances[tail] == nothing:
            continue
        relaxed += offsets[tail + one] - offsets[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head, reach = heads[arc], reach_of(distances[tail], weights[arc], nothing)
            if reach == nothing:
                overflowed = True
            elif reach < distances[head] and reach <= cutoff:
                distances[head] = reach
                changed = True
    at[BUCKETS] += 1
    at[RELAXATIONS] += relaxed
    at[OVERFLOWED] |= overflowed and cutoff == nothing
    return changed


@kernel
def relax(arcs: Any, distances: Any, at: Any, least_rounds: int, bounds: Any) -> None:
    """Take ``least_rounds``, and more until one changes nothing; ``at[NEAR_COUNT]`` is then 0."""
    _, cutoff, nothing, budget = bounds
    one, done = np.uint64(1), np.uint64(0)
    left = at[NEAR_COUNT] > 0
    while left and done < budget:
        changed = take_round(arcs, distances, at, cutoff, nothing)
        left = changed or at[BUCKETS] < least_rounds
        done += np.uint64(len(arcs[1])) + one  # so that a graph without arcs comes to an end
    at[NEAR_COUNT] = left
