"""The k shortest simple paths between two vertices by Yen's algorithm (1971), without repetitions.

A *spur* is the part of a path behind a vertex of an accepted one, by an arc that no accepted path
with the same beginning takes. So the paths that are left fall into disjoint sets, one for each spur
vertex behind the one at which the accepted path was found (Lawler, 1972). A set waits in the queue
with a lower bound: the least sum of an arc and the distance from its head, in the whole graph. Few
bounds come to the top; only then the spur is searched for, by A* (Hart, Nilsson and Raphael, 1968)
with the same distances as its potential. The heads that a set avoids are a list whose end it shares
with the set that it is left of.

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

STAMP, LOST, FULL, STOP = range(4)
"""Places in the clock: the number of the last search, whether a pair lacks paths that were out of
range or did not fit in memory, and whether to end."""


class SpurSpace(NamedTuple):
    """Memory of searches on one thread, shape (n,) but for the clock."""

    lengths: Any  # int64 or float64, from the source
    arcs: Any  # int32, from the spur vertex
    before: Any  # uint32, the vertex before each
    stamps: Any  # int64, the last search that has touched each
    clock: Any  # int64, (4,)


def space_for(vertex_count: int, kind: Any) -> SpurSpace:
    """Return memory in which nothing is touched, for lengths of a kind."""
    before, stamps = np.empty(vertex_count, np.uint32), np.zeros(vertex_count, np.int64)
    lengths, arcs = np.empty(vertex_count, kind), np.empty(vertex_count, np.int32)
    return SpurSpace(lengths, arcs, before, stamps, np.zeros(4, np.int64))


@kernel
def add_paths(
    tree: Any, target: Any, source: Any, limits: Any, spaces: Any, paths: Any, lengths: Any
) -> None:
    """Add the paths of a pair, and their lengths, to those that are found.

    ``tree`` are the arcs along the paths and distances to the target, (n,), or a value for none.
    """
    k, greatest, space, first = limits.most, limits.greatest, spaces[0], len(paths)
    best = np.full(k, greatest)  # the least lengths of paths so far
    start = np.zeros(1, space.lengths.dtype)
    # a first way that is no path: the source, of which every path is a spur
    ways, sums, begins, avoided = [np.full(1, source, np.uint32)], [start], [0], [0]
    parents, spurs, links = [0], [0], [0]
    # heads that spurs avoid, each with the place of the next; a list ends at place 0
    chain = [(np.uint32(source), 0)]
    queue = [(start[0] + tree[3][source], 0, 0, 0)]  # bounds before lengths
    level, tied, accepted = queue[0][:3], [0], 0
    tied.pop()
    while len(queue) + len(tied) > 0 and accepted < k and load(space.clock, STOP) == 0:
        if len(tied) > 0 and (len(queue) == 0 or queue[0][:3] > level):
            number = tied.pop()
            accepted += 1
            if level[0] <= limits.longest:
                put_in_order(paths, lengths, first, ways[number], sums[number][-1])
            if accepted < k:
                way = ways[number], sums[number], begins[number], avoided[number]
                _add_spurs(tree, limits, best[k - 1], way, space, chain, spurs, links, queue)
                parents += [number] * (len(spurs) - len(parents))
            continue
        length, is_way, arc_count, number = heappop(queue)
        if is_way:
            if len(tied) == 0:
                level = (length, is_way, arc_count)
            _insert(tied, ways, number)
            continue
        to_way, spur = sums[parents[number]], spurs[number]
        beginning = ways[parents[number]][: spur + 1]
        heads = _chained(chain, links[number])
        if search(tree, limits, best[k - 1], target, beginning, to_way[spur], heads, space):
            whole, to_whole = joined(beginning, to_way, target, space)
            length = to_whole[-1]
            heappush(queue, (length, 1, len(whole), len(ways)))
            ways.append(whole)
            sums.append(to_whole)
            begins.append(spur)
            avoided.append(links[number])
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
def _insert(tied: Any, ways: Any, number: Any) -> None:
    """Insert a way among those of its length and number of arcs, of which the first is last."""
    way, low, high = ways[number], 0, len(tied)
    while low < high:
        middle = (low + high) // 2
        other = ways[tied[middle]]
        place = _in_common(other, way)
        if place < len(way) and other[place] > way[place]:
            low = middle + 1
        else:
            high = middle
    tied.insert(low, number)


@kernel
def _in_common(one: Any, other: Any) -> Any:
    """Count the vertices up to the first that differs."""
    count, most = 0, min(len(one), len(other))
    while count < most and one[count] == other[count]:
        count += 1
    return count


@kernel
def _chained(chain: Any, link: Any) -> Any:
    """Return the heads from a place of the chain."""
    heads = [chain[0][0]]
    heads.pop()
    while link != 0:
        head, link = chain[link]
        heads.append(head)
    return heads


@kernel
def _add_spurs(
    tree: Any,
    limits: Any,
    limit: Any,
    accepted: Any,
    space: Any,
    chain: Any,
    spurs: Any,
    links: Any,
    queue: Any,
) -> None:
    """Put the sets that an accepted path leaves into the queue, with their bounds."""
    offsets, heads, weights, row, nothing = tree
    way, to_way, begin, link = accepted
    one = np.uint64(1)
    space.clock[STAMP] += 1
    stamp = space.clock[STAMP]
    for place in range(len(way)):
        space.stamps[way[place]], space.arcs[way[place]] = stamp, place
    for spur in range(len(way) - 2, begin - 1, -1):
        if spur == begin:  # the last, so that its heads are avoided like those on the way to it
            for head in _chained(chain, link):
                space.stamps[head], space.arcs[head] = stamp, 0
        base, least, has_arc = to_way[spur], limit, False
        tail = np.uint64(way[spur])
        for arc in range(offsets[tail], offsets[tail + one]):
            head = heads[arc]
            if row[head] == nothing or head == way[spur + 1]:
                continue
            if space.stamps[head] == stamp and space.arcs[head] <= spur:
                continue
            if weights[arc] > least - base - row[head]:
                space.clock[LOST] |= limits.is_all and least == limits.greatest
                continue
            least, has_arc = base + weights[arc] + row[head], True
        if has_arc:
            heappush(queue, (least, 0, 0, len(spurs)))
            spurs.append(spur)
            links.append(len(chain))
            chain.append((way[spur + 1], link if spur == begin else 0))


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
    """Return whether a path to the target goes on from a beginning, by no arc to heads to avoid.

    One beyond the ``limit`` is none.
    """
    offsets, heads, weights, row, nothing = tree
    lengths, arc_counts, before, stamps, clock = space
    one = np.uint64(1)
    clock[STAMP] += 1
    stamp = clock[STAMP]
    for head in avoided:
        stamps[head] = -stamp
    for vertex in beginning:
        stamps[vertex], lengths[vertex] = stamp, -1  # nothing comes nearer
    start = beginning[-1]
    lengths[start], arc_counts[start], before[start] = base, 0, start
    # with a 0, so that one form of the heap is compiled
    queue = [(base + row[start], 0, np.int64(start), 0)]
    while len(queue) > 0 and load(clock, STOP) == 0:
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
                clock[LOST] |= limits.is_all and limit == limits.greatest
                continue
            if level == 0 and stamps[head] == -stamp:
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
