"""Numbers of a row of distances, as of ``kernels/multi_source/{summary,reciprocals}.cu``."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.kernels.cpu.fixed_point import fixed, plus
from groute_py.kernels.cpu.kernel import kernel

CHUNK, SCALE = 8192, 2.0**32
"""``RECIPROCAL_CHUNK`` and ``RECIPROCAL_SCALE`` of the CUDA kernel."""


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
    """(low, high): the sum of `SCALE` / distance over a row of integers, in fixed point.

    Unreached vertices and distances of 0 add nothing. All of fewer than 2³² vertices fit.
    """
    low, high = np.uint64(0), np.uint64(0)
    for distance in row:
        if distance != nothing and distance != 0:
            more, much = fixed(SCALE / np.float64(distance))
            low, high = plus(low, high, more, much)
    return low, high
