"""Dijkstra's algorithm from both ends of a path, until they meet (Pohl, 1971; Nicholson, 1966).

One side searches from the source, the other from the target against the arcs. The search is over
when the least open distances of both sides together are not less than the shortest path found. Sums
are those of integers that fit, so that it does not matter in which order they are added. In a
contraction hierarchy both sides search upward (Geisberger et al., 2012), and `meet`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.heap import rise, sink
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.search_side import OPEN, TOUCHED

LENGTH, MIDDLE, SEEN = range(3)
"""Places in ``meeting``: the shortest path found, a vertex on it that both sides have touched, and
arcs looked at."""


AT_ONCE = 64
"""Vertices of a side that are settled before the other side may take over."""


@kernel
def search(
    arcs: Any, arcs_back: Any, ahead: Any, back: Any, meeting: Any, nothing: Any, budget: Any
) -> Any:
    """Settle vertices of both sides in turn; return True once the shortest path is known.

    ``arcs`` and ``arcs_back`` are offsets, heads and weights of the graph and of the reversed
    graph, ``ahead`` and ``back`` the sides of `groute_py.kernels.cpu.search_side`; ``meeting`` is
    int64.
    """
    stop = meeting[SEEN] + budget
    while ahead[5][OPEN] > 0 and back[5][OPEN] > 0:
        near, far = ahead[0][ahead[3][0]], back[0][back[3][0]]
        if near >= meeting[LENGTH] - far:
            return True
        if meeting[SEEN] >= stop:
            return False
        if near <= far:
            _advance(arcs, ahead, back[0], far, meeting, nothing)
        else:
            _advance(arcs_back, back, ahead[0], near, meeting, nothing)
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
            distances[head] = reach
            before[head] = tail
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
