"""Shortest paths out of a customized hierarchy: its arcs are unpacked over lower vertices.

Vertices, ``rows`` and lengths are those of `groute_py.kernels.cpu.customization`. Twice the number
of an arc stands for that arc upward, and one more for it downward.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import inlined_kernel, kernel

UNKNOWN = 1 << 30
"""Arcs of a way that is not known; more than any has."""


@kernel
def choose_legs(rows: Any, lengths: Any, hops: Any, legs: Any) -> None:
    """Choose for each arc the two over a lower vertex that make it as short, with the fewest arcs.

    Around a circle of length 0 ways are endless; those with the fewest arcs are not.

    Args:
        lengths: customized.
        hops: int32, (2 a,): how many arcs of the graph each arc stands for; 1 before for those
            that are as long as the graph's own, `UNKNOWN` for others.
        legs: int32, (2 a, 2): the two arcs in the order of the way; −1 for the graph's own.
    """
    offsets, heads = rows
    for low in range(len(offsets) - 2, -1, -1):
        for first in range(offsets[low], offsets[low + 1]):
            top = offsets[heads[first]]
            for second in range(first + 1, offsets[low + 1]):
                while heads[top] != heads[second]:
                    top += 1
                for side in range(2):
                    one, other = 2 * first + 1, 2 * second
                    if side == 1:
                        one, other = 2 * second + 1, 2 * first
                    entry, count = 2 * top + side, hops[one] + hops[other]
                    is_way = lengths[one] + lengths[other] == lengths[entry]
                    if is_way and count < hops[entry]:
                        hops[entry], legs[entry, 0], legs[entry, 1] = count, one, other


@kernel
def climb_by_arcs(
    vertex: int, side: int, rows: Any, depths: Any, lengths: Any, nothing: Any, way: Any
) -> None:
    """Fill a ``way``, by depth: the vertex's ancestors, the last arc to each, and its length.

    ``side`` is 0 for ways up to the ancestors, and 1 for those down from them.
    """
    (offsets, heads), (ancestors, arcs, reach) = rows, way
    number = lengths.dtype.type
    bottom = depths[vertex]
    reach[: bottom + 1] = nothing
    reach[bottom] = 0
    for depth in range(bottom, -1, -1):
        ancestors[depth] = vertex
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            above = depths[heads[arc]]
            length = number(reach[depth] + lengths[2 * arc + side])
            if length < reach[above]:
                reach[above], arcs[above] = length, arc
        if depth > 0:
            vertex = heads[offsets[vertex]]


@inlined_kernel
def begin_stack(ends: Any, depths: Any, tails: Any, nothing: Any, ways: Any, stack: Any) -> int:
    """Fill the stack with the arcs of the shortest way between two ends, the first one on top.

    Returns how many they are, −1 where no way leads.
    """
    (source, target), (from_source, to_target) = ends, ways
    number = from_source[2].dtype.type
    best, meeting = nothing, -1
    for depth in range(min(depths[source], depths[target]) + 1):
        if from_source[0][depth] != to_target[0][depth]:
            break
        length = number(from_source[2][depth] + to_target[2][depth])
        if length < best:
            best, meeting = length, depth
    if meeting < 0:
        return -1
    size, depth = 0, meeting
    while depth != depths[target]:
        stack[size] = 2 * to_target[1][depth] + 1
        depth = depths[tails[to_target[1][depth]]]
        size += 1
    stack[:size] = stack[:size][::-1].copy()
    depth = meeting
    while depth != depths[source]:
        stack[size] = 2 * from_source[1][depth]
        depth = depths[tails[from_source[1][depth]]]
        size += 1
    return size


@kernel
def find_path(
    ends: Any, rows: Any, arrays: Any, legs: Any, lengths: Any, nothing: Any, work: Any
) -> int:
    """Fill ``path`` with the numbers on a shortest path between two ends, and count them.

    Returns 0 where no path leads. Circles of length 0 are left out.

    Args:
        ends: the source and the target.
        arrays: the depth of each vertex, and the tail of each arc.
        legs: of `choose_legs`.
        lengths: customized.
        work: what is written: two ways of `climb_by_arcs`; a stack of three entries a level;
            ``places`` (n,), −1 before and afterwards; and ``path`` (n,).
    """
    (depths, tails), (_, heads) = arrays, rows
    ways, stack, places, path = work
    climb_by_arcs(ends[0], 0, rows, depths, lengths, nothing, ways[0])
    climb_by_arcs(ends[1], 1, rows, depths, lengths, nothing, ways[1])
    size = begin_stack(ends, depths, tails, nothing, ways, stack)
    if size < 0:
        return 0
    path[0], count = ends[0], 1
    places[ends[0]] = 0
    while size > 0:
        size -= 1
        entry = stack[size]
        if legs[entry, 0] >= 0:
            stack[size], stack[size + 1] = legs[entry, 1], legs[entry, 0]
            size += 2
            continue
        vertex = heads[entry // 2] if entry % 2 == 0 else tails[entry // 2]
        if places[vertex] >= 0:
            for place in range(places[vertex] + 1, count):
                places[path[place]] = -1
            count = places[vertex] + 1
        else:
            path[count], places[vertex] = vertex, count
            count += 1
    for place in range(count):
        places[path[place]] = -1
    return count


@kernel
def find_paths(
    sources: Any,
    targets: Any,
    rows: Any,
    arrays: Any,
    legs: Any,
    lengths: Any,
    nothing: Any,
    work: Any,
) -> Any:
    """The numbers (int32) on a shortest path of each pair, path by path, and where each ends."""
    stops, vertices, filled = np.empty(len(sources), np.int64), np.empty(1 << 10, np.int32), 0
    for pair in range(len(sources)):
        ends = sources[pair], targets[pair]
        count = find_path(ends, rows, arrays, legs, lengths, nothing, work)
        if filled + count > len(vertices):
            longer = np.empty(2 * (filled + count), np.int32)
            longer[:filled] = vertices[:filled]
            vertices = longer
        vertices[filled : filled + count] = work[3][:count]
        filled += count
        stops[pair] = filled
    return vertices[:filled], stops
