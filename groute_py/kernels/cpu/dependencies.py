"""Brandes' accumulation from one source: counts of shortest paths, then dependencies backwards.

Where paths(v) counts the shortest paths to v, the dependency of the source on v is the sum of
paths(v) / paths(w) · (1 + dependency(w)) over the tight arcs from v to w. Brandes, "A faster
algorithm for betweenness centrality" (2001). Graphs have neither self-loops nor parallel arcs.

Each term is converted to fixed point before it is added, so that the order of additions does not
matter; ``kernels/multi_source/dependencies.cu`` finds the same numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.cpu.fixed_point import UNITS, add_at, fixed, plus
from groute_py.kernels.cpu.heap import rise, sink
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import reach_of

LEVEL, OVERFLOWED = 1, 2
"""Bits of what `settle` met: an arc between vertices at one distance; a sum that is too great."""


class PathTree(NamedTuple):
    """Room for the shortest paths from a source, shape (n,) each."""

    distances: Any  # ``nothing`` before
    order: Any  # uint32, of the reached vertices: tails before heads of tight arcs
    paths: Any  # float64, the numbers of shortest paths; 0 before
    places: Any  # uint32, 0 before and after
    heap: Any  # uint32


class Accumulator(NamedTuple):
    """Sums of dependencies in fixed point, and the choices for them."""

    totals: Any  # uint64, (n, 2), or (m, 2) with ``by_arc``
    squares: Any  # likewise, of dependencies times ``scale``; or (0, 2)
    by_arc: bool
    endpoints: int  # 1 if the ends of a path lie on it, else 0
    scale: float


@kernel
def search(arcs: Any, source: Any, nothing: Any, tree: Any) -> Any:
    """Fill a tree breadth first; return how many vertices are reached."""
    offsets, heads, _ = arcs
    distances, order, paths, _, _ = tree
    one, count, done = np.uint64(1), np.uint64(1), np.uint64(0)
    distances[source], order[0], paths[source] = 0, source, 1.0
    while done < count:
        tail = order[done]
        done += one
        onward, own = distances[tail] + 1, paths[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if distances[head] == nothing:
                distances[head] = onward
                order[count] = head
                count += one
            if distances[head] == onward:
                paths[head] += own
    return count


@kernel
def settle(arcs: Any, source: Any, nothing: Any, tree: Any) -> Any:
    """Settle all vertices by Dijkstra's algorithm; return how many are reached, and bits of events.

    If `LEVEL` is among them, a vertex may stand in ``order`` before one that a path leads over, and
    ``paths`` is wrong: `order_tight` mends both.
    """
    offsets, heads, weights = arcs
    distances, order, paths, places, heap = tree
    one, count, done, met = np.uint64(1), np.uint64(1), np.uint64(0), 0
    distances[source], paths[source], heap[0], places[source] = 0, 1.0, source, 1
    while count > 0:
        tail = heap[0]
        near, own = distances[tail], paths[tail]
        count -= one
        places[tail] = 0
        if count > 0:
            sink(heap, places, distances, count, heap[count])
        order[done] = tail
        done += one
        for arc in range(offsets[tail], offsets[tail + one]):
            head, reach = heads[arc], reach_of(near, weights[arc], nothing)
            if reach == nothing:
                met |= OVERFLOWED
                continue
            current = distances[head]
            if reach > current:
                continue
            if reach == near:
                met |= LEVEL
            if reach == current:
                paths[head] += own
                continue
            distances[head], paths[head] = reach, own
            place = np.uint64(places[head])
            if place == 0:
                count += one
                place = count
            rise(heap, places, distances, place - one, head)
    return done, met


@kernel
def is_tight(near: Any, weight: Any, far: Any, nothing: Any) -> Any:
    """Return True if an arc is on a shortest path: distances of its ends differ by its weight."""
    reach = reach_of(near, weight, nothing)
    return reach != nothing and reach == far


@kernel
def order_tight(arcs: Any, source: Any, nothing: Any, reached: Any, tree: Any) -> Any:
    """Put tails before heads of tight arcs (Kahn, 1962), and count paths anew, after `settle`.

    Returns how many vertices are in order: fewer than ``reached`` if tight arcs close a cycle.
    """
    offsets, heads, weights = arcs
    distances, order, paths, places, heap = tree
    one = np.uint64(1)
    for place in range(reached):
        tail = order[place]
        paths[tail] = 0.0
        for arc in range(offsets[tail], offsets[tail + one]):
            if is_tight(distances[tail], weights[arc], distances[heads[arc]], nothing):
                places[heads[arc]] += 1
    paths[source], heap[0] = 1.0, source
    count, done = np.uint64(1), np.uint64(0)
    if places[source] > 0:
        return done
    while done < count:
        tail = heap[done]
        done += one
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if is_tight(distances[tail], weights[arc], distances[head], nothing):
                paths[head] += paths[tail]
                places[head] -= 1
                if places[head] == 0:
                    heap[count] = head
                    count += one
    order[:count] = heap[:count]
    return count


@kernel
def accumulate(
    arcs: Any, source: Any, nothing: Any, reached: Any, tree: Any, dependencies: Any, sums: Any
) -> Any:
    """Add the dependencies of a source, after `settle`; return the most paths to a vertex.

    Nothing is added if that is infinite. The first ``reached`` of the tree's order are the reached
    vertices; ``dependencies`` (float64, (n,)) is work space.
    """
    offsets, heads, weights = arcs
    distances, order, paths, _, _ = tree
    totals, squares, by_arc, endpoints, scale = sums
    one, most = np.uint64(1), 1.0
    for place in range(reached):
        most = max(most, paths[order[place]])
    if most == np.inf:
        return most
    for place in range(reached - 1, -1, -1):
        tail = order[place]
        near, own = distances[tail], paths[tail]
        low, high = np.uint64(0), np.uint64(0)
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if not is_tight(near, weights[arc], distances[head], nothing):
                continue
            share = own / paths[head] * (1.0 + dependencies[head])
            more, much = fixed(share)
            low, high = plus(low, high, more, much)
            if by_arc:
                add_at(totals, arc, more, much)
                if len(squares):
                    small = share * scale
                    more, much = fixed(small * small)
                    add_at(squares, arc, more, much)
        dependency = np.float64(high) + np.float64(low) / UNITS
        dependencies[tail] = dependency
        if by_arc:
            continue
        if tail == source:
            if endpoints == 0:
                continue
            low, high, dependency = np.uint64(0), np.uint64(reached - 1), np.float64(reached - 1)
        elif endpoints:
            high, dependency = high + one, dependency + 1.0
        add_at(totals, tail, low, high)
        if len(squares):
            small = dependency * scale
            more, much = fixed(small * small)
            add_at(squares, tail, more, much)
    return most
