"""Rows by ascending weight: frontier Dijkstra's first match is then the lightest arc."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel

SHORT = 32
"""Rows up to this many arcs are sorted by insertion, in place."""


@kernel
def ascend(offsets: Any, weights: Any) -> bool:
    """Return True if the weights of no row fall; stops at the first that does."""
    for row in range(len(offsets) - 1):
        for arc in range(offsets[row] + 1, offsets[row + 1]):
            if weights[arc] < weights[arc - 1]:
                return False
    return True


@kernel
def sort_rows(offsets: Any, heads: Any, weights: Any) -> None:
    """Sort every row by weight, in place; arcs of equal weight stay in their order."""
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        if end - begin > SHORT:
            order = np.argsort(weights[begin:end], kind="mergesort")
            heads[begin:end] = heads[begin:end][order]
            weights[begin:end] = weights[begin:end][order]
            continue
        for arc in range(begin + 1, end):
            head, weight, place = heads[arc], weights[arc], arc
            while place > begin and weights[place - 1] > weight:
                heads[place], weights[place] = heads[place - 1], weights[place - 1]
                place -= 1
            heads[place], weights[place] = head, weight
