"""Numbers of a row of distances, as of ``kernels/multi_source/{summary,reciprocals}.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.kernel import kernel

LANES, CHUNK = 256, 8192
"""``RECIPROCAL_BLOCK`` and ``RECIPROCAL_CHUNK`` of the CUDA kernel."""


@kernel
def summary_of(row: Any, nothing: Any, low_bits: int) -> Any:
    """Summarize a row of integers in one pass.

    Returns the number of reached vertices, the first of the farthest, the greatest distance, and
    the sum in two words: of the distances above their ``low_bits``, and of these.
    """
    mask = (1 << low_bits) - 1
    reached = high = low = farthest = 0
    greatest = -nothing
    for vertex in range(len(row)):
        distance = row[vertex]
        if distance == nothing:
            continue
        reached += 1
        high += distance >> low_bits
        low += distance & mask
        if distance > greatest:
            greatest, farthest = distance, vertex
    return reached, farthest, greatest, high, low


@kernel
def sum_reciprocals(row: Any, nothing: Any) -> Any:
    """The sum of 1 / distance, a float64, rounded as on a GPU.

    Unreached vertices and distances of 0 add nothing.
    """
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
