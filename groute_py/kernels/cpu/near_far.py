"""Near–far relaxation of one share on one CPU core.

Near is a ring of vertices in first-in first-out order; far is an unordered list; a flag for each
vertex keeps it from standing in either twice, so that both have a place for every owned vertex and
can never overflow. Meyer and Sanders, "Δ-stepping" (2003), with the two lists of Davidson et al.,
"Work-efficient parallel GPU methods for single-source shortest paths" (2014).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.cpu.algebra import does_not_fit, extend
from groute_py.kernels.cpu.kernel import kernel

NEAR, FAR, DIRTY = 1, 2, 4
"""Flags of a local vertex: stands in near, stands in far, halo vertex waits to be sent."""

NOT_NEAR, NOT_FAR, NOT_DIRTY = 255 - NEAR, 255 - FAR, 255 - DIRTY
"""Masks that clear a flag."""

HEAD, NEAR_COUNT, FAR_COUNT, DIRTY_COUNT, RELAXATIONS, BUCKETS, OVERFLOWED, CURSORS = range(8)
"""Places in the cursor array, int64."""


class Worklists(NamedTuple):
    """The lists of a share, with a place for each vertex, and its flags."""

    flags: Any  # uint8, of local vertices
    near: Any  # uint32, (own,)
    far: Any
    dirty: Any  # uint32, (halo,)
    at: Any


@kernel
def reach_of(base: Any, weight: Any, nothing: Any) -> Any:
    """The extended distance, or ``nothing`` where that does not fit; for serial methods."""
    return nothing if does_not_fit(base, weight, nothing) else extend(base, weight)


@kernel
def floor_of_far(distances: Any, lists: Any, count: Any, threshold: Any, nothing: Any) -> Any:
    """Drop entries that near has relaxed; return (number left, their smallest distance)."""
    flags, far = lists.flags, lists.far
    left, one = np.uint64(0), np.uint64(1)
    floor = nothing
    for i in range(count):
        vertex = far[i]
        if distances[vertex] >= threshold:
            far[left] = vertex
            left += one
            floor = min(floor, distances[vertex])
        else:
            flags[vertex] &= NOT_FAR
    return left, floor


@kernel
def open_bucket(
    distances: Any, lists: Any, first: Any, count: Any, floor: Any, threshold: Any
) -> Any:
    """Move far vertices below the new threshold to the empty near; return both counts.

    Those on the floor go too, even where Δ is so small that the threshold lies there as well.
    """
    flags, near, far = lists.flags, lists.near, lists.far
    left, moved, one = np.uint64(0), np.uint64(0), np.uint64(1)
    places = np.uint64(len(near))
    for i in range(count):
        vertex = far[i]
        if distances[vertex] < threshold or distances[vertex] == floor:
            flags[vertex] = (flags[vertex] & NOT_FAR) | NEAR
            place = first + moved
            near[place if place < places else place - places] = vertex
            moved += one
        else:
            far[left] = vertex
            left += one
    return moved, left


@kernel
def narrow(distances: Any, lists: Any, threshold: Any) -> None:
    """Move what does not lie below a lowered threshold from near to far."""
    flags, near, far, _, at = lists
    for _ in range(at[NEAR_COUNT]):
        vertex = near[at[HEAD]]
        at[HEAD] = (at[HEAD] + 1) % len(near)
        at[NEAR_COUNT] -= 1
        if distances[vertex] < threshold:
            near[(at[HEAD] + at[NEAR_COUNT]) % len(near)] = vertex
            at[NEAR_COUNT] += 1
            continue
        flags[vertex] &= NOT_NEAR
        if not flags[vertex] & FAR:
            flags[vertex] |= FAR
            far[at[FAR_COUNT]] = vertex
            at[FAR_COUNT] += 1


@kernel
def relax(
    arcs: Any, distances: Any, parents: Any, lists: Any, thresholds: Any, delta: Any, bounds: Any
) -> Any:
    """Relax a slice; return the smallest distance left to work on, or ``nothing``.

    Uint32 vertices and uint64 offsets, with cursors in locals, make the loop three times as fast.
    Distances and ``parents`` (int64) are of local vertices. Unless ``parents`` is empty, each
    improvement notes its tail, which makes a tree where all of them are made here and no weight is
    negative (see ``kernels/sssp/predecessor_record.cuh``). ``lists`` are `Worklists`;
    ``thresholds`` are the current one and the begin of its bucket.
    """
    offsets, heads, weights = arcs
    flags, near, far, dirty, at = lists
    limit, cutoff, nothing, budget = bounds
    own, places, one = np.uint64(len(offsets) - 1), np.uint64(len(near)), np.uint64(1)
    record = len(parents) > 0
    threshold = thresholds[0]
    first, near_count = np.uint64(at[HEAD]), np.uint64(at[NEAR_COUNT])
    far_count, dirty_count = np.uint64(at[FAR_COUNT]), np.uint64(at[DIRTY_COUNT])
    done = np.uint64(0)
    floor = nothing
    while True:
        if near_count == 0:
            far_count, floor = floor_of_far(distances, lists, far_count, threshold, nothing)
            if floor == nothing or float(floor) > limit:
                break
            thresholds[1] = floor
            threshold = floor + delta if floor < nothing - delta else nothing
            near_count, far_count = open_bucket(
                distances, lists, first, far_count, floor, threshold
            )
            at[BUCKETS] += 1
        if done >= budget:
            floor = thresholds[1]  # near is in no order
            break
        tail = near[first]
        first += one
        if first == places:
            first = np.uint64(0)
        near_count -= one
        flags[tail] &= NOT_NEAR
        base = distances[tail]
        done += offsets[tail + one] - offsets[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head, weight = heads[arc], weights[arc]
            reach = extend(base, weight)
            if reach < distances[head]:
                if reach > cutoff or does_not_fit(base, weight, nothing):
                    at[OVERFLOWED] |= cutoff == nothing
                    continue
                distances[head] = reach
                if record:
                    parents[head] = tail
                if head >= own:
                    if not flags[head] & DIRTY:
                        flags[head] |= DIRTY
                        dirty[dirty_count] = head
                        dirty_count += one
                elif reach < threshold:
                    if not flags[head] & NEAR:
                        flags[head] |= NEAR
                        place = first + near_count
                        near[place if place < places else place - places] = head
                        near_count += one
                elif not flags[head] & FAR:
                    flags[head] |= FAR
                    far[far_count] = head
                    far_count += one
            elif distances[head] == nothing or does_not_fit(base, weight, nothing):
                at[OVERFLOWED] |= cutoff == nothing
    thresholds[0] = threshold
    at[HEAD], at[NEAR_COUNT] = first, near_count
    at[FAR_COUNT], at[DIRTY_COUNT] = far_count, dirty_count
    at[RELAXATIONS] += done
    return floor


@kernel
def merge(vertices: Any, values: Any, distances: Any, lists: Any, thresholds: Any) -> None:
    """Take improvements of owned vertices; each joins the worklist its distance belongs to."""
    flags, near, far, _, at = lists
    for i in range(len(vertices)):
        vertex = vertices[i]
        if values[i] >= distances[vertex]:
            continue
        distances[vertex] = values[i]
        thresholds[1] = min(thresholds[1], values[i])  # nothing in near is less
        if values[i] < thresholds[0]:
            if not flags[vertex] & NEAR:
                flags[vertex] |= NEAR
                near[(at[HEAD] + at[NEAR_COUNT]) % len(near)] = vertex
                at[NEAR_COUNT] += 1
        elif not flags[vertex] & FAR:
            flags[vertex] |= FAR
            far[at[FAR_COUNT]] = vertex
            at[FAR_COUNT] += 1


@kernel
def group_by_owner(
    dirty: Any, count: Any, own: Any, halo_starts: Any, flags: Any, boxes: Any, box_counts: Any
) -> None:
    """Empty the first ``count`` entries (uint32) of ``dirty`` into the owners' boxes.

    The box of owner p is ``boxes[halo_starts[p]:halo_starts[p + 1]]``: a halo vertex is dirty at
    most once, so it never overflows. ``box_counts`` (int64) are zeroed here.
    """
    box_counts[:] = 0
    for i in range(count):
        vertex = dirty[i]
        flags[vertex] &= NOT_DIRTY
        place = np.int64(vertex) - own
        low, high = 0, len(halo_starts) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if halo_starts[middle] <= place:
                low = middle
            else:
                high = middle
        boxes[halo_starts[low] + box_counts[low]] = place
        box_counts[low] += 1
