"""Rows of distances from many sources, as they leave a device."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.device.summary import Summary, Wanted

MOST_LEVELS = 40
"""A search level by level gives up at this distance: each level takes a mask of every vertex."""


class NarrowError(Exception):
    """A distance did not fit in the type that was tried; `RowSolver` raises it, nobody else."""


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some complete rows; the arrays are lent until the next block is asked for."""

    first: int  # which of the sources the first row belongs to; the others follow
    distances: NDArray[Any]  # (r, n), or (r, t) of targets; `unreached` where no path leads
    predecessors: NDArray[np.int32] | None  # int32, of the same shape, −1 for none
    carried: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # sums, of the same shape
    cutoff: float = math.inf  # nothing beyond it is reached

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.distances)


class RowSolver(Protocol):
    """A method on a device (``label``), with the graph in place.

    One whose searches end at a cutoff has it as ``cutoff``.
    """

    label: str

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        """Yield rows, or columns of targets, in order; all before a `NarrowError` are right."""

    def summaries(self, sources: NDArray[np.int64], request: Wanted) -> Iterator[Summary]:
        """Yield summaries of those rows; for errors see also `groute_py.device.summary`."""


def beyond(distance_type: np.dtype[Any]) -> Any:
    """Return the value for no path in a matrix; the sum of two is still a number."""
    if distance_type.kind == "f":
        return distance_type.type(np.inf)
    return distance_type.type(np.iinfo(distance_type).max // 2)


def surely_fits(vertex_count: int, greatest_weight: float, distance_type: np.dtype[Any]) -> bool:
    """Return True if no path without cycles can be too long for a matrix."""
    return vertex_count * greatest_weight < _most(distance_type)


def refuse_narrow(greatest: float, greatest_weight: float, distance_type: np.dtype[Any]) -> None:
    """Raise `NarrowError` unless it is sure that no distance of a matrix was lost.

    A sum that does not fit counts as unreached. The last vertex before it on that path is reached,
    and at most one weight nearer than what fits.
    """
    if greatest + greatest_weight >= _most(distance_type):
        raise NarrowError


def _most(distance_type: np.dtype[Any]) -> float:
    limits = np.finfo(distance_type) if distance_type.kind == "f" else np.iinfo(distance_type)
    return float(limits.max) if distance_type.kind == "f" else float(limits.max // 2)


def leads_beyond(
    offsets: NDArray[Any],
    heads: NDArray[Any],
    reached: NDArray[np.bool_],
    all_reached: NDArray[np.bool_],
) -> bool:
    """Return True if an arc leads from a reached vertex to one not in ``all_reached``.

    If none does, and no weight is negative, a sum that did not fit in the distance type was not a
    shortest distance. The n vertices with rows come first among those that a head may be.
    """
    leaving = np.repeat(reached, np.diff(offsets).astype(np.int64))
    return not bool(all_reached[heads[leaving]].all())
