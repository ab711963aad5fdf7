"""Attributes of points, such as their names, that go along into tables of answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.results.tables import Column, TableColumns

Attributes = Mapping[str, Mapping[str, NDArray[Any]]]
"""By the role of ends, such as ``source``, the columns of their points: a value for each end."""


def attributes_of(**ends: Any) -> Attributes:
    """Return the attributes of ends by their roles; ids and arrays have none."""
    return {role: getattr(end, "attributes", {}) for role, end in ends.items()}


def beside(attributes: Attributes, **rows: NDArray[np.int64]) -> TableColumns:
    """Return columns like ``source_name``, for the number of the end in each line, −1 for none."""
    return {
        f"{role}_{title}": _column(values[places], places >= 0)
        for role, places in rows.items()
        for title, values in attributes.get(role, {}).items()
    }


def _column(values: NDArray[Any], valid: NDArray[np.bool_]) -> Column:
    if values.dtype.kind == "f":
        valid = valid & np.isfinite(values)
    return Column(values, None if valid.all() else valid)


def beside_pairs(attributes: Attributes, sources: NDArray[np.int64], targets: int) -> TableColumns:
    """Return columns for the numbers of some sources, each with all of so many targets."""
    every = np.tile(np.arange(targets), len(sources))
    return beside(attributes, source=np.repeat(sources, targets), target=every)


def numbers_of(vertices: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which of some ends is the first at each vertex, int64; −1 for none of them.

    >>> numbers_of(np.array([7, 5, -1]), np.array([5, 7, 5])).tolist()
    [1, 0, -1]
    """
    order = np.argsort(ends, kind="stable")
    places = np.minimum(np.searchsorted(ends, vertices, sorter=order), len(ends) - 1)
    return np.where(ends[order[places]] == vertices, order[places], -1)
