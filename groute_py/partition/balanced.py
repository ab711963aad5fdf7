"""Parts with about equally many arcs, because relaxations determine the time of a rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groute_py.partition.base import Partition


def by_arcs(offsets: NDArray[np.int64], parts: int) -> Partition:
    """Cut where the running arc count passes each part's equal share."""
    shares = np.arange(parts + 1, dtype=np.int64) * offsets[-1] // parts
    bounds = np.searchsorted(offsets, shares, side="left").astype(np.int64)
    bounds[0], bounds[-1] = 0, len(offsets) - 1
    return Partition(bounds)
