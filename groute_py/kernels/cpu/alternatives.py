"""Routes between two vertices that differ as people see it, by plateaus.

Abraham, Delling, Goldberg and Werneck, "Alternative Routes in Road Networks" (2013). A *plateau*
is a path that lies in the tree from the source and in one to the target: it goes through vertices
in the order in which shortest paths from the source and to the target do. An alternative takes the
shortest path to a plateau, follows it, and takes the shortest path from there. All of its parts
are shortest paths, unless they hold the plateau and the arcs before and behind it, its *span*.

A search from the source, with the distances to the target as its potential, finds the tree where
paths are short enough. A plateau ends where no arc of the tree goes on towards the target.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from groute_py.kernels.cpu.atomics import load
from groute_py.kernels.cpu.k_paths import LOST, STAMP, STOP, joined, put_in_order, search
from groute_py.kernels.cpu.kernel import kernel

LOCAL = 0.25
"""Share of a detour that the span of its plateau is long at least."""

MOST_PLATEAUS = 256
"""Plateaus that are looked at for a pair, each by a search: grids with ties have millions."""

TOLERANCE = 1 + 1e-9
"""Factor for bounds that a share is multiplied into."""


@kernel
def add_alternatives(
    tree: Any, target: Any, source: Any, limits: Any, spaces: Any, ways: Any, lengths: Any
) -> None:
    """Add the routes of a pair, and their lengths, to those that are found.

    The arguments are those of `add_paths`, with a space more.
    """
    greatest, (space, other) = limits.greatest, spaces
    begin, zero = np.full(1, source, np.uint32), np.zeros(1, space.lengths.dtype)
    avoided = [begin[0]]
    avoided.pop()
    if not search(tree, limits, greatest, target, begin, zero[0], avoided, space):
        return
    best, to_best = joined(begin, zero, target, space)
    length, first = to_best[-1], len(ways)
    if length > limits.longest:
        return
    space.clock[LOST] = 0
    reach = zero.copy()
    extra = length * (limits.longer + limits.rounding)
    reach[0] = greatest - length if extra >= greatest - length else extra
    reach[0] += length
    search(tree, limits, reach[0], len(tree[3]), begin, zero[0], avoided, space)
    queue = _ends(tree, length, reach[0], limits.overlap, spaces)
    known, sums = [best], [length]
    for _ in range(min(len(queue), MOST_PLATEAUS)):
        if len(known) >= limits.most or load(space.clock, STOP) != 0:
            break
        whole, end, span = heappop(queue)
        start, to_start = joined(begin, zero, end, space)
        reach[0] = whole * limits.rounding
        reach[0] += whole
        if not search(tree, limits, reach[0], target, start, to_start[-1], avoided, other):
            continue  # no vertex comes twice
        way, to_way = joined(start, to_start, target, other)
        whole, last = to_way[-1], len(start)
        span += to_way[min(last, len(way) - 1)] - to_way[last - 1]
        of_best, of_any = _shared(way, to_way, known, other)
        detour, replaced = whole - of_best, length - of_best
        is_local = whole <= length or span >= LOCAL * detour
        is_short = detour - replaced <= limits.longer * replaced * TOLERANCE
        differs = of_any < whole and of_any <= limits.overlap * whole * TOLERANCE
        if is_local and is_short and differs and whole <= limits.longest:
            known.append(way)
            sums.append(whole)
    for number in range(len(known)):
        put_in_order(ways, lengths, first, known[number], sums[number])


@kernel
def _ends(tree: Any, best: Any, reach: Any, overlap: Any, spaces: Any) -> Any:
    """Return a heap of the ends of long plateaus, by the lengths of the paths through them.

    With each end comes the length of its plateau and the arc before.
    """
    offsets, heads, weights, row, _ = tree
    space, other = spaces
    one, stamp = np.uint64(1), space.clock[STAMP]
    other.clock[STAMP] += 1
    mark = other.clock[STAMP]
    for vertex in range(len(row)):
        if space.stamps[vertex] != stamp:
            continue
        tail = np.uint64(vertex)
        other.arcs[tail], other.lengths[tail] = 0, 0
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if space.stamps[head] != stamp or row[tail] != row[head] + weights[arc]:
                continue
            other.lengths[tail] = max(other.lengths[tail], weights[arc])  # of shortest paths on
            if space.before[head] != vertex or head == vertex:
                continue
            if space.lengths[head] == space.lengths[tail] + weights[arc]:
                other.stamps[head] = mark  # a plateau leads to it
                other.arcs[tail] = 1
    queue = [(reach, np.int64(0), reach)]
    queue.pop()
    for vertex in range(len(row)):
        if space.stamps[vertex] != stamp or other.arcs[vertex] != 0:
            continue
        start = np.uint32(vertex)
        while other.stamps[start] == mark:
            start = space.before[start]
        whole = space.lengths[vertex] + row[vertex]
        span = space.lengths[vertex] - space.lengths[space.before[start]]
        most = (span + other.lengths[vertex]) * TOLERANCE
        if whole <= best or most >= LOCAL * (1 - overlap) * whole:
            heappush(queue, (whole, np.int64(vertex), span))
    return queue


@kernel
def _shared(way: Any, to_way: Any, known: Any, space: Any) -> Any:
    """Return the length of a way that it shares with the first route, and with any."""
    is_shared = np.zeros(len(way) - 1, np.bool_)
    of_best = of_any = to_way[0]
    for number in range(len(known)):
        space.clock[STAMP] += 1
        stamp, other = space.clock[STAMP], known[number]
        for place in range(len(other) - 1):
            space.stamps[other[place]] = stamp
            space.before[other[place]] = other[place + 1]
        of_any = to_way[0]
        for place in range(len(is_shared)):
            one, next_one = way[place], way[place + 1]
            is_shared[place] |= space.stamps[one] == stamp and space.before[one] == next_one
            if is_shared[place]:
                of_any += to_way[place + 1] - to_way[place]
        if number == 0:
            of_best = of_any
    return of_best, of_any
