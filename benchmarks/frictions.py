"""Rasters of friction by a short text: ``WxH/random``, ``WxH/maze``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BLOCK = 250
"""Rooms of a maze's block, each way."""


def friction_of(width: int, height: int, kind: str) -> NDArray[np.float32]:
    """Return friction, float32 of shape (height, width); the first cell is no barrier.

    ``random``: from 1 to 10, uniform. ``maze``: corridors of friction 1, a cell wide, between
    barriers; with 4 neighbours one way joins any two cells, unless the edge cuts a block.
    """
    drawn = np.random.default_rng(7)
    if kind == "random":
        return drawn.random((height, width), np.float32) * np.float32(9) + np.float32(1)
    return _maze(width, height, drawn).astype(np.float32)


def _maze(width: int, height: int, drawn: np.random.Generator) -> NDArray[np.bool_]:
    """Return the corridors: blocks alike, joined by doors as the rooms of a small maze are."""
    rooms = min(BLOCK, (min(width, height) + 1) // 2)
    down, right = -(-height // (2 * rooms)), -(-width // (2 * rooms))
    block = np.pad(_tree(rooms, rooms, drawn), ((0, 1), (0, 1)))
    whole = np.tile(block, (down, right))
    for row, column in np.argwhere(_tree(down, right, drawn)).tolist():
        at = 2 * int(drawn.integers(rooms))
        if column % 2:
            whole[row * rooms + at, (column + 1) * rooms - 1] = True
        elif row % 2:
            whole[(row + 1) * rooms - 1, column * rooms + at] = True
    return whole[:height, :width]


def _tree(rows: int, columns: int, drawn: np.random.Generator) -> NDArray[np.bool_]:
    """Return rooms, at even places, and the doors of a random spanning tree between them."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    rooms = np.arange(rows * columns).reshape(rows, columns)
    ends = (rooms[:, :-1], rooms[:, 1:]), (rooms[:-1], rooms[1:])
    tails, heads = (np.concatenate([pair[i].ravel() for pair in ends]) for i in range(2))
    weights = drawn.random(len(tails)) + 1
    arcs = minimum_spanning_tree(csr_array((weights, (tails, heads)), shape=2 * (rooms.size,)))
    places = [np.divmod(some, columns) for some in arcs.tocoo().coords]
    corridors = np.zeros((2 * rows - 1, 2 * columns - 1), bool)
    corridors[::2, ::2] = True
    corridors[places[0][0] + places[1][0], places[0][1] + places[1][1]] = True
    return corridors
