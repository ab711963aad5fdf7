"""From anything that holds an array to one that NumPy's functions work on."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError


def on_device(values: Any) -> bool:
    """Find out whether an array lies on a GPU."""
    return hasattr(values, "__cuda_array_interface__")


def array_of(values: Any) -> Any:
    """The values as an array, without a copy where they are one already.

    Takes arrays, sequences, and what has ``__array__``, ``__array_interface__``, a buffer or
    ``__dlpack__``. CuPy's arrays stay on the GPU: NumPy's functions work on them there.
    """
    if on_device(values):
        if type(values).__module__.split(".")[0] == "cupy":
            return values
        raise GraphError(
            f"a {type(values).__name__} on a GPU must come as a CuPy array: cupy.asarray(it)"
        )
    spoken = hasattr(values, "__array__") or hasattr(values, "__array_interface__")
    if hasattr(values, "__dlpack__") and not spoken:
        try:
            return np.from_dlpack(values)
        except (RuntimeError, BufferError) as problem:
            raise GraphError(
                f"a {type(values).__name__} cannot be read where it lies ({problem}); copy it to "
                "the host first"
            ) from problem
    if np.ma.is_masked(values):
        raise GraphError("some values are masked; fill them, or leave their arcs out")
    try:
        array = np.asarray(values)
    except ValueError as problem:  # rows of unequal length
        raise GraphError(f"not an array of numbers: {problem}") from problem
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return _unrounded(values, array)


def _unrounded(values: Any, array: NDArray[Any]) -> NDArray[Any]:
    """NumPy makes floats of integers of which some are int64 and some fit in uint64 only."""
    if not isinstance(values, Sequence) or array.ndim != 1 or array.dtype.kind != "f":
        return array
    if len(values) == 0 or not all(isinstance(value, Integral) for value in values):
        return array
    integers = [int(value) for value in values]
    if max(integers) > np.iinfo(np.int64).max:
        raise GraphError(f"{max(integers)} does not fit in 64-bit signed integers")
    return np.array(integers, np.int64)


def as_int64(values: NDArray[Any], what: str) -> NDArray[np.int64]:
    """Integers of any shape as int64, where they are; without a copy if they are it already."""
    if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
        raise GraphError(f"{what} is {values.max()}, which does not fit in 64-bit signed integers")
    return values.astype(np.int64, copy=False)


def host_array(values: Any) -> NDArray[Any]:
    """Return `array_of`, copied to host memory if need be."""
    array: Any = array_of(values)
    host: NDArray[Any] = array.get() if on_device(array) else array
    return host
