"""The sum of 1 / distance over a row, rounded as by ``kernels/multi_source/reciprocals.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel

LANES, CHUNK = 256, 8192
"""``RECIPROCAL_BLOCK`` and ``RECIPROCAL_CHUNK`` of the CUDA kernel."""


@kernel
def sum_reciprocals(row: Any, nothing: Any) -> Any:
    """The sum, a float64; unreached vertices and distances of 0 add nothing."""
    total, lanes = 0.0, np.empty(LANES, np.float64)
    for begin in range(0, len(row), CHUNK):
        lanes[:] = 0.0
        for vertex in range(begin, min(begin + CHUNK, len(row))):
            distance = row[vertex]
            if distance != nothing and distance != 0:
                lanes[(vertex - begin) % LANES] += 1.0 / np.float64(distance)
        apart = LANES // 2
        while apart > 0:
            for lane in range(apart):
                lanes[lane] += lanes[lane + apart]
            apart //= 2
        total += lanes[0]
    return total
