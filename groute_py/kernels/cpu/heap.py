"""A binary heap of open vertices (Williams, 1964) with decrease-key.

``places`` (uint32, (n,)) has the place of each open vertex in ``heap`` (uint32, (n,)), from 1, or
0. From there a vertex rises when its distance falls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel


@kernel
def rise(heap: Any, places: Any, distances: Any, place: Any, vertex: Any) -> None:
    """Put ``vertex`` at ``place`` or as far above as it belongs."""
    one = np.uint64(1)
    while place > 0:
        parent = (place - one) >> one
        above = heap[parent]
        if distances[above] <= distances[vertex]:
            break
        heap[place] = above
        places[above] = place + one
        place = parent
    heap[place] = vertex
    places[vertex] = place + one


@kernel
def sink(heap: Any, places: Any, distances: Any, count: Any, vertex: Any) -> None:
    """Put ``vertex`` at the top or as far below as it belongs."""
    one, place = np.uint64(1), np.uint64(0)
    while True:
        child = (place << one) + one
        if child >= count:
            break
        if child + one < count and distances[heap[child + one]] < distances[heap[child]]:
            child += one
        below = heap[child]
        if distances[vertex] <= distances[below]:
            break
        heap[place] = below
        places[below] = place + one
        place = child
    heap[place] = vertex
    places[vertex] = place + one
