"""Dijkstra's algorithm from one source until some targets are settled (Dijkstra, 1959).

The heap is that of `groute_py.kernels.cpu.heap`. The search notes which vertices it touches, so
that the next one has only these to reset: near targets cost no pass over all vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.heap import rise, sink
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.sums import reach_of

OPEN, TOUCHED, LEFT, OVERFLOWED, COUNTS = range(5)
"""Places in ``counts``, int64: vertices in the heap, vertices touched, targets not settled yet, and
whether a sum did not fit."""


@kernel
def search(
    offsets: Any,
    heads: Any,
    weights: Any,
    distances: Any,
    before: Any,
    places: Any,
    heap: Any,
    touched: Any,
    wanted: Any,
    counts: Any,
    nothing: Any,
    budget: Any,
) -> Any:
    """Settle vertices until all targets are, none is open, or ``budget`` arcs are done.

    Args:
        offsets, heads, weights: the graph, without negative weights; these in the distance type.
        distances: shape (n,), ``nothing`` but for the source and what the search has touched.
        before: uint32, shape (n,), the vertex before each that is touched.
        places: uint32, shape (n,), a vertex's place in the heap from 1; 0 if it is not there.
        heap, touched: uint32, shape (n,), of which ``counts`` are in use.
        wanted: uint8, shape (n,), 1 for targets that are not settled.
        counts: int64.
        nothing: the distance of unreached vertices.
        budget: uint64.

    Returns:
        Whether the search is over.
    """
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
        if wanted[tail]:
            wanted[tail] = 0
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


@kernel
def reset(distances: Any, places: Any, touched: Any, counts: Any, nothing: Any) -> None:
    """Leave nothing of a search but ``before``, and ``wanted`` of targets that were not settled."""
    for number in range(counts[TOUCHED]):
        vertex = touched[number]
        distances[vertex] = nothing
        places[vertex] = 0
    counts[:] = 0
