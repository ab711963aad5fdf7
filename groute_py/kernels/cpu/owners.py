"""Trees along tight arcs, from exact distances: of several roots, and of one row.

An arc u→v is *tight* when distance[u] + weight = distance[v]. Several roots take turns, each
claiming what tight arcs reach from it and nobody has. A vertex that is claimed already was reached
by an earlier root, and so was all that tight arcs reach from there. So each vertex and arc is
looked at once, cycles of weight 0 included, and the tails are trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.algebra import does_not_fit, extend
from groute_py.kernels.cpu.kernel import kernel

OPEN = -2
"""Reached, and its predecessor not found yet."""


@kernel
def assign_owners(
    arcs: Any, distances: Any, nothing: Any, roots: Any, owners: Any, before: Any
) -> None:
    """Fill ``owners`` (the root that claims) and ``before`` (the tail), int64, (n,), all −1 before.

    The ``distances`` are exact ones from the nearest root; weights are added to them with no
    rounding but that of solvers. ``roots`` (int64, (k,)) stand in the order in which they may
    claim.
    """
    offsets, heads, weights = arcs
    queue = np.empty(len(owners), np.int64)
    for number in range(len(roots)):
        root = roots[number]
        if owners[root] >= 0 or distances[root] != 0:
            continue
        owners[root] = queue[0] = root
        first, last = 0, 1
        while first < last:
            tail = queue[first]
            first += 1
            base = distances[tail]
            for arc in range(offsets[tail], offsets[tail + 1]):
                head, weight = np.int64(heads[arc]), weights[arc]
                if owners[head] >= 0 or distances[head] == nothing:
                    continue
                if does_not_fit(base, weight, nothing) or extend(base, weight) != distances[head]:
                    continue
                owners[head], before[head] = root, tail
                queue[last] = head
                last += 1


@kernel
def keep_smallest(
    rows: Any,
    parents: Any,
    numbers: Any,
    nothing: Any,
    vertices: Any,
    distances: Any,
    owners: Any,
    before: Any,
) -> None:
    """Take some rows into the K smallest of each vertex; of equal ones the lowest row counts first.

    The vertices are those from the first to the second of a pair.

    ``rows`` (r, n) have ``numbers`` (int64, (r,)) and ``parents`` (int32, (r, n)). Each line of
    ``distances`` (n, K) ascends; ``owners`` and ``before`` (int32, (n, K)) are numbers of rows and
    parents, −1 without any. In rows ``nothing`` stands for no path.
    """
    last = distances.shape[1] - 1
    begin, end = vertices
    for row in range(rows.shape[0]):
        number = np.int32(numbers[row])
        for vertex in range(begin, end):
            reach = rows[row, vertex]
            if reach == nothing:
                continue
            place = last + 1
            while place > 0:
                current = distances[vertex, place - 1]
                if current < reach or (current == reach and owners[vertex, place - 1] < number):
                    break
                place -= 1
            if place > last:
                continue
            for moved in range(last, place, -1):
                distances[vertex, moved] = distances[vertex, moved - 1]
                owners[vertex, moved] = owners[vertex, moved - 1]
                before[vertex, moved] = before[vertex, moved - 1]
            distances[vertex, place] = reach
            owners[vertex, place] = number
            before[vertex, place] = parents[row, vertex]


@kernel
def find_parents(arcs: Any, source: Any, distances: Any, nothing: Any, parents: Any) -> None:
    """Fill the ``parents`` (int32, (n,)) of a row as ``kernels/multi_source/parents.cu`` does.

    The ``arcs`` are offsets, tails and weights of incoming ones.
    """
    offsets, tails, weights = arcs
    left = False
    for head in range(len(distances)):
        distance = distances[head]
        parents[head] = -1
        if head == source or distance == nothing:
            continue
        parents[head] = OPEN
        for arc in range(offsets[head], offsets[head + 1]):
            tail = tails[arc]
            before = distances[tail]
            if before > distance or extend(before, weights[arc]) != distance:
                continue
            if tail == source:
                parents[head] = tail
                break
            if before < distance:
                parents[head] = tail
        left = left or parents[head] == OPEN
    while left:
        left = False
        for head in range(len(distances)):
            if parents[head] != OPEN:
                continue
            distance = distances[head]
            for arc in range(offsets[head], offsets[head + 1]):
                tail = tails[arc]
                level = distances[tail] == distance and extend(distance, weights[arc]) == distance
                if level and parents[tail] >= 0:
                    parents[head] = tail
                    left = True
                    break
