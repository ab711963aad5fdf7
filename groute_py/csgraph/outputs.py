"""Conversion of answers to SciPy's form: float64 with infinity, int32 with −9999."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached

NOBODY = -9999
"""SciPy's value for no predecessor."""


def distances_out(distances: NDArray[Any]) -> NDArray[np.float64]:
    """float64, infinite where no path leads.

    >>> distances_out(np.array([3, np.iinfo(np.int64).max])).tolist()
    [3.0, inf]
    """
    found: NDArray[np.float64] = distances.astype(np.float64, copy=False)
    if distances.dtype.kind != "f":
        found[distances == unreached(distances.dtype)] = np.inf
    return found


def vertices_out(vertices: NDArray[np.int64]) -> NDArray[np.int32]:
    """int32, −9999 where ours are negative.

    >>> vertices_out(np.array([4, -1])).tolist()
    [4, -9999]
    """
    return np.where(vertices < 0, NOBODY, vertices).astype(np.int32)
