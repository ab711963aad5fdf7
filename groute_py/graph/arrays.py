"""Arrays as callers have them, and checks of those of a graph, which name the first wrong row."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, quoted
from groute_py.system.threads import in_slices

GPU_MEMORY = (2, 13)
"""DLPack's numbers for memory of a GPU, and for what CUDA moves there."""


def on_device(values: Any) -> bool:
    """Find out whether an array of NumPy or CuPy lies on a GPU."""
    return hasattr(values, "__cuda_array_interface__")


def array_of(values: Any) -> Any:
    """The values as an array, without a copy where they are one already.

    Takes arrays, sequences, and what has ``__array__``, ``__array_interface__``, a buffer or
    ``__dlpack__``. Arrays on a GPU stay there, as CuPy's: NumPy's functions work on them there.
    """
    if type(values).__module__.split(".")[0] == "cupy" and on_device(values):
        return values
    spoken = hasattr(values, "__array__") or hasattr(values, "__array_interface__")
    try:
        if hasattr(type(values), "__dlpack_device__"):  # of PyTorch the rest may raise
            if values.__dlpack_device__()[0] in GPU_MEMORY:
                return _as_cupy(values, "from_dlpack")
        elif on_device(values):
            return _as_cupy(values, "asarray")
        if hasattr(values, "__dlpack__") and not spoken:
            return np.from_dlpack(values)
        return _on_host(values)
    except (RuntimeError, BufferError, TypeError, ImportError) as problem:  # of its library
        name = type(values).__name__
        raise GraphError(f"a {name} cannot be read where it lies ({problem}); copy it") from problem


def _as_cupy(values: Any, make: str) -> Any:
    """An array on a GPU as CuPy's, of the same memory, ready in the order of CuPy's stream."""
    import cupy

    return getattr(cupy, make)(values)


def _on_host(values: Any) -> NDArray[Any]:
    if "numpy.ma" in sys.modules and np.ma.is_masked(values):  # loading it takes 10 ms
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


T = TypeVar("T")

WEIGHT_TYPES = tuple(np.dtype(t) for t in ("int32", "uint32", "int64", "float32", "float64"))
"""The weight types a graph may have."""

AT_ONCE = 1 << 20
"""Rows or arcs that a thread checks in one go."""


def protected(array: NDArray[Any], values: Any) -> NDArray[Any]:
    """A view of the array that was made of ``values``, or a copy if the caller can write to it."""
    is_new = array is not values and array.base is None and isinstance(values, list | np.ndarray)
    can_change = not on_device(array) and not is_new and _can_be_written(array)
    return array.copy() if can_change else array.view()


