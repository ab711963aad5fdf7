"""Customization of a hierarchy from separators, and labels and distances out of it.

Vertices are numbers of a `CustomizableHierarchy`, which has ``slots``, and the ``rows`` of its arcs
upward: their offsets, (n + 1,), and heads. ``triangles`` are those of `list_triangles`.
Its weights are *lengths*: unsigned, (2 a,), of each arc that upward and that downward, at most
``limit``, and ``nothing`` where no way leads; see `groute_py.graph.hierarchy.separators.lengths`.
Two lengths never wrap when they are added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import inlined_kernel, kernel


@kernel
def list_triangles(rows: Any, triangles: Any) -> None:
    """Fill ``tops`` (int32) with the arc between the heads of each two arcs upward of each vertex.

    Those of a vertex begin at ``starts`` (n + 1,): the first arc of a row with each one behind it,
    the second one, and so on. Both are the ``triangles``.
    """
    (offsets, heads), (starts, tops) = rows, triangles
    for low in range(len(offsets) - 1):
        triangle, stop = starts[low], offsets[low + 1]
        for first in range(offsets[low], stop):
            top = offsets[heads[first]]
            for second in range(first + 1, stop):
                while heads[top] != heads[second]:
                    top += 1
                tops[triangle] = top
                triangle += 1


@kernel
def fold_weights(slots: Any, weights: Any, limit: Any, lengths: Any) -> None:
    """Lower lengths to weights (int64, none negative) of arcs; greater ones count as limit + 1."""
    number = lengths.dtype.type
    for arc in range(len(slots)):
        slot = slots[arc]
        if slot >= 0:
            weight = number(min(np.uint64(weights[arc]), np.uint64(limit) + np.uint64(1)))
            lengths[slot] = min(lengths[slot], weight)


@kernel
def customize(rows: Any, triangles: Any, lengths: Any) -> None:
    """Give each arc the length of the shortest way over vertices below, the deepest first."""
    (offsets, _), (starts, tops) = rows, triangles
    number = lengths.dtype.type
    for low in range(len(offsets) - 2, -1, -1):
        triangle, stop = starts[low], offsets[low + 1]
        for first in range(offsets[low], stop):
            up, down = lengths[2 * first], lengths[2 * first + 1]
            for second in range(first + 1, stop):
                top = 2 * tops[triangle]
                triangle += 1
                lengths[top] = min(lengths[top], number(down + lengths[2 * second]))
                lengths[top + 1] = min(lengths[top + 1], number(lengths[2 * second + 1] + up))


@kernel
def greatest_length(lengths: Any, nothing: Any) -> Any:
    """The greatest length but for that of no way; 0 if there is none."""
    greatest = nothing - nothing
    for length in lengths:
        if length < nothing:
            greatest = max(greatest, length)
    return greatest


@kernel
def list_lower(rows: Any, triangles: Any, ends: Any, legs: Any) -> None:
    """List the triangles by the arc that they may lower.

    Those of each arc begin at ``ends`` (int64, (a + 1,), zeros before). ``legs`` (int32, (t, 2))
    are the two arcs from the lowest vertex, that to the tail of the arc first.
    """
    (offsets, _), (starts, tops) = rows, triangles
    for top in tops:
        ends[top + 1] += 1
    for arc in range(len(ends) - 1):
        ends[arc + 1] += ends[arc]
    free = ends[:-1].copy()
    for low in range(len(offsets) - 1):
        triangle, stop = starts[low], offsets[low + 1]
        for first in range(offsets[low], stop):
            for second in range(first + 1, stop):
                place = free[tops[triangle]]
                free[tops[triangle]] += 1
                legs[place, 0], legs[place, 1] = first, second
                triangle += 1


@inlined_kernel
def changes(old: Any, new: Any, top: Any) -> Any:
    """Return True if a way of another length may change the arc that it bridges."""
    return new < top or (old == top and new != old)


@kernel
def customize_some(
    marks: Any, rows: Any, triangles: Any, lower: Any, graph_lengths: Any, lengths: Any
) -> int:
    """Customize anew what depends on some arcs, the deepest first; count the arcs looked at.

    The ``marks`` are of the arcs whose own lengths have changed (bool, (a,)) and of their tails
    (bool, (n,)); both are all false afterwards. ``lower`` are ends and legs of `list_lower`,
    ``graph_lengths`` of `fold_weights`, and ``lengths`` customized for the weights before.
    """
    (dirty, touched), (ends, legs) = marks, lower
    (offsets, heads), (starts, tops) = rows, triangles
    number = lengths.dtype.type
    seen = 0
    for low in range(len(offsets) - 2, -1, -1):
        if not touched[low]:
            continue
        touched[low] = False
        begin, stop = offsets[low], offsets[low + 1]
        width = stop - begin
        for arc in range(begin, stop):
            if not dirty[arc]:
                continue
            dirty[arc] = False
            seen += 1
            up, down = graph_lengths[2 * arc], graph_lengths[2 * arc + 1]
            for place in range(ends[arc], ends[arc + 1]):
                first, second = 2 * legs[place, 0], 2 * legs[place, 1]
                up = min(up, number(lengths[first + 1] + lengths[second]))
                down = min(down, number(lengths[second + 1] + lengths[first]))
            old_up, old_down = lengths[2 * arc], lengths[2 * arc + 1]
            if up == old_up and down == old_down:
                continue
            lengths[2 * arc], lengths[2 * arc + 1] = up, down
            own = arc - begin
            for other in range(width):
                if other == own:
                    continue
                low_leg, high_leg = min(own, other), max(own, other)
                before = low_leg * width - low_leg * (low_leg + 1) // 2
                top = tops[starts[low] + before + high_leg - low_leg - 1]
                other_up = lengths[2 * (begin + other)]
                other_down = lengths[2 * (begin + other) + 1]
                # to the tail of the bridged arc leads the leg that comes first
                over_down, over_up = 2 * top, 2 * top + 1
                if own > other:
                    over_down, over_up = over_up, over_down
                if changes(old_down + other_up, down + other_up, np.uint64(lengths[over_down])):
                    dirty[top] = touched[heads[begin + low_leg]] = True
                if changes(other_down + old_up, other_down + up, np.uint64(lengths[over_up])):
                    dirty[top] = touched[heads[begin + low_leg]] = True
    return seen


@kernel
def fill_labels(
    rows: Any, depths: Any, begins: Any, lengths: Any, side: int, nothing: Any, labels: Any
) -> None:
    """Fill labels with the distances up to (``side`` 0) or down from (1) each vertex's ancestors.

    The label of a vertex begins at ``begins`` (n + 1,) and has an entry for each ancestor by depth
    (``depths``, by number), and one for the vertex; one that is empty there is left out.
    """
    offsets, heads = rows
    number = labels.dtype.type
    for low in range(len(depths)):
        if begins[low] == begins[low + 1]:
            continue
        own = labels[begins[low] : begins[low] + depths[low] + 1]
        own[:] = nothing
        own[depths[low]] = 0
        for arc in range(offsets[low], offsets[low + 1]):
            length = lengths[2 * arc + side]
            if length == nothing:
                continue
            head = heads[arc]
            above = labels[begins[head] : begins[head] + depths[head] + 1]
            for depth in range(len(above)):
                own[depth] = min(own[depth], number(above[depth] + length))


@inlined_kernel
def shared_ancestors(low: int, high: int, tree: Any) -> Any:
    """Count the ancestors that two different vertices have in common, themselves included.

    The least depth in the preorder behind the one up to the other is that of the child of the
    lowest of them. The ``tree`` is the preorder and its
    `groute_py.graph.hierarchy.separators.labels.range_minima`.
    """
    preorder, table = tree
    first, last = preorder[low], preorder[high]
    if first > last:
        first, last = last, first
    first += 1
    power = 0
    while (2 << power) <= last - first + 1:
        power += 1
    return min(table[power, first], table[power, last + 1 - (1 << power)])


@kernel
def look_up(sources: Any, targets: Any, tree: Any, labels: Any, nothing: Any, out: Any) -> None:
    """Fill ``out`` with the lengths between pairs of vertices, by labels of `fill_labels`.

    The ``labels`` are their begins, those up and those down.
    """
    begins, up, down = labels
    number = up.dtype.type
    for pair in range(len(out)):
        source, target = sources[pair], targets[pair]
        if source == target:
            out[pair] = 0
            continue
        shared = shared_ancestors(source, target, tree)
        begin, end = begins[source], begins[target]
        best = nothing
        for depth in range(shared):
            best = min(best, number(up[begin + depth] + down[end + depth]))
        out[pair] = best


@kernel
def climb(
    sources: Any, targets: Any, rows: Any, depths: Any, lengths: Any, limits: Any, out: Any
) -> bool:
    """Fill ``out`` with lengths between pairs, by a way up the tree from either end.

    ``limits`` are the number of levels, the greatest length and ``nothing``. Returns True if a
    distance to an ancestor is above the greatest length; the answers are wrong then.
    """
    (offsets, heads), (level_count, limit, nothing) = rows, limits
    number = lengths.dtype.type
    reach = np.full((2, level_count), nothing, lengths.dtype)
    is_wide = False
    for pair in range(len(out)):
        for side in range(2):
            vertex = sources[pair] if side == 0 else targets[pair]
            reach[side, : depths[vertex] + 1] = nothing
            reach[side, depths[vertex]] = 0
            while True:
                here = reach[side, depths[vertex]]
                is_wide = is_wide or limit < here < nothing
                begin, stop = offsets[vertex], offsets[vertex + 1]
                for arc in range(begin, stop):
                    above = depths[heads[arc]]
                    length = number(here + lengths[2 * arc + side])
                    reach[side, above] = min(reach[side, above], length)
                if begin == stop:
                    break
                vertex = heads[begin]
        out[pair] = nothing
        source, target = sources[pair], targets[pair]
        while depths[source] > depths[target]:
            source = heads[offsets[source]]
        while depths[target] > depths[source]:
            target = heads[offsets[target]]
        while source != target and offsets[source] < offsets[source + 1]:
            if offsets[target] == offsets[target + 1]:
                break
            source, target = heads[offsets[source]], heads[offsets[target]]
        if source == target:
            best = nothing
            for depth in range(depths[source] + 1):
                best = min(best, number(reach[0, depth] + reach[1, depth]))
            out[pair] = best
    return is_wide


@kernel
def sweep_rows(sources: Any, rows: Any, lengths: Any, nothing: Any, reach: Any) -> None:
    """Fill ``reach`` (n, k): from k sources up the tree, and then one sweep from its roots.

    (PHAST: Delling, Goldberg, Nowatzyk and Werneck, 2013.)
    """
    offsets, heads = rows
    number = lengths.dtype.type
    reach[:] = nothing
    for lane in range(len(sources)):
        vertex = sources[lane]
        reach[vertex, lane] = 0
        while offsets[vertex] < offsets[vertex + 1]:
            here = reach[vertex, lane]
            for arc in range(offsets[vertex], offsets[vertex + 1]):
                length = number(here + lengths[2 * arc])
                reach[heads[arc], lane] = min(reach[heads[arc], lane], length)
            vertex = heads[offsets[vertex]]
    for low in range(len(reach)):
        for arc in range(offsets[low], offsets[low + 1]):
            head, length = heads[arc], lengths[2 * arc + 1]
            for lane in range(reach.shape[1]):
                reach[low, lane] = min(reach[low, lane], number(reach[head, lane] + length))


@kernel
def leave_rows(numbers: Any, reach: Any, nothing: Any, limit: Any, rows: Any) -> bool:
    """Copy ``reach`` to ``rows`` (int64, (k, n)) by vertex; the greatest number stands for no path.

    Returns True if a distance is above the limit; the rows may be wrong then.
    """
    is_wide = False
    for vertex in range(len(numbers)):
        for lane in range(len(rows)):
            length = reach[numbers[vertex], lane]
            is_wide = is_wide or limit < length < nothing
            rows[lane, vertex] = np.int64(length) if length < nothing else np.int64(2**63 - 1)
    return is_wide
