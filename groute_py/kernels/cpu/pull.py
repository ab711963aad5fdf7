"""Bellman-Ford by min-plus products, for each storage of ``kernels/min_plus/bellman_ford.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import BUCKETS, NEAR_COUNT, OVERFLOWED, RELAXATIONS, reach_of


@kernel
def csr(arcs: Any, distances: Any, at: Any, bounds: Any) -> None:
    """Take rounds over arcs by head until one changes nothing; ``at[NEAR_COUNT]`` is then 0."""
    incoming, tails, values = arcs
    _, cutoff, nothing, budget = bounds
    one, done = np.uint64(1), np.uint64(0)
    while at[NEAR_COUNT] and done <= budget:
        at[NEAR_COUNT] = 0
        at[BUCKETS] += 1
        for head in range(np.uint64(len(incoming) - 1)):
            best = distances[head]
            for arc in range(incoming[head], incoming[head + one]):
                base = distances[tails[arc]]
                if base == nothing:
                    continue
                reach = reach_of(base, values[arc], nothing)
                if reach == nothing:
                    at[OVERFLOWED] |= cutoff == nothing
                elif reach < best and reach <= cutoff:
                    best = reach
            if best < distances[head]:
                distances[head] = best
                at[NEAR_COUNT] = 1
        done += np.uint64(len(tails)) + one
        at[RELAXATIONS] += len(tails)


@kernel
def ell(slots: Any, distances: Any, at: Any, bounds: Any) -> None:
    """The same with ``tails`` and ``values`` of shape (width, n), slot by slot.

    A value of ``nothing`` is no arc, and the last of its vertex.
    """
    tails, values = slots
    _, cutoff, nothing, budget = bounds
    one, done = np.uint64(1), np.uint64(0)
    width, count = np.uint64(tails.shape[0]), np.uint64(tails.shape[1])
    while at[NEAR_COUNT] and done <= budget:
        at[NEAR_COUNT] = 0
        at[BUCKETS] += 1
        for slot in range(width):
            for head in range(count):
                value = values[slot, head]
                if value == nothing:
                    continue
                base = distances[tails[slot, head]]
                at[RELAXATIONS] += 1
                if base == nothing:
                    continue
                reach = reach_of(base, value, nothing)
                if reach == nothing:
                    at[OVERFLOWED] |= cutoff == nothing
                elif reach < distances[head] and reach <= cutoff:
                    distances[head] = reach
                    at[NEAR_COUNT] = 1
        done += width * count + one


@kernel
def dense(matrix: Any, distances: Any, at: Any, bounds: Any) -> None:
    """The same with the transposed matrix: row v has the weights of the arcs to v."""
    _, cutoff, nothing, budget = bounds
    count, done = len(matrix), 0
    while at[NEAR_COUNT] and done <= budget:
        at[NEAR_COUNT] = 0
        at[BUCKETS] += 1
        for head in range(count):
            best = distances[head]
            for tail in range(count):
                base, value = distances[tail], matrix[head, tail]
                if base == nothing or value == nothing:
                    continue
                reach = reach_of(base, value, nothing)
                if reach == nothing:
                    at[OVERFLOWED] |= cutoff == nothing
                elif reach < best and reach <= cutoff:
                    best = reach
            if best < distances[head]:
                distances[head] = best
                at[NEAR_COUNT] = 1
        done += count * count + 1
        at[RELAXATIONS] += count * count
