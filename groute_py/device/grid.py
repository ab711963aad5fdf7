"""A raster whose least-cost distances are wanted, as devices take it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, VerificationError

CROSSINGS = 4.0
"""Width of a bucket, in crossings of a tile of mean friction."""


class GridProblem(NamedTuple):
    """A raster, its sources and the measures of its steps."""

    friction: Any  # (rows, columns), of any real type, on the host or a GPU
    kind: np.dtype[Any]  # of distances, float32 or float64
    places: NDArray[np.int64]  # (p, 2): of sources, by row and column, as given
    sources: NDArray[np.int64]  # (k,): their cells, row by row, each once
    numbers: NDArray[np.int64]  # (k,): their first places
    halves: NDArray[Any]  # (3,): half the step by column, by row and diagonally
    cutoff: Any
    mean: float  # friction, of a sample

    @property
    def least_friction(self) -> Any:
        """The least friction that is no barrier: all costs are normal numbers, on every device."""
        tiny = np.finfo(self.kind).tiny
        return max(tiny, self.kind.type(tiny / min(float(self.halves[:2].min()), 1.0)))

    def bucket_width(self, side: int) -> Any:
        """Return the width of a bucket where tiles have a side of so many cells."""
        step = float(self.halves[0]) + float(self.halves[1])
        with np.errstate(over="ignore"):  # all tiles are in a bucket of infinite width
            return self.kind.type(CROSSINGS * side * self.mean * step)


class Grid(Protocol):
    """A raster on a device; its arrays have the raster's shape and lie on the device.

    It is made of a `GridProblem`, with all distances found.
    """

    def distances(self) -> Any:
        """Return the distances; infinite where no path leads."""

    def directions(self) -> Any:
        """Return the code of the step back, uint8.

        Raises `VerificationError` unless each distance is the least over the cell's neighbours.
        """

    def allocation(self) -> Any:
        """Return the number of a nearest source, int32, −1 without one, after `directions`."""

    def on_host(self, values: Any) -> NDArray[Any]:
        """Return an array of the device in host memory."""


def check_directions(find: Callable[[int], list[int]]) -> None:
    """Find steps back in turns; raise `VerificationError` for distances that cannot be right.

    ``find`` does a turn, and returns how many distances are not the least over their neighbours and
    how many cells are left. Turns after the first find level steps, whose costs are lost in
    rounding, until one finds no more.
    """
    doubts, left = find(0)
    turn, before = 0, -1
    while left != before and (turn or left):
        turn, before = turn + 1, left
        _, left = find(turn)
    if doubts or left:
        raise VerificationError(
            f"{doubts + left} cells have distances that are not the least over their neighbours; "
            "please report this, with the raster"
        )


def check_sources(problem: GridProblem, blocked: NDArray[np.int64]) -> None:
    """Raise `InputError` if there are sources, by their places, that lie on barriers."""
    if blocked.size:
        row, column = divmod(int(problem.sources[blocked[0]]), problem.friction.shape[1])
        raise InputError(
            f"{blocked.size} sources lie on barriers, such as ({row}, {column}), whose friction is "
            "too small or no number; move them, or leave them out"
        )
