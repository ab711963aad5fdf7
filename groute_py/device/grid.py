"""Least-cost distances on a raster, or on a band of its rows, as devices find them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

CROSSINGS = 4.0
"""Width of a bucket, in crossings of a tile of mean friction."""

ROUNDS_AT_ONCE = 32
"""Rounds before the host looks whether they were the last, and ranks exchange rows."""


class GridProblem(NamedTuple):
    """Rows of a raster, the sources in them, and the measures of their steps.

    Cells are numbered row by row. The first and the last row may be other ranks': then their
    distances are lowered, and their directions set, from outside.
    """

    friction: Any  # (rows, columns), of any real type, on the host or a GPU
    own: slice  # of the rows
    sources: NDArray[np.int64]  # (k,): cells of own rows, each once
    kind: np.dtype[Any]  # of distances, float32 or float64
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
    """A `GridProblem` on a device, made of it and of the rank's number on its host, or None.

    Arrays have the problem's shape and lie on the device.
    """

    distances: Any  # infinite where no path leads
    codes: Any  # uint8, of steps back; there once they are looked for

    def blocked(self) -> NDArray[np.int64]:
        """Return the sources, by their places, that lie on barriers."""

    def lower(self, cells: NDArray[np.int64], values: NDArray[Any]) -> None:
        """Lower the distances of some cells, each named once, from which `relax` goes on."""

    def relax(self) -> bool:
        """Relax tiles for some rounds; return True if some are still pending."""

    def forget_beyond(self) -> None:
        """Make what is beyond the cutoff unreached."""

    def find_directions(self, turn: int) -> tuple[int, int]:
        """Find steps back in own rows, those that fall in turn 0.

        Returns how many distances are not the least over their neighbours, and how many cells are
        left. Later turns find level steps, whose costs are lost in rounding.
        """

    def allocation(self, cells: NDArray[np.int64], numbers: NDArray[np.int32]) -> Any:
        """Return the number, int32, of the one of these cells to which the directions lead.

        They are the sources, and the rows of others; −1 stands for none.
        """

    def put_row(self, values: Any, row: int, new: NDArray[Any]) -> None:
        """Write a row of an array of the device."""

    def on_host(self, values: Any) -> NDArray[Any]:
        """Return an array of the device in host memory."""
