"""Vertex orders that put near vertices next to each other, and graphs renumbered by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.kernel import kernel

HILBERT_BITS = 24
"""Bits of each coordinate on the Hilbert curve."""


@kernel
def breadth_first(
    offsets: NDArray[np.int64], heads: NDArray[Any], start: int, order: NDArray[np.int64]
) -> int:
    """Write all vertices to ``order``, breadth first; return how many ``start`` reaches."""
    count = len(offsets) - 1
    seen = np.zeros(count, np.bool_)
    filled, front, reached, root = 0, 0, 0, start
    following = 0
    while filled < count:
        seen[root] = True
        order[filled] = root
        filled += 1
        while front < filled:
            tail = order[front]
            front += 1
            for arc in range(offsets[tail], offsets[tail + 1]):
                head = heads[arc]
                if not seen[head]:
                    seen[head] = True
                    order[filled] = head
                    filled += 1
        if reached == 0:
            reached = filled
        while following < count and seen[following]:
            following += 1
        root = following
    return reached


@kernel
def breadth_first_tree(
    offsets: NDArray[np.int64], heads: NDArray[Any], start: int, nobody: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return reached vertices breadth first, and parents or ``nobody``, (n,), both int32."""
    count = len(offsets) - 1
    order, parents = np.empty(count, np.int32), np.full(count, nobody, np.int32)
    seen = np.zeros(count, np.bool_)
    seen[start], order[0] = True, start
    filled, front = 1, 0
    while front < filled:
        tail = order[front]
        front += 1
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = heads[arc]
            if not seen[head]:
                seen[head], parents[head] = True, tail
                order[filled] = head
                filled += 1
    return order[:filled], parents


@kernel
def renumbered(
    offsets: NDArray[np.int64],
    heads: NDArray[Any],
    weights: NDArray[Any],
    order: NDArray[np.int64],
    place: NDArray[Any],
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """The arrays of the graph whose vertex ``v`` is ``order[v]``; ``place`` is its inverse."""
    new_offsets = np.zeros(len(offsets), np.int64)
    new_heads, new_weights = np.empty_like(heads), np.empty_like(weights)
    for vertex in range(len(order)):
        old, target = order[vertex], new_offsets[vertex]
        for arc in range(offsets[old], offsets[old + 1]):
            new_heads[target] = place[heads[arc]]
            new_weights[target] = weights[arc]
            target += 1
        new_offsets[vertex + 1] = target
    return new_offsets, new_heads, new_weights


@kernel
def hilbert_places(columns: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of points of the grid 2^HILBERT_BITS wide on its Hilbert curve.

    A square is taken by its four quarters, rotated so that the curve goes on where it left off
    (Hilbert, 1891; the usual loop from the largest square to the smallest).
    """
    places = np.zeros(len(columns), np.int64)
    for point in range(len(columns)):
        x, y, place = columns[point], rows[point], 0
        side = 1 << (HILBERT_BITS - 1)
        while side > 0:
            right, upper = int((x & side) > 0), int((y & side) > 0)
            place += side * side * ((3 * right) ^ upper)
            if upper == 0:
                if right == 1:
                    x, y = (1 << HILBERT_BITS) - 1 - x, (1 << HILBERT_BITS) - 1 - y
                x, y = y, x
            side >>= 1
        places[point] = place
    return places
