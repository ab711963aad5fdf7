"""Rows put at their positions in an array."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.arrays import on_device
from groute_py.results.distances import public_distances, put_public
from groute_py.system.threads import in_slices

TILE = 1 << 17  # distances that a thread puts in one go, so that they stay in its cache
WIDENED_ON_GPU = 1 << 24  # distances that a GPU widens in one go, about

Put = Callable[[NDArray[Any], NDArray[Any]], object]
"""Writes to the first array the second one, of the same shape, perhaps in another type."""


def bring_rows(put: Put, content: NDArray[Any], numbers: NDArray[np.int64], rows: Any) -> None:
    """Put rows at positions of an array.

    Rows on a GPU are widened there; their positions follow one another.
    """
    if not on_device(rows):
        put_rows_by_threads(put, content, numbers, rows)
        return
    from groute_py.device.cuda.runtime.transfer import put_on_host

    step = max(WIDENED_ON_GPU // rows.shape[1], 1)
    for first in range(0, len(rows), step):
        some, part = numbers[first : first + step], rows[first : first + step]
        wide = public_distances(part) if put is put_public else part
        put_on_host(content[some[0] : some[-1] + 1].reshape(-1), wide.ravel(), np.copyto)


def put_rows_by_threads(
    put: Put, content: NDArray[Any], positions: NDArray[np.int64], rows: NDArray[Any]
) -> None:
    """Put rows at positions of an array, by several threads; each takes what its cache holds."""
    count, width = rows.shape
    height = max(TILE // max(width, 1), 1)
    firsts = product(range(0, count, height), range(0, width, TILE))
    tiles = [(slice(a, a + height), slice(b, b + TILE)) for a, b in firsts]

    def put_tile(number: slice) -> None:
        some, columns = tiles[number.start]
        put_rows(put, content[:, columns], positions[some], rows[some, columns])

    in_slices(len(tiles), 1, put_tile)


def put_rows(
    put: Put, content: NDArray[Any], positions: NDArray[np.int64], rows: NDArray[Any]
) -> None:
    """Put rows at positions of an array."""
    if stride := stride_of(positions):
        put(content[positions[0] : positions[-1] + 1 : stride], rows)
        return
    for row, position in zip(rows, positions.tolist(), strict=True):
        put(content[position], row)


def stride_of(positions: NDArray[np.int64]) -> int:
    """Return how far positions are apart if all are equally far, and rising; else 0.

    >>> stride_of(np.array([3, 5, 7])), stride_of(np.array([3, 5, 6])), stride_of(np.array([9]))
    (2, 0, 1)
    """
    if len(positions) == 1:
        return 1
    apart = np.diff(positions)
    return int(apart[0]) if apart[0] > 0 and (apart == apart[0]).all() else 0
