"""A tree from a contraction hierarchy: upward from the source, and one sweep over all levels.

A sweep looks at every arc. Within a cutoff a *descent* looks at the arcs to the vertices below
those that are within it. It visits places in ascending order: arcs lead to lower places only, so
what lies above a place is final when it is visited. A bit for each place (``words``, uint64) says
that it is reached and has not been visited.

Vertices are numbered by places, and distances stand in their order; see
`groute_py.graph.hierarchy.hierarchy`. Between the two the core is solved by Dijkstra's algorithm.
Sums are unsigned numbers of 64 bits, in which two weights always fit; one that does not fit in the
distance type is not less than the unreached value, and so is never stored.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from groute_py.kernels.cpu.heap import rise
from groute_py.kernels.cpu.kernel import kernel


@kernel
def climb(arcs: Any, starts: Any, nothing: Any, distances: Any, space: Any, at: Any) -> int:
    """Search upward from the nearest of some places (uint32); return how many places are found.

    Arcs lead to lower places only, so the highest place that is left has its distance along paths
    upward. It is relaxed once. Fills ``space`` (uint32, (n,)); adds relaxed arcs to ``at[0]``.
    """
    offsets, heads, up = arcs
    highest_first: list[Any] = [np.int64(0) for _ in range(0)]
    for start in starts:
        if distances[start] == nothing:
            distances[start] = 0
            heappush(highest_first, -np.int64(start))
    count = 0
    while len(highest_first) > 0:
        tail = -heappop(highest_first)
        space[count] = tail
        count += 1
        base = np.uint64(distances[tail])
        for arc in range(offsets[tail], offsets[tail + 1]):
            head, weight = heads[arc], up[arc]
            reach = base + np.uint64(weight)
            if weight == nothing or reach >= np.uint64(distances[head]):
                continue
            if distances[head] == nothing:
                heappush(highest_first, -np.int64(head))
            distances[head] = reach
        at[0] += offsets[tail + 1] - offsets[tail]
    return count


@kernel
def open_core(space: Any, core: Any, distances: Any, places: Any, heap: Any) -> Any:
    """Put found vertices of the core into a heap of `groute_py.kernels.cpu.heap`; count them."""
    count = np.uint64(0)
    for place in space:
        if place < core:
            rise(heap, places, distances, count, np.uint64(place))
            count += np.uint64(1)
    return count


@kernel
def sweep(runs: Any, heads: Any, down: Any, distances: Any) -> None:
    """Find the distances of all places but those of the core, level by level.

    Vertices with equally many arcs stand next to each other in a level: a *run*. So the processor
    foresees the end of every row. That is three times as fast as rows of mixed lengths. ``runs``
    (uint64, (r, 4)) are the first place, the end, arcs of a place and the first arc. Weights and
    distances are unsigned.
    """
    one = np.uint64(1)
    for run in range(len(runs)):
        degree, arc = runs[run, 2], runs[run, 3]
        for place in range(runs[run, 0], runs[run, 1]):
            best = np.uint64(distances[place])
            for _ in range(degree):
                best = min(best, np.uint64(distances[heads[arc]]) + np.uint64(down[arc]))
                arc += one
            distances[place] = best


@kernel
def answer(places: Any, distances: Any, nothing: Any, cutoff: Any, answers: Any) -> Any:
    """Put distances within the cutoff in order of the vertices; return the greatest of all."""
    greatest = nothing - nothing
    for vertex in range(len(places)):
        distance = distances[places[vertex]]
        answers[vertex] = distance if distance <= cutoff else nothing
        if distance != nothing:
            greatest = max(greatest, distance)
    return greatest


@kernel
def begin_lane(space: Any, core: Any, distances: Any, nothing: Any, lane: int, lanes: Any) -> None:
    """Move the places that a search has found, and the core, to a lane (n, k); clear them."""
    for place in range(core):
        lanes[place, lane] = distances[place]
        distances[place] = nothing
    for place in space:
        if place >= core:
            lanes[place, lane] = distances[place]
            distances[place] = nothing


@kernel
def sweep_lanes(runs: Any, heads: Any, down: Any, distances: Any) -> None:
    """Do `sweep` for k sources at once, (n, k): reads arcs once, distances in whole cache lines."""
    one = np.uint64(1)
    number = distances.dtype.type
    for run in range(len(runs)):
        degree, arc = runs[run, 2], runs[run, 3]
        for place in range(runs[run, 0], runs[run, 1]):
            for _ in range(degree):
                head, weight = heads[arc], down[arc]
                for lane in range(distances.shape[1]):
                    reach = number(distances[head, lane] + weight)
                    distances[place, lane] = min(distances[place, lane], reach)
                arc += one


@kernel
def answer_lanes(places: Any, distances: Any, nothing: Any, answers: Any) -> Any:
    """Put the first lanes into rows (r, n), by vertex; return the greatest distance, at least 0."""
    greatest = nothing - nothing
    for vertex in range(len(places)):
        place = places[vertex]
        for lane in range(len(answers)):
            distance = distances[place, lane]
            answers[lane, vertex] = distance
            if distance != nothing:
                greatest = max(greatest, distance)
    return greatest


@kernel
def mark_above(offsets: Any, heads: Any, marked: Any) -> None:
    """Mark (bool, (n,)) all places above the marked ones: arcs lead to lower places only."""
    for place in range(len(marked) - 1, -1, -1):
        if marked[place]:
            for arc in range(offsets[place], offsets[place + 1]):
                marked[heads[arc]] = True


BITS = 64
"""Bits of a word."""


@kernel
def open_places(places: Any, distances: Any, cutoff: Any, words: Any) -> None:
    """Set the bits of the places that are within the cutoff."""
    for place in places:
        if distances[place] <= cutoff:
            words[place // BITS] |= np.uint64(1) << np.uint64(place % BITS)


@kernel
def descend(
    below: Any, cutoff: Any, distances: Any, words: Any, space: Any, most: Any, at: Any
) -> int:
    """Find the distances within the cutoff; return how many, or −1 if given up after ``most`` arcs.

    The arcs ``below`` are by their heads: offsets (uint64, (n + 1,)), tails (uint32, (a,)) and
    weights; ``words`` are the bits to begin with, all 0 at the end.
    Fills ``space`` (uint32, (n,)) with the places, and adds the arcs that were looked at to
    ``at[0]``.
    """
    starts, tails, weights = below
    count, looked = 0, np.uint64(0)
    for number in range(len(words)):
        while words[number] != 0:
            word = words[number]
            lowest = word & (~word + np.uint64(1))
            words[number] = word ^ lowest
            if looked > most:
                words[number:] = 0
                at[0] += np.int64(looked)
                return -1
            place = number * BITS + _position(lowest)
            space[count] = place
            count += 1
            base = np.uint64(distances[place])
            begin, end = starts[place], starts[place + 1]
            looked += end - begin
            for arc in range(begin, end):
                reach = base + np.uint64(weights[arc])
                tail = tails[arc]
                if reach <= np.uint64(cutoff) and reach < np.uint64(distances[tail]):
                    distances[tail] = reach
                    words[tail // BITS] |= np.uint64(1) << np.uint64(tail % BITS)
    at[0] += np.int64(looked)
    return count


@kernel
def _position(bit: Any) -> int:
    """Return the position of the only bit that is set in a word."""
    position = 0
    for width in (32, 16, 8, 4, 2, 1):
        if bit >> np.uint64(width):
            bit >>= np.uint64(width)
            position += width
    return position


@kernel
def answer_found(space: Any, vertices: Any, distances: Any, nothing: Any, answers: Any) -> None:
    """Put distances of places into ``answers``, by ``vertices`` (uint32, (n,)), and clear them."""
    for place in space:
        answers[vertices[place]] = distances[place]
        distances[place] = nothing
