"""The vertices that leave in a round of contraction.

A vertex leaves if it is cheaper to contract than all its neighbours, so those that leave together
are no neighbours of each other. A *shortcut* joins two neighbours of a vertex that leaves. It is
spared where a *witness* is as short: an arc, or another path of two arcs. So of all paths of two
arcs between a pair of vertices the shortest alone can need a shortcut, and none if two are as
short. One walk from each vertex along two arcs finds these for all of its neighbours, which takes
the sum of squared degrees. The device finds the same vertices; see ``kernels/hierarchy``.

Threads share the vertices of each phase (`groute_py.kernels.cpu.phases`). A phase writes the words
of its own vertices, and reads what phases before it have written. Only the counts of shortcuts are
of other vertices; they are added atomically, and so are the same in every order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.cpu.atomics import add
from groute_py.kernels.cpu.kernel import inlined_kernel, kernel
from groute_py.kernels.cpu.phases import meet, next_part

MOST_NEIGHBOURS = 64
"""Vertices with more of them do not leave."""

STAYS = np.uint64(2**64 - 1)
"""The key of a vertex that does not leave."""

NONE = SEVERAL = np.uint32(2**32 - 1)
"""No vertex; or more than one."""

LONG = 256
"""Rows with more entries are looked up in by bisection."""

FIRST = 4
"""The first of the four phases of `choose`, which may follow as many others."""

STAYING, LEAVING, ARCS, ROOM = range(4)
"""Sums of a part: vertices that stay, those that leave and their neighbours, and the entries that
the rows of the others can have afterwards."""


class SkeletonRows(NamedTuple):
    """Rows of a skeleton, and whether its directions differ."""

    begins: Any  # int64
    ends: Any  # int64
    neighbours: Any  # uint32
    out: Any
    into: Any  # the same array as ``out`` unless ``both``
    both: bool
    nothing: Any


class Left(NamedTuple):
    """The n vertices that are left, in parts of ``step``."""

    rows: SkeletonRows
    vertices: Any  # int32, (n,): original numbers, ascending
    depths: Any  # int32, (n,): levels below
    needed: Any  # int32, (n,): pairs of neighbours that need a shortcut; 0 at first
    keys: Any  # uint64, (n,): the lowest leave first
    leaves: Any  # uint8, (n,): 1 of a vertex that leaves
    sums: Any  # int64, (parts, 4)
    step: int


class Space(NamedTuple):
    """Arrays of one thread for one direction, by vertex; 0 between uses.

    So the system gives memory only to what a thread has used. Weights are less ``nothing``.
    """

    reach: Any
    best: Any
    middles: Any  # uint32: a vertex and 1, or `SEVERAL`
    heads: Any  # uint32, a list


@kernel
def choose(team: Any, left: Any, spaces: Any) -> None:
    """Mark what leaves; fill all that `Left` has beside rows, vertices and depths.

    ``spaces`` are this thread's, for arcs away from a vertex and for those to it.
    """
    rows, vertices, depths, needed, keys, leaves, sums, step = left
    count, parts = len(vertices), len(sums)
    part = next_part(team, FIRST, parts)
    while part >= 0:
        for tail in range(part * step, min(part * step + step, count)):
            count_needed(rows, tail, needed, spaces)
        part = next_part(team, FIRST, parts)
    meet(team)
    part = next_part(team, FIRST + 1, parts)
    while part >= 0:
        for vertex in range(part * step, min(part * step + step, count)):
            degree = rows.ends[vertex] - rows.begins[vertex]
            keys[vertex] = key_of(needed[vertex], degree, depths[vertex], vertices[vertex])
        part = next_part(team, FIRST + 1, parts)
    meet(team)
    part = next_part(team, FIRST + 2, parts)
    while part >= 0:
        for vertex in range(part * step, min(part * step + step, count)):
            leaves[vertex] = is_least(rows, keys, vertex)
        part = next_part(team, FIRST + 2, parts)
    meet(team)
    part = next_part(team, FIRST + 3, parts)
    while part >= 0:
        sum_up(rows, leaves, part * step, min(part * step + step, count), sums[part])
        part = next_part(team, FIRST + 3, parts)


@kernel
def count_needed(rows: Any, tail: Any, needed: Any, spaces: Any) -> None:
    """Add 1 to ``needed`` of the middle of each pair, the tail and a later vertex, that needs it.

    A pair that needs shortcuts in both directions counts once.
    """
    away, to = spaces
    count, count_to = walk(rows, rows.out, rows.into, tail, away), 0
    if rows.both:
        count_to = walk(rows, rows.into, rows.out, tail, to)
    for i in range(count):
        middle = away.middles[away.heads[i]]
        if middle != SEVERAL:
            add(needed, middle - 1, 1)
    for i in range(count_to):
        middle = to.middles[to.heads[i]]
        if middle != SEVERAL and middle != away.middles[to.heads[i]]:
            add(needed, middle - 1, 1)
    forget(rows, tail, away, count)
    if rows.both:
        forget(rows, tail, to, count_to)


@kernel
def walk(rows: Any, leaving: Any, entering: Any, tail: Any, space: Any) -> Any:
    """Find the best paths of two arcs to later vertices, and their middles; list and count these.

    Only paths that are shorter than an arc count. ``leaving`` are the weights away from the tail,
    ``entering`` those of the same direction by the heads of arcs.
    """
    begins, ends, neighbours, nothing = rows.begins, rows.ends, rows.neighbours, rows.nothing
    _, best, middles, heads = space
    count, has_long = 0, False
    for place in range(begins[tail], ends[tail]):
        best[neighbours[place]] = leaving[place] - nothing
    for place in range(begins[tail], ends[tail]):
        middle, before = neighbours[place], leaving[place]
        first, there = begins[middle], ends[middle] - 1
        if there - first >= MOST_NEIGHBOURS:
            has_long = True
            continue
        while there >= first:
            head = neighbours[there]
            if head <= tail:
                break
            most = best[head] + nothing - before
            if leaving[there] < most:
                if middles[head] == 0:
                    heads[count] = head
                    count += 1
                best[head] = before + leaving[there] - nothing
                middles[head] = middle + 1
            elif leaving[there] == most and middles[head] != 0:
                middles[head] = SEVERAL
            there -= 1
    if has_long:
        drop_beside_long(rows, leaving, entering, tail, space, count)
    return count


@kernel
def drop_beside_long(
    rows: Any, leaving: Any, entering: Any, tail: Any, space: Any, count: Any
) -> None:
    """Give listed vertices several middles where a path through a long row is as short."""
    reach, best, middles, heads = space
    spread(rows, leaving, tail, reach)
    for i in range(count):
        head = heads[i]
        middle = middles[head]
        if middle != SEVERAL:
            before, reach[middle - 1] = reach[middle - 1], 0
            if path_stands_in(rows, entering, tail, head, best[head] + rows.nothing, reach, True):
                middles[head] = SEVERAL
            reach[middle - 1] = before
    gather_up(rows, tail, reach)


@kernel
def forget(rows: Any, tail: Any, space: Any, count: Any) -> None:
    """Undo what `walk` has left in the arrays by vertex."""
    gather_up(rows, tail, space.best)
    for i in range(count):
        space.best[space.heads[i]] = space.middles[space.heads[i]] = 0


@kernel
def spread(rows: Any, weights: Any, tail: Any, reach: Any) -> None:
    """Write the weights of a row to where its neighbours are looked for."""
    for place in range(rows.begins[tail], rows.ends[tail]):
        reach[rows.neighbours[place]] = weights[place] - rows.nothing


@kernel
def gather_up(rows: Any, tail: Any, reach: Any) -> None:
    """Undo `spread`."""
    for place in range(rows.begins[tail], rows.ends[tail]):
        reach[rows.neighbours[place]] = 0


@kernel
def path_stands_in(
    rows: Any, entering: Any, tail: Any, head: Any, weight: Any, reach: Any, ties: bool
) -> bool:
    """Return True if a path of two arcs is lighter than ``weight``, which is not ``nothing``.

    ``reach`` has the row of the tail, or what of it may be used; ``entering`` are weights by heads.
    A path as light also stands in if neither of its arcs weighs 0, and with ``ties`` always.
    """
    begins, ends, neighbours, nothing = rows.begins, rows.ends, rows.neighbours, rows.nothing
    first, last = begins[head], ends[head]
    if last - first > LONG and last - first > ends[tail] - begins[tail]:
        for here in range(begins[tail], ends[tail]):
            place = place_of(neighbours, first, last, neighbours[here])
            before = reach[neighbours[here]] + nothing
            if place >= 0 and stand_in(before, entering[place], weight, ties):
                return True
        return False
    for place in range(first, last):
        if stand_in(reach[neighbours[place]] + nothing, entering[place], weight, ties):
            return True
    return False


@inlined_kernel
def stand_in(before: Any, after: Any, weight: Any, ties: Any) -> Any:
    """Return True if two arcs stand in for a weight; see `path_stands_in`."""
    most = weight - before
    return after < most or (after == most and (ties or (before > 0 and after > 0)))


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
def key_of(needed: Any, degree: Any, depth: Any, vertex: Any) -> Any:
    """Return the key of a vertex: the lowest leaves first.

    The upper half is the cost of contraction: the pairs of neighbours that need a shortcut, less
    the arcs that go, and the levels below the vertex, so that levels stay few. The lower half is a
    hash of the original number, which differs for any two vertices.
    """
    if degree > MOST_NEIGHBOURS:
        return STAYS
    score = 4096 + 4 * np.int64(needed) - 2 * degree + 2 * np.int64(depth)
    return (np.uint64(score) << np.uint64(32)) | hash_of(vertex)


@kernel
def hash_of(vertex: Any) -> Any:
    """A number of 32 bits, another one for every vertex."""
    mask = np.uint64(0xFFFFFFFF)
    value = (np.uint64(vertex) + np.uint64(1)) * np.uint64(2654435761) & mask
    value ^= value >> np.uint64(15)
    value = value * np.uint64(2246822519) & mask
    return value ^ (value >> np.uint64(13))


@kernel
def is_least(rows: Any, keys: Any, vertex: Any) -> bool:
    """Return True if the key of a vertex is below the keys of all neighbours."""
    key = keys[vertex]
    for place in range(rows.begins[vertex], rows.ends[vertex]):
        if keys[rows.neighbours[place]] <= key:
            return False
    return bool(key != STAYS)


@kernel
def sum_up(rows: Any, leaves: Any, first: Any, last: Any, sums: Any) -> None:
    """Fill the sums of a part."""
    begins, ends, neighbours = rows.begins, rows.ends, rows.neighbours
    staying, arcs, room = 0, 0, 0
    for vertex in range(first, last):
        degree = ends[vertex] - begins[vertex]
        if leaves[vertex]:
            arcs += degree
            continue
        staying += 1
        room += degree
        for place in range(begins[vertex], ends[vertex]):
            middle = neighbours[place]
            if leaves[middle]:
                room += ends[middle] - begins[middle] - 1
    sums[STAYING], sums[LEAVING] = staying, last - first - staying
    sums[ARCS], sums[ROOM] = arcs, room
