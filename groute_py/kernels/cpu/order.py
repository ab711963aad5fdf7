"""Vertex orders that put near vertices next to each other, and graphs renumbered by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.kernel import kernel

HILBERT_BITS = 24
"""Bits of each coordinate on the Hilbert curve."""


@kernel
def _search(offsets: Any, heads: Any, parents: Any, seen: Any, order: Any, filled: int) -> int:
    """Append to ``order[:filled]`` what its last vertex reaches, breadth first; return the count.

    Fills ``parents`` unless they are empty.
    """
    front, record = filled - 1, len(parents) > 0
    seen[order[front]] = True
    while front < filled:
        tail = order[front]
        front += 1
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = heads[arc]
            if not seen[head]:
                seen[head] = True
                if record:
                    parents[head] = tail
                order[filled] = head
                filled += 1
    return filled


@kernel
def breadth_first(
    offsets: NDArray[np.int64], heads: NDArray[Any], start: int, order: NDArray[np.int64]
) -> int:
    """Write all vertices to ``order``, breadth first; return how many ``start`` reaches."""
    count = len(offsets) - 1
    seen, parents = np.zeros(count, np.bool_), np.empty(0, np.int32)
    filled, reached, root, following = 0, 0, start, 0
    while filled < count:
        order[filled] = root
        filled = _search(offsets, heads, parents, seen, order, filled + 1)
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
    order[0] = start
    filled = _search(offsets, heads, parents, np.zeros(count, np.bool_), order, 1)
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
