"""Floyd–Warshall on matrices whose weights may be negative: between Johnson's potentials.

With negative weights in a float matrix, cycles of weight 0 come out a little below zero by
rounding, and each step may double what is missing. So the matrix is closed with weights that are
not negative, whose diagonal stays 0 in every step, and lifted back afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.many.floyd import close, close_with_paths


def close_between(
    matrix: NDArray[np.float64], height: NDArray[Any] | None, nobody: int | None = None
) -> NDArray[np.int32] | None:
    """Turn a matrix of arcs into one of distances, in place.

    Args:
        matrix: as for `close`, but weights may be negative; the diagonal counts as 0.
        height: shape (n,), of `groute_py.many.johnson.potentials`; None without negative weights.
        nobody: as for `close_with_paths`; None leaves predecessors out.

    Returns:
        int32, shape (n, n), the predecessors, or None.

    >>> path = np.array([[0, 2, 9], [np.inf, 0, -1], [np.inf, np.inf, 0]])
    >>> close_between(path, np.array([0, 0, -1]))
    >>> path[0].tolist()
    [0.0, 2.0, 1.0]
    """
    if height is not None:
        matrix += height[:, np.newaxis]
        matrix -= height
        np.maximum(matrix, 0, out=matrix)  # what is below is so by rounding
    np.fill_diagonal(matrix, 0)
    parents = None
    if nobody is None:
        close(matrix)
    else:
        parents = close_with_paths(matrix, nobody)
    if height is not None:
        matrix += height
        matrix -= height[:, np.newaxis]
    return parents
