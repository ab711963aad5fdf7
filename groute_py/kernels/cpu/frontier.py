"""Frontier Dijkstra on one core: ``kernels/frontier_dijkstra/frontier_dijkstra.cu``.

Crauser, Mehlhorn, Meyer and Sanders (1998). `groute_py.kernels.choices` has the criteria by which
a round settles many open vertices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.choices import IN, OUT
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import BUCKETS, NEAR_COUNT, OVERFLOWED, RELAXATIONS, reach_of

UNOPENED, OPEN, CLOSED = range(3)
"""States of a vertex."""


class Frontier(NamedTuple):
    """The state of a solve, shape (n,)."""

    states: Any  # uint8: `UNOPENED`, `OPEN` or `CLOSED`
    open_set: Any  # uint32, of which the first ``at[NEAR_COUNT]`` are open
    settled: Any  # uint32, those of a round
    skips: Any  # uint64, arcs at the begin of a row that lead to closed vertices
    lightest: Any  # the least weights of incoming arcs


@kernel
def lightest_incoming(heads: Any, weights: Any, lightest: Any) -> None:
    """Lower ``lightest`` to the least weight of the arcs to each vertex."""
    for arc in range(len(heads)):
        head = heads[arc]
        lightest[head] = min(lightest[head], weights[arc])


@kernel
def reach_out(arcs: Any, states: Any, skips: Any, vertex: Any, base: Any, nothing: Any) -> Any:
    """The least distance + weight over arcs of ``vertex`` to what is not closed, or ``nothing``."""
    offsets, heads, weights = arcs
    one = np.uint64(1)
    arc, end = offsets[vertex] + skips[vertex], offsets[vertex + one]
    while arc < end and states[heads[arc]] == CLOSED:
        arc += one
    skips[vertex] = arc - offsets[vertex]
    return reach_of(base, weights[arc], nothing) if arc < end else nothing


@kernel
def relax(arcs: Any, distances: Any, frontier: Any, at: Any, criterion: Any, bounds: Any) -> Any:
    """Take rounds for a slice; return the least distance of an open vertex, or ``nothing``.

    Rows are by ascending weight. ``criterion`` has the bits `OUT` and `IN`.
    """
    offsets, heads, weights = arcs
    states, open_set, settled, skips, lightest = frontier
    limit, cutoff, nothing, budget = bounds
    one = np.uint64(1)
    by_out, by_in = criterion & OUT != 0, criterion & IN != 0
    count, done = np.uint64(at[NEAR_COUNT]), np.uint64(0)
    least = nothing
    while count > 0:
        least, bound = nothing, nothing
        for i in range(count):
            vertex = open_set[i]
            base = distances[vertex]
            least = min(least, base)
            if by_out:
                bound = min(bound, reach_out(arcs, states, skips, vertex, base, nothing))
        if done >= budget or float(least) > limit:
            break
        open_count, closed = np.uint64(0), np.uint64(0)
        for i in range(count):
            vertex = open_set[i]
            base = distances[vertex]
            closing = base == least or (by_out and base <= bound)
            if by_in and not closing:
                closing = base <= reach_of(least, lightest[vertex], nothing)
            if closing:
                states[vertex] = CLOSED
                settled[closed] = vertex
                closed += one
            else:
                open_set[open_count] = vertex
                open_count += one
        done += count
        count = open_count
        at[BUCKETS] += 1
        for i in range(closed):
            tail = settled[i]
            done += offsets[tail + one] - offsets[tail]
            at[RELAXATIONS] += offsets[tail + one] - offsets[tail]
            for arc in range(offsets[tail], offsets[tail + one]):
                head, reach = heads[arc], reach_of(distances[tail], weights[arc], nothing)
                if reach == nothing:
                    at[OVERFLOWED] |= cutoff == nothing
                elif reach < distances[head] and reach <= cutoff:
                    distances[head] = reach
                    if states[head] == UNOPENED:
                        states[head] = OPEN
                        open_set[count] = head
                        count += one
        least = nothing
    at[NEAR_COUNT] = count
    return least
