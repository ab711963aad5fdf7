"""The first of several roots whose tight arcs lead to each vertex, and the arc's tail.

An arc u→v is *tight* when distance[u] + weight = distance[v]. The roots take turns, each claiming
what tight arcs reach from it and nobody has. A vertex that is claimed already was reached by an
earlier root, and so was all that tight arcs reach from there. So each vertex and arc is looked at
once, cycles of weight 0 included, and the tails are trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.near_far import does_not_fit


@kernel
def assign_owners(
    offsets: Any,
    heads: Any,
    weights: Any,
    distances: Any,
    nothing: Any,
    roots: Any,
    owners: Any,
    before: Any,
    queue: Any,
) -> None:
    """Fill ``owners`` (the root that claims) and ``before`` (the tail), int64, (n,), all −1 before.

    The ``distances`` are exact ones from the nearest root; weights are added to them with no
    rounding but that of solvers. ``roots`` (int64, (k,)) stand in the order in which they may
    claim; ``queue`` (int64, (n,)) is work space.
    """
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
                if does_not_fit(base, weight, nothing) or base + weight != distances[head]:
                    continue
                owners[head], before[head] = root, tail
                queue[last] = head
                last += 1


@kernel
def keep_smallest(
    rows: Any, parents: Any, numbers: Any, nothing: Any, distances: Any, owners: Any, before: Any
) -> None:
    """Take some rows into the K smallest of each vertex; of equal ones the lowest row counts first.

    ``rows`` (r, n) have ``numbers`` (int64, (r,)) and ``parents`` (int32, (r, n)). Each line of
    ``distances`` (n, K) ascends; ``owners`` and ``before`` (int32, (n, K)) are numbers of rows and
    parents. Without any they are ``nothing`` and −1.
    """
    last = distances.shape[1] - 1
    for row in range(rows.shape[0]):
        number = np.int32(numbers[row])
        for vertex in range(rows.shape[1]):
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
