"""A tree from a contraction hierarchy: upward from the source, and one sweep over all levels.

Vertices are numbered by places, and distances stand in their order; see
`groute_py.hierarchy.hierarchy`. Between the two the core is solved by Dijkstra's algorithm. Sums
are unsigned numbers of 64 bits, in which two weights always fit; one that does not fit in the
distance type is not less than the unreached value, and so is never stored.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np
from numba import njit

from groute_py.kernels.cpu.heap import rise


@njit(cache=True, nogil=True)
def climb(
    offsets: Any, heads: Any, up: Any, start: int, nothing: Any, distances: Any, found: Any, at: Any
) -> int:
    """Search upward from a place.

    Arcs lead to lower places only, so the highest place that is left has its distance along paths
    upward. It is relaxed once.

    Args:
        offsets, heads, up: of the hierarchy.
        start: the place of the source.
        nothing: the unreached value.
        distances: shape (n,), all unreached.
        found: uint32, shape (n,), to be filled with the places that are found.
        at: int64, shape (1,): arcs relaxed are added.

    Returns:
        How many are found.
    """
    distances[start] = 0
    highest_first = [-start]
    count = 0
    while len(highest_first) > 0:
        tail = -heappop(highest_first)
        found[count] = tail
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


@njit(cache=True, nogil=True)
def open_core(found: Any, core: Any, distances: Any, places: Any, heap: Any) -> Any:
    """Put what was found of the core into the heap of `groute_py.kernels.cpu.heap`.

    Args:
        found: places.
        core: how many vertices the core has.
        distances: shape (n,).
        places, heap: uint32, shape (core,), the first all 0.

    Returns:
        How many.
    """
    count = np.uint64(0)
    for place in found:
        if place < core:
            rise(heap, places, distances, count, np.uint64(place))
            count += np.uint64(1)
    return count


@njit(cache=True, nogil=True)
def sweep(
    offsets: Any,
    heads: Any,
    down: Any,
    vertices: Any,
    part: Any,
    nothing: Any,
    cutoff: Any,
    distances: Any,
    answers: Any,
) -> Any:
    """Find the distances of a range of places, level by level or within one level.

    Args:
        offsets, heads, down, vertices: of the hierarchy.
        part: begin and end.
        nothing: the unreached value.
        cutoff: greater distances are answered as unreached.
        distances: shape (n,), by places.
        answers: shape (n,), by vertices.

    Returns:
        The greatest distance, within the cutoff or not.
    """
    greatest = np.uint64(0)
    none = np.uint64(nothing)
    for place in range(part[0], part[1]):
        best = np.uint64(distances[place])
        for arc in range(offsets[place], offsets[place + 1]):
            reach = np.uint64(distances[heads[arc]]) + np.uint64(down[arc])
            best = min(best, reach)
        distances[place] = best
        answers[vertices[place]] = best if best <= np.uint64(cutoff) else none
        if best != none:
            greatest = max(greatest, best)
    return greatest
