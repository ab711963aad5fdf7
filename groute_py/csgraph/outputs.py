"""Conversion of answers and errors to SciPy's: float64 with infinity, int32 with −9999."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph as scipy_csgraph

from groute_py import errors
from groute_py.device.base import unreached

NOBODY = -9999
"""SciPy's value for no predecessor."""


def distances_out(distances: NDArray[Any]) -> NDArray[np.float64]:
    """float64, infinite where no path leads."""
    found: NDArray[np.float64] = distances.astype(np.float64, copy=False)
    if distances.dtype.kind != "f":
        found[distances == unreached(distances.dtype)] = np.inf
    return found


def vertices_out(vertices: NDArray[np.int64]) -> NDArray[np.int32]:
    """int32, −9999 where ours are negative."""
    return np.where(vertices < 0, NOBODY, vertices).astype(np.int32)


class NegativeCycleError(errors.NegativeCycleError, scipy_csgraph.NegativeCycleError):  # type: ignore[misc]
    """`groute_py.NegativeCycleError` that is also `scipy.sparse.csgraph.NegativeCycleError`."""


@contextmanager
def scipy_errors() -> Iterator[None]:
    """Raise what SciPy's functions raise."""
    try:
        yield
    except errors.NegativeCycleError as error:
        raise NegativeCycleError(error.cycle, error.weight) from None
