"""The tails of arcs, which the offsets of their rows say, and arcs turned round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groute_py.kernels.cpu.build import csr_from_arcs


def all_tails(offsets: NDArray[Any], dtype: DTypeLike = np.int64) -> NDArray[Any]:
    """The tail of each arc, shape (m,)."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=dtype), np.diff(offsets))


def transposed(
    offsets: NDArray[np.int64], heads: NDArray[Any], weights: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """The transposed arcs, each row in the order of its heads."""
    return csr_from_arcs(len(offsets) - 1, heads, all_tails(offsets, heads.dtype), weights)
