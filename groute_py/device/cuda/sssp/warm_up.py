"""A share that is loaded once, so that all kernels of a load are compiled before the real one."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.partition.share import Share

MANY_TO_CUPY = 1100
"""Values for whose sums and orders CuPy has other kernels than for few; a block takes 1,024."""

WARMED_UP: set[tuple[Any, ...]] = set()
"""Kernels loaded once in this process: methods and their variants, with a distance and an
offset type, how ranks exchange, and whether they pull."""


def smallest(distance_type: np.dtype[Any]) -> Share:
    """The smallest share with all cases of loading: unsorted, and larger than a block of CuPy."""
    count = MANY_TO_CUPY
    heads = np.repeat(np.roll(np.arange(count, dtype=np.int32), -1), 2)
    weights, halo = np.tile(np.array([2, 1], distance_type), count), np.zeros(0, np.int64)
    starts = np.zeros(2, np.int64)
    offsets = np.arange(0, 2 * count + 1, 2)
    return Share(0, count, offsets, heads, weights, halo, starts, halo.astype(np.int32))
