"""The skeleton of a graph, and its rows between two rounds of contraction.

A *neighbour* is joined by an arc in either direction. Rows of the skeleton ascend by neighbour.
Each entry has the weight of the arc to the neighbour (``out``) and of the arc from it (``into``),
and the unreached value where there is none. Self-loops are dropped. Of parallel arcs the lightest
counts. After a round rows are without what left, and with the shortcuts; arcs for which others
stand in are dropped.

Threads work as in `groute_py.kernels.cpu.contraction`. A phase writes rows of its own, from those
of the phase before; the counts of entries are sums, and the mark of a path that does not fit is
only ever set.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from groute_py.kernels.cpu.atomics import add, load, store_release
from groute_py.kernels.cpu.contraction import (
    ARCS,
    FIRST,
    LEAVING,
    NONE,
    ROOM,
    STAYING,
    choose,
    gather_up,
    path_stands_in,
    spread,
)
from groute_py.kernels.cpu.kernel import inlined_kernel, kernel
from groute_py.kernels.cpu.phases import TAKEN, meet, next_part
from groute_py.kernels.cpu.team_pool import LINE

PRUNED_DEGREE = 4
"""Neighbours of a vertex on the mean above which rows are pruned."""

PHASES = FIRST + 4
"""Phases of a round."""

ENTRIES, UNFIT = TAKEN + PHASES * LINE, TAKEN + (PHASES + 1) * LINE
"""Words of the team: entries of all rows; 1 if a path does not fit in the type."""

WORDS = TAKEN + (PHASES + 2) * LINE


class Gone(NamedTuple):
    """Vertices that leave: their arcs upward, heads by original number."""

    vertices: Any  # int32
    counts: Any  # int64
    heads: Any  # int32
    out: Any
    into: Any  # the same array as ``out`` unless directions differ


@kernel
def take_round(
    team: Any, left: Any, firsts: Any, gone: Any, new: Any, after: Any, marks: Any, spaces: Any
) -> None:
    """Replace what leaves by shortcuts, prune, and choose what leaves next.

    ``firsts`` (int64, (parts, 4)) are the sums of all parts before each; ``gone`` is filled for
    what leaves, ``new`` (uint32, (n,)) with the numbers of what stays, ``after`` (a `Left`) for it.
    ``marks`` (uint8) has a place for each entry.
    """
    rows, count, step = left.rows, len(left.vertices), left.step
    joined, stay = after.rows, len(after.vertices)
    part = next_part(team, 0, len(firsts))
    while part >= 0:
        number(left, part * step, min(part * step + step, count), firsts[part], gone, new, after)
        part = next_part(team, 0, len(firsts))
    meet(team)
    part = next_part(team, 1, len(firsts))
    while part >= 0:
        begin = at = firsts[part][ROOM]
        for vertex in range(part * step, min(part * step + step, count)):
            if not left.leaves[vertex]:
                joined.begins[new[vertex]] = at
                at = join_row(team, rows, left.leaves, vertex, new, joined, at, spaces)
                joined.ends[new[vertex]] = at
        add(team.words, ENTRIES, at - begin)
        part = next_part(team, 1, len(firsts))
    meet(team)
    if load(team.words, ENTRIES) > PRUNED_DEGREE * stay:
        prune(team, joined, stay, after.step, marks, spaces)
    choose(team, after, spaces)


@kernel
def number(left: Any, first: Any, last: Any, firsts: Any, gone: Any, new: Any, after: Any) -> None:
    """Number the vertices of a part that stay, and keep the arcs of those that leave."""
    rows, vertices, depths, leaves = left.rows, left.vertices, left.depths, left.leaves
    stay, leave, arc = firsts[STAYING], firsts[LEAVING], firsts[ARCS]
    for vertex in range(first, last):
        begin, end = rows.begins[vertex], rows.ends[vertex]
        if leaves[vertex]:
            gone.vertices[leave], gone.counts[leave] = vertices[vertex], end - begin
            leave += 1
            for place in range(begin, end):
                gone.heads[arc] = vertices[rows.neighbours[place]]
                gone.out[arc], gone.into[arc] = rows.out[place], rows.into[place]
                arc += 1
            continue
        depth = depths[vertex]
        for place in range(begin, end):
            if leaves[rows.neighbours[place]]:
                depth = max(depth, depths[rows.neighbours[place]] + 1)
        after.vertices[stay], after.depths[stay], new[vertex] = vertices[vertex], depth, stay
        stay += 1


@kernel
def join_row(
    team: Any, rows: Any, leaves: Any, vertex: Any, new: Any, joined: Any, at: Any, spaces: Any
) -> Any:
    """Write a row without what leaves, with shortcuts, in new numbers; return its end."""
    _, ends, neighbours, out, into, both, nothing = rows
    away, to = spaces
    count = list_shortcuts(team, rows, leaves, vertex, spaces)
    heads = away.heads[:count]
    heads.sort()
    place, last, shortcut = rows.begins[vertex], ends[vertex], 0
    while True:
        while place < last and leaves[neighbours[place]]:
            place += 1
        other = neighbours[place] if place < last else NONE
        head = heads[shortcut] if shortcut < count else NONE
        if other == NONE and head == NONE:
            break
        forth = back = nothing
        if head <= other:
            forth, back = away.best[head] + nothing, to.best[head] + nothing
            away.best[head] = to.best[head] = 0
            shortcut += 1
            if forth != nothing and path_stands_in(
                rows, into, vertex, head, forth, away.reach, True
            ):
                forth = nothing
            if not both:
                back = forth
            elif back != nothing and path_stands_in(rows, out, vertex, head, back, to.reach, True):
                back = nothing
        if other <= head:
            forth, back = min(forth, out[place]), min(back, into[place])
            place += 1
        if forth != nothing or back != nothing:
            joined.neighbours[at] = new[min(head, other)]
            joined.out[at], joined.into[at] = forth, back
            at += 1
    gather_up(rows, vertex, away.reach)
    if both:
        gather_up(rows, vertex, to.reach)
    return at


@kernel
def list_shortcuts(team: Any, rows: Any, leaves: Any, vertex: Any, spaces: Any) -> Any:
    """List the heads of paths through what leaves that are shorter than an arc; return how many.

    Leaves the least weights of such paths in ``best``, and the row of what stays in ``reach``.
    """
    begins, ends, neighbours, out, into, _, nothing = rows
    away, to = spaces
    for place in range(begins[vertex], ends[vertex]):
        if not leaves[neighbours[place]]:
            away.reach[neighbours[place]] = out[place] - nothing
            to.reach[neighbours[place]] = into[place] - nothing
    count = 0
    for place in range(begins[vertex], ends[vertex]):
        middle = neighbours[place]
        if not leaves[middle]:
            continue
        for there in range(begins[middle], ends[middle]):
            head = neighbours[there]
            if head == vertex:
                continue
            forth = sum_of(team, out[place], out[there], nothing)
            back = sum_of(team, into[place], into[there], nothing)
            if forth >= away.reach[head] + nothing:
                forth = nothing
            if back >= to.reach[head] + nothing:
                back = nothing
            if forth == nothing and back == nothing:
                continue
            if away.best[head] == 0 and to.best[head] == 0:
                away.heads[count] = head
                count += 1
            away.best[head] = min(away.best[head], forth - nothing)
            to.best[head] = min(to.best[head], back - nothing)
    return count


@inlined_kernel
def sum_of(team: Any, before: Any, after: Any, nothing: Any) -> Any:
    """Return the weight of a path, or ``nothing``; note one that does not fit."""
    if before == nothing or after == nothing:
        return nothing
    if after >= nothing - before:
        store_release(team.words, UNFIT, 1)
        return nothing
    return before + after


@kernel
def prune(team: Any, rows: Any, count: Any, step: Any, marks: Any, spaces: Any) -> None:
    """Drop the arcs for which a path of two arcs stands in, in two phases.

    It is lighter, or as light if neither of its arcs weighs 0; so each of them is lighter than the
    arc, and arcs cannot stand in for each other in a circle.
    """
    parts = -(-count // step)
    part = next_part(team, 2, parts)
    while part >= 0:
        for vertex in range(part * step, min(part * step + step, count)):
            mark_row(rows, vertex, marks, spaces)
        part = next_part(team, 2, parts)
    meet(team)
    part = next_part(team, 3, parts)
    while part >= 0:
        dropped = 0
        for vertex in range(part * step, min(part * step + step, count)):
            dropped += shorten_row(rows, vertex, marks)
        add(team.words, ENTRIES, -dropped)
        part = next_part(team, 3, parts)
    meet(team)


@kernel
def mark_row(rows: Any, tail: Any, marks: Any, spaces: Any) -> None:
    """Mark the arcs of a row for which a path stands in: 1 of those to heads, 2 of those back."""
    begins, ends, neighbours, out, into, both, nothing = rows
    spread(rows, out, tail, spaces[0].reach)
    if both:
        spread(rows, into, tail, spaces[1].reach)
    for place in range(begins[tail], ends[tail]):
        head, forth, back = neighbours[place], out[place], into[place]
        mark = 0
        if forth != nothing and path_stands_in(
            rows, into, tail, head, forth, spaces[0].reach, False
        ):
            mark = 1
        if not both:
            mark *= 3
        elif back != nothing and path_stands_in(
            rows, out, tail, head, back, spaces[1].reach, False
        ):
            mark |= 2
        marks[place] = mark
    gather_up(rows, tail, spaces[0].reach)
    if both:
        gather_up(rows, tail, spaces[1].reach)


@kernel
def shorten_row(rows: Any, tail: Any, marks: Any) -> Any:
    """Take the marked arcs out of a row; return by how many entries it is shorter."""
    begins, ends, neighbours, out, into, _, nothing = rows
    at, end = begins[tail], ends[tail]
    for place in range(at, end):
        forth = nothing if marks[place] & 1 else out[place]
        back = nothing if marks[place] & 2 else into[place]
        if forth != nothing or back != nothing:
            neighbours[at], out[at], into[at] = neighbours[place], forth, back
            at += 1
    ends[tail] = at
    return end - at


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
    begins, _, neighbours, out, into, _, nothing = rows
    for vertex in range(part[0], part[1]):
        i, stop_i = there[vertex], there[vertex + 1]
        j, stop_j = back[vertex], back[vertex + 1]
        place = begins[vertex]
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
