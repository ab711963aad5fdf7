"""Arrays in page-locked host memory: those of `cupyx`, without its import, as slow as CuPy's."""

from __future__ import annotations

import math
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime
from numpy.typing import DTypeLike, NDArray

from groute_py.device.cuda.runtime.short_memory import NO_MEMORY


def empty_pinned(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array that is not initialized."""
    shape, kind = (shape,) if isinstance(shape, int) else shape, np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    try:
        memory = cp.cuda.alloc_pinned_memory(size)
    except runtime.CUDARuntimeError as problem:
        if problem.status != NO_MEMORY:
            raise
        raise MemoryError(f"{size:,} bytes of page-locked host memory") from problem
    return np.ndarray(shape, kind, memory)


def zeros_pinned(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array of zeros."""
    array = empty_pinned(shape, dtype)
    array.fill(0)
    return array
