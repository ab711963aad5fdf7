"""The tails of arcs, which the offsets of their rows say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def all_tails(offsets: NDArray[Any], dtype: DTypeLike = np.int64) -> NDArray[Any]:
    """The tail of each arc, shape (m,).

    Args:
        offsets: shape (n + 1,), where the rows of arcs begin and end.
        dtype: of the tails.

    >>> all_tails(np.array([0, 2, 3, 3])).tolist()
    [0, 0, 1]
    """
    return np.repeat(np.arange(len(offsets) - 1, dtype=dtype), np.diff(offsets))
