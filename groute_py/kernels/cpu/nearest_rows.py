"""The K smallest of each column, of rows that come in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel


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
                known = distances[vertex, place - 1]
                if known < reach or (known == reach and owners[vertex, place - 1] < number):
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
