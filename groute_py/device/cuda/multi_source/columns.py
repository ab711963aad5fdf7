"""The columns of some targets, gathered from rows in a GPU's memory."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray


class TargetColumns:
    """Targets on the GPU.

    Args:
        targets: vertices, shape (t,).
    """

    def __init__(self, targets: NDArray[np.int64]) -> None:
        self._targets = cp.asarray(targets)

    def of(self, rows: Any) -> Any:
        """A copy of the targets' columns, shape (r, t), in the current stream.

        Args:
            rows: CuPy array, shape (r, n).
        """
        return rows.take(self._targets, axis=1)
