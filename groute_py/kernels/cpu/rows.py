"""Rows by ascending weight, where frontier Dijkstra's first match is the lightest; simple rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel

SHORT = 32
"""Rows up to so many entries are sorted by insertion, in place."""


@kernel
def ascend(offsets: Any, weights: Any) -> bool:
    """Return True if the weights of no row fall; stops at the first that does."""
    for row in range(len(offsets) - 1):
        for arc in range(offsets[row] + 1, offsets[row + 1]):
            if weights[arc] < weights[arc - 1]:
                return False
    return True


@kernel
def are_simple(offsets: Any, heads: Any) -> bool:
    """Return True if the heads of each row rise, and none is its tail; stops at the first else."""
    for tail in range(len(offsets) - 1):
        for arc in range(offsets[tail], offsets[tail + 1]):
            if heads[arc] == tail or (arc > offsets[tail] and heads[arc] <= heads[arc - 1]):
                return False
    return True


@kernel
def sort_rows(offsets: Any, heads: Any, weights: Any) -> None:
    """Sort every row by weight, in place; arcs of equal weight stay in their order."""
    for row in range(len(offsets) - 1):
        sort_row(weights, heads, heads, offsets[row], offsets[row + 1])


@kernel
def sort_row(keys: Any, one: Any, other: Any, first: Any, last: Any) -> None:
    """Sort a row by its keys, with the values of two arrays, which may be the same."""
    if last - first > SHORT:
        order = np.argsort(keys[first:last], kind="mergesort")
        ones, others = one[first:last][order], other[first:last][order]
        keys[first:last] = keys[first:last][order]
        one[first:last], other[first:last] = ones, others
        return
    for place in range(first + 1, last):
        key, here, there, at = keys[place], one[place], other[place], place
        while at > first and keys[at - 1] > key:
            keys[at], one[at], other[at] = keys[at - 1], one[at - 1], other[at - 1]
            at -= 1
        keys[at], one[at], other[at] = key, here, there
