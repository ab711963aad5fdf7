"""Rows of distances from many sources, as they leave a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.device.summary import Summary, Wanted


class NarrowError(Exception):
    """A distance did not fit in the type that was tried; `RowSolver` raises it, nobody else."""


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some complete rows; the arrays are lent until the next block is asked for.

    Attributes:
        first: which of the sources the first row belongs to; the others follow.
        distances: shape (r, n), of the run's type, `unreached` where no path leads; shape (r, t)
            if only the columns of t targets were asked for.
        predecessors: int32, of the same shape, −1 where there is none; None if not asked for.
    """

    first: int
    distances: NDArray[Any]
    predecessors: NDArray[np.int32] | None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.distances)


class RowSolver(Protocol):
    """A method on a device, with the graph in place.

    Attributes:
        label: what it runs on.
    """

    label: str

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        """The rows of some sources, in their order, or of these rows the columns of some targets.

        A row's other columns are not kept, and do not leave a GPU.

        Raises:
            NarrowError: a distance does not fit; what came before is right.
        """

    def summaries(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        """Yield summaries of those rows, which stay where they were made.

        Raises:
            NarrowError: as for `blocks`.
            SumError, LiftError: see `groute_py.device.summary`.
        """


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
