"""Dijkstra's algorithm (1959) towards targets: each search touches few vertices, and resets them.

A search from one source ends once some targets are settled. A search from both ends of a path
(Pohl, 1971; Nicholson, 1966) ends once the least open distances of both sides together are not less
than the shortest path found. In a contraction hierarchy both sides search upward (Geisberger et
al., 2012), and `meet`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.cpu.heap import rise, sink
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import reach_of

OPEN, TOUCHED, LEFT, OVERFLOWED, COUNTS = range(5)
"""Places in the counts of a side: vertices in its heap, vertices touched, targets not settled yet,
and whether a sum did not fit."""

LENGTH, MIDDLE, SEEN = range(3)
"""Places in ``meeting``, int64: the shortest path found, a vertex on it that both sides have
touched, and arcs looked at."""

AT_ONCE = 64
"""Vertices of a side that are settled before the other side may take over."""


class SearchSide(NamedTuple):
    """One side of a search, shape (n,); `groute_py.kernels.cpu.heap` has the heap."""

    distances: Any  # ``nothing`` but for what is touched
    before: Any  # uint32, the vertex before each
    places: Any  # uint32
    heap: Any  # uint32
    touched: Any  # uint32
    counts: Any  # int64, (`COUNTS`,)


def side_of(vertex_count: int, nothing: Any) -> SearchSide:
    """Return a side that has touched nothing."""
    distances, counts = np.full(vertex_count, nothing), np.zeros(COUNTS, np.int64)
    before, places, heap, touched = np.zeros((4, vertex_count), np.uint32)
    return SearchSide(distances, before, places, heap, touched, counts)


@kernel
def begin(side: Any, end: Any, nothing: Any) -> None:
    """Reset what the last search has left of a side but ``before``, and open one end."""
    distances, _, places, heap, touched, counts = side
    for number in range(counts[TOUCHED]):
        vertex = touched[number]
        distances[vertex] = nothing
        places[vertex] = 0
    counts[:] = 0
    distances[end], places[end] = 0, 1
    heap[0] = touched[0] = end
    counts[OPEN] = counts[TOUCHED] = 1


@kernel
def search_targets(arcs: Any, side: Any, is_target: Any, nothing: Any, budget: Any) -> Any:
    """Settle vertices for a slice; return True once all targets are settled or none is open.

    The search continues on one side, which began at the source. ``is_target`` (uint8, (n,)) is 1
    for targets that are not settled.
    """
    offsets, heads, weights = arcs
    distances, before, places, heap, touched, counts = side
    one = np.uint64(1)
    count, noted = np.uint64(counts[OPEN]), np.uint64(counts[TOUCHED])
    left, done = counts[LEFT], np.uint64(0)
    while count > 0 and left > 0 and done < budget:
        tail = heap[0]
        base = distances[tail]
        count -= one
        places[tail] = 0
        if count > 0:
            sink(heap, places, distances, count, heap[count])
        if is_target[tail]:
            is_target[tail] = 0
            left -= 1
        done += offsets[tail + one] - offsets[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head, reach = heads[arc], reach_of(base, weights[arc], nothing)
            if reach == nothing:
                counts[OVERFLOWED] = 1
            elif reach < distances[head]:
                if distances[head] == nothing:
                    touched[noted] = head
                    noted += one
                distances[head], before[head] = reach, tail
                place = np.uint64(places[head])
                if place == 0:
                    count += one
                    place = count
                rise(heap, places, distances, place - one, head)
    counts[OPEN], counts[TOUCHED], counts[LEFT] = count, noted, left
    return count == 0 or left == 0


@kernel
def search_both(
    arcs: Any, arcs_back: Any, ahead: Any, back: Any, meeting: Any, nothing: Any, budget: Any
) -> Any:
    """Settle vertices of both sides in turn; return True once the shortest path is known.

    One side searches from the source, the other from the target in the arcs of the reversed graph.
    Sums are those of integers that fit, so that it does not matter in which order they are added.
    """
    stop = meeting[SEEN] + budget
    while ahead.counts[OPEN] > 0 and back.counts[OPEN] > 0:
        near, far = ahead.distances[ahead.heap[0]], back.distances[back.heap[0]]
        if near >= meeting[LENGTH] - far:
            return True
        if meeting[SEEN] >= stop:
            return False
        if near <= far:
            _advance(arcs, ahead, back.distances, far, meeting, nothing)
        else:
            _advance(arcs_back, back, ahead.distances, near, meeting, nothing)
    return True


@kernel
def _advance(arcs: Any, side: Any, others: Any, floor: Any, meeting: Any, nothing: Any) -> None:
    """Settle some vertices of a side; ``others`` are the distances of the other one.

    ``floor`` is the least open distance there. Vertices that are nearer than it are settled there,
    so that paths over them are known, and they need not be settled here too.
    """
    offsets, heads, weights = arcs
    distances, before, places, heap, touched, counts = side
    one = np.uint64(1)
    count, noted = np.uint64(counts[OPEN]), np.uint64(counts[TOUCHED])
    for _ in range(AT_ONCE):
        if count == 0 or distances[heap[0]] >= meeting[LENGTH] - floor:
            break
        tail = heap[0]
        base = distances[tail]
        count -= one
        places[tail] = 0
        if count > 0:
            sink(heap, places, distances, count, heap[count])
        meeting[SEEN] += offsets[tail + one] - offsets[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head, reach = heads[arc], base + weights[arc]
            if reach >= distances[head] or reach >= meeting[LENGTH]:
                continue
            if distances[head] == nothing:
                touched[noted] = head
                noted += one
            distances[head], before[head] = reach, tail
            other = others[head]
            if other != nothing and reach + other < meeting[LENGTH]:
                meeting[LENGTH], meeting[MIDDLE] = reach + other, head
            place = np.uint64(places[head])
            if place == 0:
                if other < floor or reach >= meeting[LENGTH] - floor:
                    continue
                count += one
                place = count
            rise(heap, places, distances, place - one, head)
    counts[OPEN], counts[TOUCHED] = count, noted


@kernel
def meet(ahead: Any, back: Any, space: Any, nothing: Any) -> Any:
    """The shortest path over a place of both searches, or ``nothing``; clears ``back`` there.

    ``ahead`` leads from the source, upward and through the core, ``back`` upward to the target.
    """
    best = np.uint64(nothing)
    for place in space:
        if ahead[place] != nothing:
            best = min(best, np.uint64(ahead[place]) + np.uint64(back[place]))
        back[place] = nothing
    return best
