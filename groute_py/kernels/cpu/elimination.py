"""Elimination of vertices in a given order: rows upward, the tree, numbers from the roots."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import inlined_kernel, kernel

COMPARED = 64
"""Neighbours of a vertex among which another one is looked for."""


@kernel
def list_neighbours(offsets: Any, heads: Any) -> Any:
    """The undirected graph without loops: int64 offsets; int32 neighbours, ascending, once each."""
    count = len(offsets) - 1
    ends = np.zeros(count + 1, np.int64)
    for tail in range(count):
        for arc in range(offsets[tail], offsets[tail + 1]):
            if heads[arc] != tail:
                ends[tail + 1] += 1
                ends[heads[arc] + 1] += 1
    for vertex in range(count):
        ends[vertex + 1] += ends[vertex]
    neighbours = np.empty(ends[count], np.int32)
    for tail in range(count):  # the begin of a row moves to its end
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = heads[arc]
            if head != tail:
                neighbours[ends[tail]] = head
                ends[tail] += 1
                neighbours[ends[head]] = tail
                ends[head] += 1
    filled, begin = 0, 0
    for vertex in range(count):
        stop = ends[vertex]
        ends[vertex] = filled
        filled = append_once(neighbours[begin:stop], neighbours, filled)
        begin = stop
    ends[count] = filled
    return ends, neighbours[:filled].copy()


@inlined_kernel
def append_once(row: Any, rows: Any, filled: int) -> Any:
    """Append a row to others, ascending and each neighbour once; return where it ends."""
    last = -1
    for neighbour in np.sort(row):
        if neighbour != last:
            rows[filled] = neighbour
            filled += 1
            last = neighbour
    return filled


@kernel
def pair_entries(offsets: Any, neighbours: Any, mates: Any) -> None:
    """Fill ``mates`` with the place of each entry of the rows as it is seen from its other end."""
    free = offsets[:-1].copy()
    for vertex in range(len(offsets) - 1):
        for i in range(offsets[vertex], offsets[vertex + 1]):
            mates[i] = free[neighbours[i]]
            free[neighbours[i]] += 1


@inlined_kernel
def drop_entry(place: int, row: int, degree: int, neighbours: Any, mates: Any) -> None:
    """Take an entry out of a row, whose last entry takes its place."""
    last = row + degree - 1
    if place != last:
        neighbours[place], mates[place] = neighbours[last], mates[last]
        mates[mates[place]] = place


@kernel
def peel(offsets: Any, neighbours: Any, mates: Any) -> Any:
    """Eliminate vertices with up to two neighbours, in rounds of independent ones.

    Such an elimination adds no neighbour to any vertex, so it works in place, on rows and mates.
    Rounds keep the tree shallow: half of a chain goes in each. Each elimination takes as long, even
    beside a hub: of its neighbours only some are compared, and two ends may then become neighbours
    twice.

    Returns the vertices in their order (int32), and how many neighbours each vertex has at the end,
    −1 for those that are eliminated. The neighbours left are the first of each row.
    """
    count = len(offsets) - 1
    degrees = np.empty(count, np.int32)
    degrees[:] = offsets[1:] - offsets[:-1]
    order, peeled = np.empty(count, np.int32), 0
    touched_in = np.zeros(count, np.int32)
    todo = np.flatnonzero(degrees <= 2)
    turn = 0
    while len(todo) > 0:
        turn += 1
        later, waiting = np.empty(3 * len(todo), np.int64), 0
        for vertex in todo:
            degree = degrees[vertex]
            if degree < 0 or degree > 2:
                continue
            if touched_in[vertex] == turn:
                later[waiting] = vertex
                waiting += 1
                continue
            order[peeled] = vertex
            peeled += 1
            degrees[vertex] = -1
            row = offsets[vertex]
            joined = degree < 2
            if degree == 2:
                first, second = neighbours[row], neighbours[row + 1]
                if degrees[first] > degrees[second]:
                    first, second = second, first
                begin = offsets[first]
                joined = first == second
                for i in range(begin, begin + min(degrees[first], COMPARED)):
                    joined = joined or neighbours[i] == second
            if joined:
                for i in range(row, row + degree):
                    end = neighbours[i]
                    drop_entry(mates[i], offsets[end], degrees[end], neighbours, mates)
                    degrees[end] -= 1
            else:
                one, other = mates[row], mates[row + 1]
                neighbours[one], neighbours[other] = neighbours[row + 1], neighbours[row]
                mates[one], mates[other] = other, one
            for i in range(row, row + degree):
                end = neighbours[i]
                touched_in[end] = turn
                if degrees[end] <= 2:
                    later[waiting] = end
                    waiting += 1
        todo = later[:waiting]
    return order[:peeled].copy(), degrees


@kernel
def left_graph(offsets: Any, neighbours: Any, degrees: Any) -> Any:
    """The graph that `peel` leaves: k vertices, offsets and neighbours, counted anew, each once.

    All have 32 bits, as METIS takes them.
    """
    vertices = np.flatnonzero(degrees >= 0).astype(np.int32)
    numbers = np.empty(len(degrees), np.int32)
    total = 0
    for number, vertex in enumerate(vertices):
        numbers[vertex] = number
        total += degrees[vertex]
    starts = np.zeros(len(vertices) + 1, np.int32)
    ends, filled = np.empty(total, np.int32), 0
    for number, vertex in enumerate(vertices):
        begin = offsets[vertex]
        filled = append_once(neighbours[begin : begin + degrees[vertex]], ends, filled)
        starts[number + 1] = filled
    for i in range(filled):
        ends[i] = numbers[ends[i]]
    return vertices, starts, ends[:filled]


@kernel
def list_upward(offsets: Any, heads: Any, ranks: Any) -> Any:
    """By rank, the ranks of the neighbours that are eliminated later: int64 ends of rows, int32.

    A row begins where the one before it ends. A neighbour may be there twice.
    """
    count = len(ranks)
    ends = np.zeros(count + 1, np.int64)
    for tail in range(count):
        for arc in range(offsets[tail], offsets[tail + 1]):
            ends[min(ranks[tail], ranks[heads[arc]]) + 1] += heads[arc] != tail
    for rank in range(count):
        ends[rank + 1] += ends[rank]
    upward = np.empty(ends[count], np.int32)
    for tail in range(count):
        for arc in range(offsets[tail], offsets[tail + 1]):
            one, other = ranks[tail], ranks[heads[arc]]
            if one != other:
                upward[ends[min(one, other)]] = max(one, other)
                ends[min(one, other)] += 1
    return ends, upward


@kernel
def fill_rows(ends: Any, upward: Any, most_arcs: int, most_triangles: int) -> Any:
    """The arcs upward that elimination in an order gives each vertex; see `list_upward`.

    A row is that of the graph joined with those of the children, without the vertex itself; the
    least of a row is the parent. Returns int64 offsets by rank, int32 ranks, ascending in each row,
    the number of triangles, and the number of complete rows: fewer than n if given up at
    ``most_arcs`` or ``most_triangles``.
    """
    count = len(ends) - 1
    rows = np.zeros(count + 1, np.int64)
    heads = np.empty(min(8 * count, most_arcs) + count, np.int32)
    links = np.full(count, -1, np.int32)  # of complete rows the next sibling, else the last child
    mark = np.full(count, -1, np.int32)
    filled, triangles, begin = 0, 0, 0
    for rank in range(count):
        if filled > most_arcs or triangles > most_triangles:
            return rows, heads[:filled], triangles, rank
        if filled + count - rank > len(heads):
            larger = np.empty(2 * len(heads) + count, np.int32)
            larger[:filled] = heads[:filled]
            heads = larger
        filled = append_marked(upward[begin : ends[rank]], rank, mark, heads, filled)
        begin = ends[rank]
        below = links[rank]
        while below >= 0:
            row = heads[rows[below] + 1 : rows[below + 1]]
            filled = append_marked(row, rank, mark, heads, filled)
            below = links[below]
        first = rows[rank]
        if filled > first:
            heads[first:filled].sort()
            parent = heads[first]
            links[rank] = links[parent]
            links[parent] = rank
        rows[rank + 1] = filled
        triangles += (filled - first) * (filled - first - 1) // 2
    return rows, heads[:filled], triangles, count


@inlined_kernel
def append_marked(row: Any, rank: int, mark: Any, heads: Any, filled: int) -> Any:
    """Append those that have no mark of ``rank`` yet, mark them, and return where they end."""
    for head in row:
        if mark[head] != rank:
            mark[head] = rank
            heads[filled] = head
            filled += 1
    return filled


@kernel
def number_tree(rows: Any, heads: Any) -> Any:
    """Number from the roots of the elimination tree: by depth, and in preorder at each depth.

    Returns int32 numbers by rank, preorder by number, and the int64 first number of each depth,
    then n. The rows are of `fill_rows`.
    """
    count = len(rows) - 1
    parent = np.full(count, -1, np.int32)
    sizes = np.ones(count, np.int32)
    depths = np.zeros(count, np.int32)
    for rank in range(count):
        if rows[rank + 1] > rows[rank]:
            parent[rank] = heads[rows[rank]]
            sizes[parent[rank]] += sizes[rank]
    places = np.empty(count, np.int32)  # in the preorder
    inner = np.zeros(count, np.int32)  # vertices below that have a place
    next_place, deepest = 0, -1
    for rank in range(count - 1, -1, -1):
        above = parent[rank]
        if above < 0:
            places[rank] = next_place
            next_place += sizes[rank]
        else:
            depths[rank] = depths[above] + 1
            places[rank] = places[above] + 1 + inner[above]
            inner[above] += sizes[rank]
        deepest = max(deepest, depths[rank])
    levels = np.zeros(deepest + 2, np.int64)
    rank_at = np.empty(count, np.int32)
    for rank in range(count):
        levels[depths[rank] + 1] += 1
        rank_at[places[rank]] = rank
    levels = np.cumsum(levels)
    free = levels[:-1].copy()
    numbers = np.empty(count, np.int32)
    preorder = np.empty(count, np.int32)
    for place in range(count):
        rank = rank_at[place]
        number = free[depths[rank]]
        free[depths[rank]] += 1
        numbers[rank], preorder[number] = number, place
    return numbers, preorder, levels


@kernel
def renumber_rows(rows: Any, heads: Any, numbers: Any) -> Any:
    """Rows by number, int64 offsets and int32 heads, the deepest head first: the parent."""
    count = len(numbers)
    offsets = np.zeros(count + 1, np.int64)
    for rank in range(count):
        offsets[numbers[rank] + 1] = rows[rank + 1] - rows[rank]
    for number in range(count):
        offsets[number + 1] += offsets[number]
    renumbered = np.empty(len(heads), np.int32)
    for rank in range(count):
        shift = offsets[numbers[rank]] - rows[rank]
        for i in range(rows[rank], rows[rank + 1]):
            renumbered[i + shift] = numbers[heads[i]]
    return offsets, renumbered


@kernel
def find_slots(offsets: Any, heads: Any, numbers: Any, graph_offsets: Any, graph_heads: Any) -> Any:
    """The slot of each arc of the graph, int32, (m,).

    It is twice the arc upward, and one more if the graph's arc leads down; −1 for loops.
    """
    slots = np.empty(len(graph_heads), np.int32)
    for tail in range(len(graph_offsets) - 1):
        for arc in range(graph_offsets[tail], graph_offsets[tail + 1]):
            low, high = numbers[tail], numbers[graph_heads[arc]]
            if low == high:
                slots[arc] = -1
                continue
            down = 0
            if low < high:
                low, high, down = high, low, 1
            first, last = offsets[low], offsets[low + 1] - 1
            while first < last:
                middle = (first + last) // 2
                if heads[middle] > high:
                    first = middle + 1
                else:
                    last = middle
            slots[arc] = 2 * first + down
    return slots
