"""Breadth-first search on one core: vertices in the order of discovery, each with its predecessor.

Moore, "The shortest path through a maze" (1959).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import BUCKETS, HEAD, NEAR_COUNT, RELAXATIONS


@kernel
def search(
    offsets: Any,
    heads: Any,
    hops: Any,
    parents: Any,
    queue: Any,
    at: Any,
    limit: Any,
    cutoff: Any,
    nothing: Any,
    budget: Any,
) -> Any:
    """Search until ``budget`` arcs are done or what is left lies beyond ``limit``.

    Args:
        offsets, heads: the graph.
        hops: shape (n,), in the distance type.
        parents: int64, shape (n,).
        queue: uint32, shape (n,); those from ``at[HEAD]`` on, ``at[NEAR_COUNT]`` of them, are left.
        at: int64 cursors.
        limit: float64; cutoff, nothing: in the distance type.

    Returns:
        The hops of the next vertex, or ``nothing``.
    """
    one = np.uint64(1)
    taken = np.uint64(at[HEAD])
    filled, done = taken + np.uint64(at[NEAR_COUNT]), np.uint64(0)
    floor = nothing
    while taken < filled:
        tail = queue[taken]
        level = hops[tail]
        if done >= budget or float(level) > limit:
            floor = level
            break
        taken += one
        at[BUCKETS] = level + 1
        if level >= cutoff:
            continue
        done += one + offsets[tail + one] - offsets[tail]
        at[RELAXATIONS] += offsets[tail + one] - offsets[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if hops[head] == nothing:
                hops[head] = level + 1
                parents[head] = tail
                queue[filled] = head
                filled += one
    at[HEAD], at[NEAR_COUNT] = taken, filled - taken
    return floor
