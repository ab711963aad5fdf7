"""Serial methods on one core, for comparison and as the oracle: each relaxes a slice in one call.

``queue`` (uint32, (n,)) has ``at[NEAR_COUNT]`` vertices, and ``places`` are of those in it. But for
the kinds of Bellman-Ford, which return nothing, each returns the least distance of a vertex in the
queue, or ``nothing``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.choices import FIFO, SLF_LLL
from groute_py.kernels.cpu.heap import rise, sink
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import (
    BUCKETS,
    HEAD,
    NEAR_COUNT,
    OVERFLOWED,
    RELAXATIONS,
    reach_of,
)


@kernel
def heap_dijkstra(arcs: Any, distances: Any, places: Any, queue: Any, at: Any, bounds: Any) -> Any:
    """Close vertices by Dijkstra's algorithm; see `groute_py.kernels.cpu.heap` for its heap."""
    offsets, heads, weights = arcs
    limit, cutoff, nothing, budget = bounds
    one = np.uint64(1)
    count, done = np.uint64(at[NEAR_COUNT]), np.uint64(0)
    floor = nothing
    while count > 0:
        tail = queue[0]
        floor = distances[tail]
        if done >= budget or float(floor) > limit:
            break
        count -= one
        places[tail] = 0
        if count > 0:
            sink(queue, places, distances, count, queue[count])
        at[BUCKETS] += 1
        done += offsets[tail + one] - offsets[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head, reach = heads[arc], reach_of(floor, weights[arc], nothing)
            if reach == nothing:
                at[OVERFLOWED] |= cutoff == nothing
            elif reach < distances[head] and reach <= cutoff:
                distances[head] = reach
                place = np.uint64(places[head])
                if place == 0:
                    count += one
                    place = count
                rise(queue, places, distances, place - one, head)
        floor = nothing
    at[NEAR_COUNT] = count
    at[RELAXATIONS] += done
    return floor


@kernel
def scan_dijkstra(arcs: Any, distances: Any, places: Any, queue: Any, at: Any, bounds: Any) -> Any:
    """Close vertices by Dijkstra's algorithm (1959) without a heap: each step scans all open ones.

    ``places`` (uint8, (n,)) is 1 for open vertices.
    """
    offsets, heads, weights = arcs
    limit, cutoff, nothing, budget = bounds
    one: Any = np.uint64(1)
    count: Any = np.uint64(at[NEAR_COUNT])
    left = budget
    floor = nothing
    while count > 0:
        best: Any = np.uint64(0)
        for i in range(one, count):
            if distances[queue[i]] < distances[queue[best]]:
                best = i
        tail = queue[best]
        floor = distances[tail]
        if left <= 0 or float(floor) > limit:
            break
        left -= count
        count -= one
        queue[best] = queue[count]
        places[tail] = 0
        at[BUCKETS] += 1
        for arc in range(offsets[tail], offsets[tail + one]):
            head, reach = heads[arc], reach_of(floor, weights[arc], nothing)
            at[RELAXATIONS] += 1
            left -= 1
            if reach == nothing:
                at[OVERFLOWED] |= cutoff == nothing
            elif reach < distances[head] and reach <= cutoff:
                distances[head] = reach
                if not places[head]:
                    places[head] = 1
                    queue[count] = head
                    count += one
        floor = nothing
    at[NEAR_COUNT] = count
    return floor


@kernel
def breadth_first(arcs: Any, hops: Any, parents: Any, queue: Any, at: Any, bounds: Any) -> Any:
    """Search breadth first (Moore, 1959), with predecessors in order of discovery.

    ``hops`` (n,) are in the distance type, ``parents`` int64, (n,). The vertices in the queue stand
    from ``at[HEAD]`` on.
    """
    offsets, heads, _ = arcs
    limit, cutoff, nothing, budget = bounds
    one = np.uint64(1)
    front = np.uint64(at[HEAD])
    filled, done = front + np.uint64(at[NEAR_COUNT]), np.uint64(0)
    floor = nothing
    while front < filled:
        tail = queue[front]
        level = hops[tail]
        if done >= budget or float(level) > limit:
            floor = level
            break
        front += one
        at[BUCKETS] = level + 1
        if level >= cutoff:
            continue
        done += one + offsets[tail + one] - offsets[tail]
        at[RELAXATIONS] += offsets[tail + one] - offsets[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if hops[head] == nothing:
                hops[head] = level + 1
                parents[head] = tail
                queue[filled] = head
                filled += one
    at[HEAD], at[NEAR_COUNT] = front, filled - front
    return floor


@kernel
def plain_bellman_ford(arcs: Any, distances: Any, at: Any, least_rounds: int, bounds: Any) -> None:
    """Relax every arc in every round (Bellman, 1958; Ford, 1956).

    After k rounds every distance is at most that of the best path with k arcs. So n - 1 rounds are
    enough if no negative cycle is reachable from the source. Takes ``least_rounds``, and more until
    one changes nothing; ``at[NEAR_COUNT]`` is then 0.
    """
    offsets, heads, weights = arcs
    _, cutoff, nothing, budget = bounds
    one, done = np.uint64(1), np.uint64(0)
    left = at[NEAR_COUNT] > 0
    while left and done < budget:
        left = False
        for tail in range(np.uint64(len(offsets) - 1)):
            if distances[tail] == nothing:
                continue
            at[RELAXATIONS] += offsets[tail + one] - offsets[tail]
            for arc in range(offsets[tail], offsets[tail + one]):
                head, reach = heads[arc], reach_of(distances[tail], weights[arc], nothing)
                if reach == nothing:
                    at[OVERFLOWED] |= cutoff == nothing
                elif reach < distances[head] and reach <= cutoff:
                    distances[head] = reach
                    left = True
        at[BUCKETS] += 1
        left = left or at[BUCKETS] < least_rounds
        done += np.uint64(len(heads)) + one  # so that a graph without arcs comes to an end
    at[NEAR_COUNT] = left


@kernel
def queue_bellman_ford(
    arcs: Any, distances: Any, places: Any, queue: Any, at: Any, total: Any, order: Any, bounds: Any
) -> None:
    """Relax what has changed, in one of three orders of the queue, a ring from ``at[HEAD]``.

    * ``FIFO``: first in, first out (Moore, 1959; also known as SPFA).
    * ``SLF``, small label first: a vertex nearer than the head of the queue is put before it.
    * ``SLF_LLL``: in addition large label last: a head that is farther than the mean of the queue
      moves to the end. Bertsekas, "A simple and fast label correcting algorithm for shortest paths"
      (1993), and Bertsekas, Guerriero and Musmanno (1996).

    ``places`` (uint8, (n,)) is 1 for vertices in the queue; ``at[BUCKETS]`` counts those taken from
    it; ``total[0]`` (float64) is the sum of the distances in it.
    """
    offsets, heads, weights = arcs
    _, cutoff, nothing, budget = bounds
    one, size = np.uint64(1), np.uint64(len(queue))
    first, count, done = np.uint64(at[HEAD]), np.uint64(at[NEAR_COUNT]), np.uint64(0)
    while count > 0 and done < budget:
        tail = queue[first]
        if order == SLF_LLL:
            passed = np.uint64(0)  # rounding may put every one above the mean
            while distances[tail] * float(count) > total[0] and passed < count:
                queue[(first + count) % size] = tail
                first = first + one if first + one < size else np.uint64(0)
                tail = queue[first]
                passed += one
        first = first + one if first + one < size else np.uint64(0)
        count -= one
        places[tail] = 0
        at[BUCKETS] += 1
        base = distances[tail]
        total[0] -= base
        done += one + offsets[tail + one] - offsets[tail]
        at[RELAXATIONS] += offsets[tail + one] - offsets[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head, reach = heads[arc], reach_of(base, weights[arc], nothing)
            if reach == nothing:
                at[OVERFLOWED] |= cutoff == nothing
                continue
            if reach >= distances[head] or reach > cutoff:
                continue
            if places[head]:
                total[0] -= distances[head] - reach
                distances[head] = reach
                continue
            places[head] = 1
            total[0] += reach
            if order != FIFO and count > 0 and reach < distances[queue[first]]:
                first = first - one if first > 0 else size - one
                queue[first] = head
            else:
                queue[(first + count) % size] = head
            distances[head] = reach
            count += one
    at[HEAD], at[NEAR_COUNT] = first, count