def _can_be_written(array: Any) -> bool:
    """Find out whether the array, or one that it is a view of, is not read-only."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False


def _contiguous(values: Any) -> NDArray[Any]:
    array: NDArray[Any] = array_of(values)
    return array if array.flags.c_contiguous else array.copy()


def as_integers(values: Any, what: str) -> NDArray[Any]:
    """Integers of one dimension, contiguous; `GraphError` for others."""
    array = _contiguous(values)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise GraphError(
            f"{what} must be a one-dimensional array of integers, "
            f"not {array.ndim}-dimensional {array.dtype}"
        )
    return array


def as_weights(values: Any) -> NDArray[Any]:
    """Numbers of one dimension, contiguous, in one of `WEIGHT_TYPES`; `GraphError` for others."""
    array = _contiguous(values)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise GraphError(
            "weights must be a one-dimensional array of numbers of at most 64 bits, "
            f"not {array.dtype} of shape {array.shape}"
        )
    if array.dtype in WEIGHT_TYPES:
        return array
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # what becomes infinite is refused as such
            return array.astype(np.float32 if array.dtype.itemsize < 4 else np.float64)
    if array.dtype == np.uint64:
        return as_int64(array, "one of the weights")
    return array.astype(np.int32)


def check_types(offsets: NDArray[Any], heads: NDArray[Any], weights: NDArray[Any]) -> None:
    """Raise `GraphError` for types and lengths that do not belong together."""
    if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
        raise GraphError("offsets must be int64 with one entry more than there are vertices")
    if heads.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        raise GraphError(f"heads must be int32 or int64, not {heads.dtype}")
    if weights.dtype not in WEIGHT_TYPES:
        names = ", ".join(t.name for t in WEIGHT_TYPES)
        raise GraphError(f"weights must be one of {names}, not {weights.dtype}")
    if heads.shape != weights.shape or heads.ndim != 1:
        raise GraphError(f"heads {heads.shape} and weights {weights.shape} must have one length")
    if offsets[0] != 0 or offsets[-1] != len(heads):
        raise GraphError(
            f"offsets must go from 0 to the number of arcs, {len(heads)}, "
            f"not from {offsets[0]} to {offsets[-1]}"
        )


def check_are_arrays(values: Mapping[str, Any]) -> None:
    """Raise `GraphError` for a list, or what else is no array, with its name."""
    for name, value in values.items():
        if not hasattr(value, "dtype"):
            raise GraphError(f"{quoted(name)} must be an array, not {type(value).__name__}")


def check_ids(ids: NDArray[Any], count: int, what: str = "ids") -> None:
    """Raise `GraphError` for ids that are not those of `count` vertices, or arcs."""
    if ids.shape != (count,) or not (ids.dtype == np.int64 or ids.dtype.kind == "U"):
        raise GraphError(
            f"{what} must be {count} int64 or strings, not {ids.dtype} of shape {ids.shape}"
        )


def check_coordinates(coordinates: NDArray[Any], count: int) -> None:
    """Raise `GraphError` for coordinates that are not those of `count` vertices."""
    if coordinates.shape != (count, 2) or coordinates.dtype != np.float64:
        raise GraphError(
            f"coordinates must be float64 of shape ({count}, 2), "
            f"not {coordinates.dtype} of shape {coordinates.shape}"
        )
    if not np.isfinite(coordinates).all():
        vertex = int(np.argmin(np.isfinite(coordinates).all(axis=1)))
        raise GraphError(f"vertex {vertex} has coordinates {coordinates[vertex].tolist()}")


def check_offsets(offsets: NDArray[Any]) -> None:
    """Raise `GraphError` where offsets decrease."""

    def first_fall(some: slice) -> int:
        falls = offsets[some.start + 1 : some.stop + 1] < offsets[some]
        return some.start + int(falls.argmax()) if falls.any() else len(offsets)

    row = min(_of_slices(offsets[1:], first_fall), default=len(offsets))
    if row < len(offsets):
        raise GraphError(
            f"offsets decrease at row {row}: {offsets[row]} is followed by {offsets[row + 1]}"
        )


def check_arcs(
    heads: NDArray[Any],
    weights: NDArray[Any],
    vertex_count: int,
    first_arc: int = 0,
    name: str = "weight",
) -> None:
    """Raise `GraphError` for a head or weight that no arc has; ``name`` is that of the weights."""
    unsigned = heads.view(f"u{heads.itemsize}")  # below zero is far beyond
    if any(_of_slices(heads, lambda some: unsigned[some].max() >= vertex_count)):
        arc = int(np.argmax((heads < 0) | (heads >= vertex_count)))
        raise GraphError(
            f"arc {arc + first_arc} leads to vertex {heads[arc]}, "
            f"but there are {vertex_count} vertices"
        )
    if weights.dtype.kind != "f":
        return
    if not all(_of_slices(weights, lambda some: np.isfinite(weights[some]).all())):
        arc = int(np.argmin(np.isfinite(weights)))
        weight = weights[arc]
        raise GraphError(f"arc {arc + first_arc} has {name} {weight}; weights must be finite")


def _of_slices(array: NDArray[Any], work: Callable[[slice], T]) -> list[T]:
    """Apply work to slices of an array by several threads; on a GPU to all at once."""
    return in_slices(len(array), max(len(array), 1) if on_device(array) else AT_ONCE, work)
