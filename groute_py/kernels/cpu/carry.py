"""Sums of a column along shortest paths: of trees, and of paths that are listed.

The ``arcs`` are offsets, tails and weights of incoming ones, each row in the order of its tails;
the ``column`` is in their order. Of parallel arcs a path takes the lightest, of these the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import reach_of


@kernel
def lightest_arc(arcs: Any, tail: Any, head: Any) -> Any:
    """Return the number of the lightest arc from a tail, one of which leads to the head."""
    offsets, tails, weights = arcs
    first, stop = offsets[head], offsets[head + 1]
    first += np.searchsorted(tails[first:stop], tail)
    lightest = first
    for arc in range(first + 1, stop):
        if tails[arc] != tail:
            break
        if weights[arc] < weights[lightest]:
            lightest = arc
    return lightest


@kernel
def sum_along_tree(
    arcs: Any, column: Any, before: Any, each: Any, ends: Any, nothing: Any, sums: Any, stack: Any
) -> Any:
    """Fill the ``sums`` (n · each,), all ``nothing``, of some ends and all that their paths pass.

    Vertex v is in ``each`` trees, as v · each and the numbers behind it. One that has none
    ``before`` it is a root, and has 0. ``stack`` is int64, (n · each,). Return the first whose sum
    does not fit, or whose path does not end; −1 for none.
    """
    for end in ends:
        vertex, depth = np.int64(end), 0
        while sums[vertex] == nothing and before[vertex] >= 0:
            if depth == len(stack):
                return vertex
            stack[depth] = vertex
            depth += 1
            vertex = np.int64(before[vertex])
        if sums[vertex] == nothing:
            sums[vertex] = 0
        while depth > 0:
            depth -= 1
            head = stack[depth]
            arc = lightest_arc(arcs, vertex // each, head // each)
            sums[head] = reach_of(sums[vertex], column[arc], nothing)
            if sums[head] == nothing:
                return head
            vertex = head
    return -1


@kernel
def sum_along_paths(
    arcs: Any, column: Any, vertices: Any, stops: Any, nothing: Any, sums: Any
) -> Any:
    """Fill the ``sums`` (k,), all 0, of paths whose vertices stand one path after another.

    ``stops`` are where each of them ends; that of none stays ``nothing``. Return the number of the
    first whose sum does not fit, −1 for none.
    """
    start = 0
    for path in range(len(stops)):
        if start == stops[path]:
            sums[path] = nothing
        for place in range(start + 1, stops[path]):
            arc = lightest_arc(arcs, vertices[place - 1], vertices[place])
            sums[path] = reach_of(sums[path], column[arc], nothing)
            if sums[path] == nothing:
                return path
        start = stops[path]
    return -1
