"""The k shortest simple paths between two vertices by Yen's algorithm (1971), without repetitions.

A *spur* is the part of a path behind a vertex of an accepted one, by an arc that no accepted path
with the same beginning takes. So the paths that are left fall into disjoint sets, one for each spur
vertex behind the one at which the accepted path was found (Lawler, 1972). A set waits in the queue
with a lower bound: the least sum of an arc and the distance from its head, in the whole graph. Few
bounds come to the top; only then the spur is searched for, by A* (Hart, Nilsson and Raphael, 1968)
with the same distances as its potential.

Paths are in order of their length, then of their numbers of arcs, then of the first vertex that
differs. As a step counts as an arc too, every step is longer than nothing, also by weight 0. A
search settles all tails of shortest paths before the target, and keeps of equal ways the first.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.cpu.atomics import load
from groute_py.kernels.cpu.kernel import kernel

STAMP, LOST, STOP = range(3)
"""Places in the clock: the number of the last search, whether a pair lacks paths that were out of
range, and whether to end."""


class SpurSpace(NamedTuple):
    """Memory of searches on one thread, shape (n,) but for the clock."""

    lengths: Any  # int64 or float64, from the source
    arcs: Any  # int32, from the spur vertex
    before: Any  # uint32, the vertex before each
    stamps: Any  # int64, the last search that has touched each
    clock: Any  # int64, (3,)


def space_for(vertex_count: int, kind: Any) -> SpurSpace:
    """Return memory in which nothing is touched, for lengths of a kind."""
    before, stamps = np.empty(vertex_count, np.uint32), np.zeros(vertex_count, np.int64)
    lengths, arcs = np.empty(vertex_count, kind), np.empty(vertex_count, np.int32)
    return SpurSpace(lengths, arcs, before, stamps, np.zeros(3, np.int64))


@kernel
def k_paths(
    arcs: Any, row: Any, nothing: Any, target: Any, sources: Any, limits: Any, space: Any
) -> Any:
    """Return counts of the paths from each source, their lengths, sizes, and all their vertices.

    ``row`` (n,) has distances to the target, or ``nothing``. ``limits`` are k, the greatest length
    of an answer, that of bounds, which may round, and whether this is all that fits.
    """
    tree = arcs[0], arcs[1], arcs[2], row, nothing
    counts, before, lost = np.zeros(len(sources), np.int64), 0, False
    ways, lengths = [np.empty(0, np.uint32)], [space.lengths[0]]
    for number in range(len(sources)):
        space.clock[LOST] = 0
        if row[sources[number]] != nothing:
            _of_pair(tree, target, sources[number], limits, space, ways, lengths)
        counts[number] = len(ways) - 1 - before
        before = len(ways) - 1
        lost |= space.clock[LOST] != 0 and counts[number] < limits[0]
    space.clock[LOST] = lost
    return packed(counts, ways, lengths)


@kernel
def packed(counts: Any, ways: Any, lengths: Any) -> Any:
    """Return the results of `k_paths`, of lists that begin with something else."""
    sizes = np.array([len(way) for way in ways[1:]], np.int64)
    vertices, first = np.empty(sizes.sum(), np.uint32), 0
    for way in ways[1:]:
        vertices[first : first + len(way)] = way
        first += len(way)
    return counts, np.array(lengths)[1:], sizes, vertices


@kernel
def _of_pair(
    tree: Any, target: Any, source: Any, limits: Any, space: Any, paths: Any, lengths: Any
) -> None:
    """Add the paths of a pair, and their lengths, to those that are found."""
    k, longest, greatest, _ = limits
    first = len(paths)
    best = np.full(k, greatest)  # the least lengths of paths so far
    start = np.zeros(1, space.lengths.dtype)
    # a first way that is no path: the source, of which every path is a spur
    ways, sums, begins = [np.full(1, source, np.uint32)], [start], [0]
    parents, spurs = [0], [0]
    queue = [(start[0] + tree[3][source], 0, 0, 0)]  # bounds before lengths
    accepted = [0]
    accepted.pop()
    while len(queue) > 0 and len(accepted) < k and load(space.clock, STOP) == 0:
        length, is_way, arc_count, number = heappop(queue)
        if is_way:
            number = _first_of(queue, ways, length, arc_count, number)
            accepted.append(number)
            if length <= longest:
                put_in_order(paths, lengths, first, ways[number], length)
            if len(accepted) < k:
                every = (ways, sums, begins, accepted)
                _add_spurs(tree, limits, best[k - 1], every, space, parents, spurs, queue)
            continue
        way, to_way, spur = ways[parents[number]], sums[parents[number]], spurs[number]
        beginning = way[: spur + 1]
        others = [ways[other] for other in accepted]
        avoided = [other[spur + 1] for other in others if _in_common(other, way) > spur]
        if search(tree, limits, best[k - 1], target, beginning, to_way[spur], avoided, space):
            whole, to_whole = joined(beginning, to_way, target, space)
            length = to_whole[-1]
            heappush(queue, (length, 1, len(whole), len(ways)))
            ways.append(whole)
            sums.append(to_whole)
            begins.append(spur)
            place = min(k, len(ways) - 1) - 1
            while place > 0 and best[place - 1] > length:
                best[place] = best[place - 1]
                place -= 1
            best[place] = length


@kernel
def put_in_order(paths: Any, lengths: Any, first: Any, path: Any, length: Any) -> None:
    """Add a path behind the others of its pair, but before those that rounding made longer."""
    place = len(lengths)
    while place > first and lengths[place - 1] > length:
        place -= 1
    lengths.insert(place, length)
    paths.insert(place, path)


@kernel
def _first_of(queue: Any, ways: Any, length: Any, arc_count: Any, number: Any) -> Any:
    """Return the first of a way and those at the top of the queue that are alike, which stay."""
    rest = [number]
    rest.pop()
    while len(queue) > 0 and queue[0][:3] == (length, 1, arc_count):
        other = heappop(queue)[3]
        place = _in_common(ways[other], ways[number])
        if ways[other][place] < ways[number][place]:
            number, other = other, number
        rest.append(other)
    for other in rest:
        heappush(queue, (length, 1, arc_count, other))
    return number


@kernel
def _in_common(one: Any, other: Any) -> Any:
    """Count the vertices up to the first that differs."""
    count, most = 0, min(len(one), len(other))
    while count < most and one[count] == other[count]:
        count += 1
    return count


@kernel
def _add_spurs(
    tree: Any, limits: Any, limit: Any, every: Any, space: Any, parents: Any, spurs: Any, queue: Any
) -> None:
    """Put the sets that the path accepted last leaves into the queue, with their bounds."""
    offsets, heads, weights, row, nothing = tree
    ways, sums, begins, accepted = every
    number = accepted[-1]
    way, to_way, one = ways[number], sums[number], np.uint64(1)
    common = [_in_common(ways[other], way) for other in accepted]
    space.clock[STAMP] += 1
    stamp = space.clock[STAMP]
    for place in range(len(way)):
        space.stamps[way[place]], space.arcs[way[place]] = stamp, place
    for spur in range(begins[number], len(way) - 1):
        base, least, has_arc = to_way[spur], limit, False
        tail = np.uint64(way[spur])
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if row[head] == nothing:
                continue
            if space.stamps[head] == stamp and space.arcs[head] <= spur:
                continue
            is_avoided = False
            for other in range(len(accepted)):
                is_avoided |= common[other] > spur and ways[accepted[other]][spur + 1] == head
            if is_avoided:
                continue
            if weights[arc] > least - base - row[head]:
                space.clock[LOST] |= limits[3] and least == limits[2]
                continue
            least, has_arc = base + weights[arc] + row[head], True
        if has_arc:
            heappush(queue, (least, 0, 0, len(spurs)))
            parents.append(number)
            spurs.append(spur)


@kernel
def search(
    tree: Any,
    limits: Any,
    limit: Any,
    target: Any,
    beginning: Any,
    base: Any,
    avoided: Any,
    space: Any,
) -> bool:
    """Return whether a path to the target goes on from a beginning, by no arc to heads to avoid."""
    offsets, heads, weights, row, nothing = tree
    lengths, arc_counts, before, stamps, clock = space
    one = np.uint64(1)
    clock[STAMP] += 1
    stamp = clock[STAMP]
    for vertex in beginning:
        stamps[vertex], lengths[vertex] = stamp, -1  # nothing comes nearer
    start = beginning[-1]
    lengths[start], arc_counts[start], before[start] = base, 0, start
    # with a 0, so that one form of the heap is compiled
    queue = [(base + row[start], 0, np.int64(start), 0)]
    while len(queue) > 0:
        _, level, vertex, _ = heappop(queue)
        if vertex == target:
            return True
        tail = np.uint64(vertex)
        if level != arc_counts[tail]:
            continue
        base = lengths[tail]
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if row[head] == nothing:
                continue
            if weights[arc] > limit - base - row[head]:
                clock[LOST] |= limits[3] and limit == limits[2]
                continue
            if level == 0 and head in avoided:
                continue
            length = base + weights[arc]
            if stamps[head] == stamp and length >= lengths[head]:
                if length > lengths[head] or level + 1 > arc_counts[head]:
                    continue
                if level + 1 == arc_counts[head]:
                    if _comes_first(before, tail, before[head]):
                        before[head] = tail
                    continue
            stamps[head], lengths[head] = stamp, length
            arc_counts[head], before[head] = level + 1, tail
            heappush(queue, (length + row[head], level + 1, np.int64(head), 0))
    return False


@kernel
def _comes_first(before: Any, one: Any, other: Any) -> bool:
    """Return whether the way to one vertex is before that to another, of as many arcs."""
    comes_first = False
    one, other = np.uint32(one), np.uint32(other)
    while one != other:
        comes_first = one < other
        one, other = before[one], before[other]
    return comes_first


@kernel
def joined(beginning: Any, to_way: Any, target: Any, space: Any) -> Any:
    """Return a beginning with the spur that was found, and the lengths up to each vertex."""
    count = total = len(beginning)
    vertex = np.uint32(target)
    while vertex != beginning[-1]:
        vertex = space.before[vertex]
        total += 1
    way, to_each = np.empty(total, np.uint32), np.empty(total, to_way.dtype)
    way[:count], to_each[:count] = beginning, to_way[:count]
    vertex = np.uint32(target)
    for place in range(total - 1, count - 1, -1):
        way[place], to_each[place] = vertex, space.lengths[vertex]
        vertex = space.before[vertex]
    return way, to_each
