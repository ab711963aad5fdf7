"""Arrays in page-locked host memory.

They are those of `cupyx`, whose import brings SciPy's sparse matrices along and takes as long as
CuPy's.
"""

from __future__ import annotations

import math
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import DTypeLike, NDArray


def empty_pinned(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array that is not initialized."""
    shape, kind = (shape,) if isinstance(shape, int) else shape, np.dtype(dtype)
    memory = cp.cuda.alloc_pinned_memory(math.prod(shape) * kind.itemsize)
    return np.ndarray(shape, kind, memory)


def zeros_pinned(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array of zeros."""
    found = empty_pinned(shape, dtype)
    found.fill(0)
    return found
