"""A cycle of arcs, found by taking away vertices that no arc leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel


@kernel
def find_cycle(offsets: Any, heads: Any, in_offsets: Any, tails: Any) -> Any:
    """The vertices of a cycle in order, int64, or none; ``tails`` are of the transposed graph."""
    count = len(offsets) - 1
    left = offsets[1:] - offsets[:-1]
    bare = np.empty(count, np.int64)
    taken = 0
    for vertex in range(count):
        if left[vertex] == 0:
            bare[taken] = vertex
            taken += 1
    done = 0
    while done < taken:
        for arc in range(in_offsets[bare[done]], in_offsets[bare[done] + 1]):
            left[tails[arc]] -= 1
            if left[tails[arc]] == 0:
                bare[taken] = tails[arc]
                taken += 1
        done += 1
    if taken == count:
        return bare[:0]
    vertex = 0
    while left[vertex] == 0:
        vertex += 1
    place, length = np.full(count, -1, np.int64), 0
    while place[vertex] < 0:  # an arc leads from each vertex that is left to another one
        place[vertex], bare[length] = length, vertex
        length += 1
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            if left[heads[arc]] > 0:
                vertex = heads[arc]
                break
    return bare[place[vertex] : length].copy()
