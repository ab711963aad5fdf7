"""Checks of a graph's arrays, each with an error that names the first row or arc that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, quoted
from groute_py.graph.array_like import on_device
from groute_py.system.threads import in_slices

T = TypeVar("T")

AT_ONCE = 1 << 20
"""Rows or arcs that a thread checks in one go."""


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
    heads: NDArray[Any], weights: NDArray[Any], vertex_count: int, first_arc: int = 0
) -> None:
    """Raise `GraphError` for a head or weight that no arc has."""
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
        raise GraphError(f"arc {arc + first_arc} has weight {weight}; weights must be finite")


def _of_slices(array: NDArray[Any], work: Callable[[slice], T]) -> list[T]:
    """Apply work to slices of an array by several threads; on a GPU to all at once."""
    return in_slices(len(array), max(len(array), 1) if on_device(array) else AT_ONCE, work)
