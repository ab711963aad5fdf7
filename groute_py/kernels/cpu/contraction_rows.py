"""The skeleton of a graph, and its rows between two rounds of contraction.

A *neighbour* is joined by an arc in either direction. Rows of the skeleton ascend by neighbour.
Each entry has the weight of the arc to the neighbour (``out``) and of the arc from it (``into``),
and the unreached value where there is none. Self-loops are dropped. Of parallel arcs the lightest
counts. After a round rows are without what left, and with the shortcuts.

Each kernel works on a range of rows, ``part``, so threads can share them. ``rows`` and ``reach``
are those of `groute_py.kernels.cpu.contraction`; ``rest`` are rows without what left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from groute_py.kernels.cpu.contraction import LONG, gather_up, place_of, spread
from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.rows import sort_row


@kernel
def count_kept(rows: Any, leaves: Any, part: Any, counts: Any) -> None:
    """Count the neighbours that stay of the vertices that stay; those of others count nothing."""
    for vertex in range(part[0], part[1]):
        count = 0
        if not leaves[vertex]:
            for place in range(rows.offsets[vertex], rows.offsets[vertex + 1]):
                count += not leaves[rows.neighbours[place]]
        counts[vertex] = count


@kernel
def keep_rows(rows: Any, leaves: Any, part: Any, rest: Any) -> None:
    """Fill the rows that `count_kept` has counted."""
    offsets, neighbours, out, into, _, _ = rows
    for vertex in range(part[0], part[1]):
        if leaves[vertex]:
            continue
        at = rest.offsets[vertex]
        for place in range(offsets[vertex], offsets[vertex + 1]):
            if not leaves[neighbours[place]]:
                rest.neighbours[at] = neighbours[place]
                rest.out[at], rest.into[at] = out[place], into[place]
                at += 1


@kernel
def count_tails(tails: Any, part: Any, counts: Any) -> None:
    """Add to the shortcuts of each vertex those of a range."""
    for place in range(part[0], part[1]):
        counts[tails[place]] += 1


@kernel
def place_shortcuts(shortcuts: Any, part: Any, cursors: Any, placed: Any) -> None:
    """Write a range of shortcuts (tails, heads, out, into) to their rows, from ``cursors`` on."""
    tails, heads, out, into = shortcuts
    for place in range(part[0], part[1]):
        at = cursors[tails[place]]
        cursors[tails[place]] = at + 1
        placed[0][at] = heads[place]
        placed[1][at], placed[2][at] = out[place], into[place]


@kernel
def merge_shortcuts(rest: Any, starts: Any, placed: Any, part: Any, left: Any, counts: Any) -> None:
    """Sort the shortcuts of each row, keep the lightest of each head, and count the neighbours.

    ``starts`` (int64, (n + 1,)) has the begins of rows in ``placed`` (heads, out, into). Fills
    ``left`` with the shortcuts left of each row, and ``counts`` with its neighbours, int64, (n,).
    """
    (heads, out, into), others = placed, rest.neighbours
    for vertex in range(part[0], part[1]):
        first, last = starts[vertex], starts[vertex + 1]
        sort_row(heads, out, into, first, last)
        at = first
        for place in range(first, last):
            if at > first and heads[at - 1] == heads[place]:
                out[at - 1] = min(out[at - 1], out[place])
                into[at - 1] = min(into[at - 1], into[place])
                continue
            heads[at], out[at], into[at] = heads[place], out[place], into[place]
            at += 1
        left[vertex] = at - first
        place, end = rest.offsets[vertex], rest.offsets[vertex + 1]
        count = end - place
        for shortcut in range(first, at):
            while place < end and others[place] < heads[shortcut]:
                place += 1
            count += place == end or others[place] != heads[shortcut]
        counts[vertex] = count


@kernel
def fill_rows(
    rest: Any, starts: Any, placed: Any, left: Any, staying: Any, new: Any, part: Any, rows: Any
) -> None:
    """Fill the rows, which have offsets, of a range of ``staying``, in ``new`` numbers (uint32)."""
    offsets, neighbours, out, into, _, _ = rows
    others = rest.neighbours
    heads, shortcut_out, shortcut_into = placed
    for number in range(part[0], part[1]):
        vertex, at = staying[number], offsets[number]
        place, end = rest.offsets[vertex], rest.offsets[vertex + 1]
        shortcut = starts[vertex]
        stop = shortcut + left[vertex]
        while place < end or shortcut < stop:
            if shortcut == stop or (place < end and others[place] < heads[shortcut]):
                head, forth, back = others[place], rest.out[place], rest.into[place]
                place += 1
            else:
                head = heads[shortcut]
                forth, back = shortcut_out[shortcut], shortcut_into[shortcut]
                if place < end and others[place] == head:
                    forth, back = min(forth, rest.out[place]), min(back, rest.into[place])
                    place += 1
                shortcut += 1
            neighbours[at], out[at], into[at] = new[head], forth, back
            at += 1


@kernel
def prune(rows: Any, part: Any, reach: Any, out: Any, into: Any, counts: Any) -> None:
    """Drop the arcs for which a path of two arcs stands in.

    It is lighter, or as light if neither of its arcs weighs 0; so each of them is lighter than the
    arc, and arcs cannot stand in for each other in a circle. Fills ``out`` and ``into`` with the
    weights of the arcs that stay, else ``nothing``, and ``counts`` (int64, (n,)) with the
    neighbours that stay.
    """
    offsets, neighbours, leaving, entering, both, nothing = rows
    for tail in range(part[0], part[1]):
        spread(rows, leaving, tail, reach[0])
        if both:
            spread(rows, entering, tail, reach[1])
        count = 0
        for place in range(offsets[tail], offsets[tail + 1]):
            arc = (tail, neighbours[place])
            forth = leaving[place]
            if path_stands_in(rows, leaving, entering, arc, forth, reach[0]):
                forth = nothing
            back = forth
            if both:
                back = entering[place]
                if path_stands_in(rows, entering, leaving, arc, back, reach[1]):
                    back = nothing
            out[place], into[place] = forth, back
            count += forth != nothing or back != nothing
        counts[tail] = count
        gather_up(rows, tail, reach[0])
        if both:
            gather_up(rows, tail, reach[1])


@kernel
def path_stands_in(
    rows: Any, leaving: Any, entering: Any, arc: Any, weight: Any, reach: Any
) -> bool:
    """Return True if a path of two arcs stands in for an arc, from its tail to its head.

    ``reach`` has the row of the tail. Nothing stands in for an arc that is not there.
    """
    offsets, neighbours, _, _, _, nothing = rows
    tail, head = arc
    if weight == nothing:
        return False
    first, last = offsets[head], offsets[head + 1]
    begin, end = offsets[tail], offsets[tail + 1]
    if last - first > LONG and last - first > end - begin:
        for here in range(begin, end):
            there = place_of(neighbours, first, last, neighbours[here])
            if there >= 0 and leaving[here] != nothing and entering[there] != nothing:
                before, after = np.uint64(leaving[here]), np.uint64(entering[there])
                if stand_in(before, after, np.uint64(weight)):
                    return True
        return False
    for place in range(first, last):
        before = reach[neighbours[place]]
        if before <= np.uint64(weight) and entering[place] != nothing:  # noqa: SIM102
            if stand_in(before, np.uint64(entering[place]), np.uint64(weight)):
                return True
    return False


@kernel
def stand_in(before: Any, after: Any, weight: Any) -> Any:
    """Return True if two arcs stand in for one of this weight."""
    total = before + after
    return total < weight or (total == weight and before > 0 and after > 0)


@kernel
def compact(rows: Any, out: Any, into: Any, part: Any, pruned: Any) -> None:
    """Fill rows, whose offsets are set, with what `prune` has left in ``out`` and ``into``."""
    offsets, neighbours, nothing = rows.offsets, rows.neighbours, rows.nothing
    for vertex in range(part[0], part[1]):
        at = pruned.offsets[vertex]
        for place in range(offsets[vertex], offsets[vertex + 1]):
            if out[place] != nothing or into[place] != nothing:
                pruned.neighbours[at] = neighbours[place]
                pruned.out[at], pruned.into[at] = out[place], into[place]
                at += 1


class SkeletonRows(NamedTuple):
    """Rows of a skeleton, and whether its directions differ."""

    offsets: Any  # int64
    neighbours: Any  # uint32
    out: Any
    into: Any  # the same array as ``out`` unless ``both``
    both: bool
    nothing: Any


@kernel
def count_neighbours(outgoing: Any, incoming: Any, part: Any, counts: Any) -> None:
    """Count the neighbours (int64, (n,)) of each vertex of a range.

    ``outgoing`` and ``incoming`` are offsets, ends and weights of arcs; rows ascend by their ends.
    """
    (there, heads, _), (back, tails, _) = outgoing, incoming
    for vertex in range(part[0], part[1]):
        i, stop_i = there[vertex], there[vertex + 1]
        j, stop_j = back[vertex], back[vertex + 1]
        count = 0
        while i < stop_i or j < stop_j:
            from_heads = j == stop_j or (i < stop_i and heads[i] <= tails[j])
            neighbour = heads[i] if from_heads else tails[j]
            while i < stop_i and heads[i] == neighbour:
                i += 1
            while j < stop_j and tails[j] == neighbour:
                j += 1
            count += neighbour != vertex
        counts[vertex] = count


@kernel
def join_directions(outgoing: Any, incoming: Any, part: Any, rows: Any) -> None:
    """Fill the rows of the skeleton of a range of vertices, from arcs as for `count_neighbours`."""
    (there, heads, weights), (back, tails, weights_back) = outgoing, incoming
    offsets, neighbours, out, into, _, nothing = rows
    for vertex in range(part[0], part[1]):
        i, stop_i = there[vertex], there[vertex + 1]
        j, stop_j = back[vertex], back[vertex + 1]
        place = offsets[vertex]
        while i < stop_i or j < stop_j:
            from_heads = j == stop_j or (i < stop_i and heads[i] <= tails[j])
            neighbour = heads[i] if from_heads else tails[j]
            lightest_out = lightest_in = nothing
            while i < stop_i and heads[i] == neighbour:
                lightest_out = min(lightest_out, weights[i])
                i += 1
            while j < stop_j and tails[j] == neighbour:
                lightest_in = min(lightest_in, weights_back[j])
                j += 1
            if neighbour != vertex:
                neighbours[place] = neighbour
                out[place], into[place] = lightest_out, lightest_in
                place += 1
