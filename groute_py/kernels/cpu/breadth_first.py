"""Breadth-first search on one core (Moore, 1959), with predecessors, in order of discovery."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import BUCKETS, HEAD, NEAR_COUNT, RELAXATIONS


@kernel
def search(arcs: Any, hops: Any, parents: Any, queue: Any, at: Any, bounds: Any) -> Any:
    """Search a slice; return the hops of the next vertex, or ``nothing``.

    ``hops`` (n,) are in the distance type. ``queue`` is uint32, (n,), and ``at[NEAR_COUNT]``
    vertices from ``at[HEAD]`` on are left. ``parents`` is int64, (n,).
    """
    offsets, heads, _ = arcs
    limit, cutoff, nothing, budget = bounds
    one = np.uint64(1)
    front = np.uint64(at[HEAD])
    filled, done = front + np.uint64(at[NEAR_COUNT]), np.uint64(0)
    floor = nothing
    while front < filled:
        tail = queue[front]
        level = hops[tail]
        if done >= budget or float(level) > limit:
            floor = level
            break
        front += one
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
    at[HEAD], at[NEAR_COUNT] = front, filled - front
    return floor
