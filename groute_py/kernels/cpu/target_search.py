"""Dijkstra's algorithm from one source until some targets are settled (Dijkstra, 1959).

The heap is that of `groute_py.kernels.cpu.heap`. The search notes which vertices it touches, so
that the next one has only these to reset: near targets cost no pass over all vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.heap import rise, sink
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import reach_of
from groute_py.kernels.cpu.search_side import OPEN, TOUCHED

LEFT, OVERFLOWED, COUNTS = range(2, 5)
"""Further places in the counts: targets not settled yet, and whether a sum did not fit."""


@kernel
def search(arcs: Any, side: Any, is_target: Any, nothing: Any, budget: Any) -> Any:
    """Settle vertices for a slice; return True once all targets are settled or none is open.

    The search continues on one side, which began at the source; see
    `groute_py.kernels.cpu.search_side`. ``is_target`` (uint8, (n,)) is 1 for targets that are not
    settled.
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
                distances[head] = reach
                before[head] = tail
                place = np.uint64(places[head])
                if place == 0:
                    count += one
                    place = count
                rise(heap, places, distances, place - one, head)
    counts[OPEN], counts[TOUCHED], counts[LEFT] = count, noted, left
    return count == 0 or left == 0
