"""The columns of some targets, gathered from rows in a GPU's memory."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray


class TargetColumns:
    """Targets on the GPU."""

    def __init__(self, targets: NDArray[np.int64]) -> None:
        self._targets = cp.asarray(targets)

    def of(self, rows: Any) -> Any:
        """Copy the targets' columns, (r, t), of rows (r, n), in the current stream."""
        return rows.take(self._targets, axis=1)
