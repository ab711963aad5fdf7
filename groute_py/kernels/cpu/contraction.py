"""A round of contraction: which vertices leave, and which shortcuts stand in for them.

A vertex leaves if it is cheaper to contract than all its neighbours, so those that leave together
are no neighbours of each other. A *shortcut* joins two neighbours of a vertex that leaves. It is
spared where a *witness* is as short: an arc, or a path of two arcs that does not run through a
vertex that leaves. The device finds the same vertices and the same shortcuts; see
``kernels/hierarchy``.

``rows`` are a `groute_py.kernels.cpu.contraction_rows.SkeletonRows`, ``part`` is a range (begin,
end), and ``reach`` uint64, (2, n), all `FAR` before and after. Sums have 64 bits; none wraps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel

MOST_NEIGHBOURS = 64
"""Vertices with more of them do not leave."""

MOST_PAIRS = MOST_NEIGHBOURS * (MOST_NEIGHBOURS - 1) // 2
"""Pairs of neighbours of a vertex."""

STAYS = np.uint64(2**64 - 1)
"""The key of a vertex that does not leave."""

FAR = np.uint64(2**64 - 1)
"""Beyond every sum of two weights."""

LONG = 256
"""Rows with more entries are looked up in by bisection."""

OUTWARD, INWARD, UNFIT = 1, 2, 4
"""Bits of a shortcut: from the first neighbour to the second; back; either does not fit in the
type."""


@kernel
def keys_of(rows: Any, depths: Any, vertices: Any, part: Any, reach: Any, keys: Any) -> None:
    """Fill the keys (uint64, (n,)) of a range of vertices: the lowest leaves first.

    The upper half of a key is the cost of contraction: the pairs of neighbours that need a
    shortcut, less the arcs that go, and the levels below the vertex (``depths``, int32, (n,)), so
    that levels stay few. The lower half is a hash of the original number (``vertices``, int32,
    (n,)), which differs for any two vertices.
    """
    needed = np.empty(MOST_PAIRS, np.uint8)
    for vertex in range(part[0], part[1]):
        degree = rows.offsets[vertex + 1] - rows.offsets[vertex]
        if degree > MOST_NEIGHBOURS:
            keys[vertex] = STAYS
            continue
        added = pairs_that_need(rows, rows, vertex, reach, needed)
        score = 4096 + 4 * added - 2 * degree + 2 * depths[vertex]
        keys[vertex] = (np.uint64(score) << np.uint64(32)) | hash_of(vertices[vertex])


@kernel
def hash_of(vertex: Any) -> Any:
    """A number of 32 bits, another one for every vertex."""
    mask = np.uint64(0xFFFFFFFF)
    value = (np.uint64(vertex) + np.uint64(1)) * np.uint64(2654435761) & mask
    value ^= value >> np.uint64(15)
    value = value * np.uint64(2246822519) & mask
    return value ^ (value >> np.uint64(13))


@kernel
def choose_leaving(rows: Any, keys: Any, part: Any, leaves: Any) -> int:
    """Mark and count the vertices of a range whose key is below the keys of all neighbours."""
    count = 0
    for vertex in range(part[0], part[1]):
        key = keys[vertex]
        least = key != STAYS
        for place in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
            if keys[rows.neighbours[place]] <= key:
                least = False
                break
        leaves[vertex] = least
        count += least
    return count


@kernel
def pairs_that_need(rows: Any, around: Any, vertex: Any, reach: Any, needed: Any) -> int:
    """Count the pairs of at most `MOST_NEIGHBOURS` neighbours of a vertex that need a shortcut.

    Fills ``needed`` (uint8, (`MOST_PAIRS`,)) with directions, pair by pair. ``around`` are rows
    with the arcs that witnesses may take.
    """
    offsets, neighbours, out, into, both, nothing = rows
    first, last = offsets[vertex], offsets[vertex + 1]
    pair = count = 0
    for one in range(first, last - 1):
        tail = neighbours[one]
        is_spread = around.offsets[tail + 1] - around.offsets[tail] <= LONG
        if is_spread:
            spread(around, around.out, tail, reach[0])
            reach[0][vertex] = FAR
            if both:
                spread(around, around.into, tail, reach[1])
                reach[1][vertex] = FAR
        for other in range(one + 1, last):
            head, directions = neighbours[other], 0
            if into[one] != nothing and out[other] != nothing:
                total = np.uint64(into[one]) + np.uint64(out[other])
                path = (tail, head, vertex, total)
                if total >= np.uint64(nothing):
                    directions |= UNFIT
                elif not has_witness(around, around.out, around.into, path, is_spread, reach[0]):
                    directions |= OUTWARD
            if both and into[other] != nothing and out[one] != nothing:
                total = np.uint64(into[other]) + np.uint64(out[one])
                path = (tail, head, vertex, total)
                if total >= np.uint64(nothing):
                    directions |= UNFIT
                elif not has_witness(around, around.into, around.out, path, is_spread, reach[1]):
                    directions |= INWARD
            needed[pair] = directions
            count += directions & (OUTWARD | INWARD) != 0
            pair += 1
        if is_spread:
            gather_up(around, tail, reach[0])
            if both:
                gather_up(around, tail, reach[1])
    return count


@kernel
def spread(around: Any, weights: Any, tail: Any, reach: Any) -> None:
    """Write the weights of a row to where its neighbours are looked for."""
    for place in range(around.offsets[tail], around.offsets[tail + 1]):
        if weights[place] != around.nothing:
            reach[around.neighbours[place]] = np.uint64(weights[place])


@kernel
def gather_up(around: Any, tail: Any, reach: Any) -> None:
    """Undo `spread`."""
    for place in range(around.offsets[tail], around.offsets[tail + 1]):
        reach[around.neighbours[place]] = FAR


@kernel
def has_witness(
    around: Any, leaving: Any, entering: Any, path: Any, is_spread: bool, reach: Any
) -> Any:
    """Return True if one or two arcs stand in for a path: its tail, head, middle and length.

    ``leaving`` are the weights from the tail, ``entering`` those to the head. With ``is_spread``
    the row of the tail is in ``reach``; see `spread`.
    """
    _, head, _, total = path
    first, last = around.offsets[head], around.offsets[head + 1]
    if not is_spread or last - first > LONG:
        return has_witness_in_long_rows(around, leaving, entering, path)
    if reach[head] <= total:
        return True
    for place in range(first, last):
        before = reach[around.neighbours[place]]
        if before <= total and entering[place] != around.nothing:  # noqa: SIM102
            if np.uint64(entering[place]) <= total - before:
                return True
    return False


@kernel
def has_witness_in_long_rows(around: Any, leaving: Any, entering: Any, path: Any) -> bool:
    """See `has_witness`: each neighbour in the shorter row is looked up in the longer one."""
    offsets, neighbours, _, _, _, nothing = around
    tail, head, vertex, total = path
    first, last = offsets[tail], offsets[tail + 1]
    begin, end = offsets[head], offsets[head + 1]
    direct = place_of(neighbours, first, last, head)
    if direct >= 0 and leaving[direct] != nothing and np.uint64(leaving[direct]) <= total:
        return True
    from_tail = last - first <= end - begin
    for here in range(first if from_tail else begin, last if from_tail else end):
        middle = neighbours[here]
        if from_tail:
            there = place_of(neighbours, begin, end, middle)
            before, after = here, there
        else:
            there = place_of(neighbours, first, last, middle)
            before, after = there, here
        if there < 0 or middle == vertex:
            continue
        if leaving[before] == nothing or entering[after] == nothing:
            continue
        if np.uint64(leaving[before]) + np.uint64(entering[after]) <= total:
            return True
    return False


@kernel
def place_of(neighbours: Any, first: Any, last: Any, neighbour: Any) -> Any:
    """Return where a row has a neighbour, or -1."""
    end = last
    while first < last:
        middle = (first + last) >> 1
        if neighbours[middle] < neighbour:
            first = middle + 1
        else:
            last = middle
    return first if first < end and neighbours[first] == neighbour else -1


@kernel
def make_shortcuts(
    rows: Any, rest: Any, leaving: Any, part: Any, reach: Any, begin: Any, shortcuts: Any
) -> Any:
    """Write the shortcuts of a range of ``leaving`` (int64), each as an entry of both its ends.

    ``shortcuts`` are tails, heads, out and into; ``rest`` are rows without what leaves. Returns
    where the shortcuts from ``begin`` on end, or -1 if a path between two neighbours does not fit.
    """
    offsets, neighbours, out, into, both, nothing = rows
    tails, heads, outs, intos = shortcuts
    needed = np.empty(MOST_PAIRS, np.uint8)
    at = begin
    for number in range(part[0], part[1]):
        vertex = leaving[number]
        pairs_that_need(rows, rest, vertex, reach, needed)
        pair = 0
        for one in range(offsets[vertex], offsets[vertex + 1] - 1):
            for other in range(one + 1, offsets[vertex + 1]):
                directions = needed[pair]
                pair += 1
                if directions == 0:
                    continue
                forth = back = nothing
                if directions & UNFIT:
                    return -1
                if directions & OUTWARD:
                    forth = into[one] + out[other]
                if directions & INWARD:
                    back = into[other] + out[one]
                if not both:
                    back = forth
                tails[at], heads[at] = neighbours[one], neighbours[other]
                outs[at], intos[at] = forth, back
                at += 1
                tails[at], heads[at] = neighbours[other], neighbours[one]
                outs[at], intos[at] = back, forth
                at += 1
    return at


@kernel
def deepen(rows: Any, leaves: Any, depths: Any, part: Any, deeper: Any) -> None:
    """The depth of what stays: beyond that of every neighbour that leaves."""
    for vertex in range(part[0], part[1]):
        depth = depths[vertex]
        if not leaves[vertex]:
            for place in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
                if leaves[rows.neighbours[place]]:
                    depth = max(depth, depths[rows.neighbours[place]] + 1)
        deeper[vertex] = depth
