"""The skeleton of a graph: for each vertex its neighbours, with the weights in both directions.

A *neighbour* is joined by an arc in either direction. Rows of the skeleton ascend by neighbour.
Each entry has the weight of the arc to the neighbour (``out``) and of the arc from it (``into``),
and the unreached value where there is none. Self-loops are dropped. Of parallel arcs the lightest
counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from groute_py.kernels.cpu.kernel import kernel


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
