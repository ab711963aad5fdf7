"""Plain Bellman-Ford (S6): every arc in every round, until a round changes nothing.

After k rounds every distance is at most that of the best path of k arcs, so without a negative
cycle that the source reaches it ends within n rounds. Bellman (1958), Ford (1956).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from groute_py.kernels.cpu.near_far import NEAR_COUNT, OVERFLOWED, RELAXATIONS, WINDOWS
from groute_py.kernels.cpu.sums import reach_of


@njit(cache=True, nogil=True)
def relax(
    offsets: Any,
    heads: Any,
    weights: Any,
    distances: Any,
    at: Any,
    cutoff: Any,
    nothing: Any,
    budget: Any,
) -> None:
    """Take rounds until ``budget`` arcs are done or one changes nothing.

    Args:
        offsets, heads, weights: the graph; weights in the distance type.
        distances: shape (n,).
        at: int64 cursors; ``at[NEAR_COUNT]`` is 0 when a round has changed nothing.
        cutoff, nothing: in the distance type.
    """
    one = np.uint64(1)
    count, done = np.uint64(len(offsets) - 1), np.uint64(0)
    changed = at[NEAR_COUNT] > 0
    while changed and done < budget:
        changed = False
        at[WINDOWS] += 1
        done += one  # so that a graph without arcs does not go on for ever
        for tail in range(count):
            if distances[tail] == nothing:
                continue
            done += offsets[tail + one] - offsets[tail]
            at[RELAXATIONS] += offsets[tail + one] - offsets[tail]
            for arc in range(offsets[tail], offsets[tail + one]):
                head, reach = heads[arc], reach_of(distances[tail], weights[arc], nothing)
                if reach == nothing:
                    at[OVERFLOWED] |= cutoff == nothing
                elif reach < distances[head] and reach <= cutoff:
                    distances[head] = reach
                    changed = True
    at[NEAR_COUNT] = changed
