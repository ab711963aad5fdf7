"""All vertices in the first part, for methods that run on one rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groute_py.partition.base import Partition


def all_in_first(offsets: NDArray[np.int64], parts: int) -> Partition:
    """Leave every part but the first empty."""
    bounds = np.full(parts + 1, len(offsets) - 1, dtype=np.int64)
    bounds[0] = 0
    return Partition(bounds)
