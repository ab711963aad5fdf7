"""Least-cost distances on a raster, on the cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.cpu.team import Threads
from groute_py.device.grid import ROUNDS_AT_ONCE, GridProblem
from groute_py.graph.arrays import host_array
from groute_py.kernels.cpu import grid as kernels
from groute_py.system.threads import in_slices, thread_count

ROWS_AT_ONCE = 64


class RasterGrid:
    """A `groute_py.device.grid.Grid` on the cores."""

    def __init__(self, problem: GridProblem, local_rank: int | None) -> None:
        kind, self._problem = problem.kind, problem
        friction, nothing = host_array(problem.friction).astype(kind, "C"), kind.type(np.inf)
        friction[~(friction >= problem.least_friction)] = nothing
        self.distances = np.full(friction.shape, nothing)
        self._raster = kernels.Cells(
            friction, self.distances, problem.halves, problem.cutoff, nothing
        )
        height, width = (-(-length // kernels.SIDE) for length in friction.shape)
        self._front = kernels.Front(
            np.full((2, height * width), nothing),
            np.empty((2, height * width), np.int32),
            np.zeros(height * width, np.int64),
            np.zeros(height * width, np.bool_),
            np.zeros(2 * kernels.TAKEN, np.int64),
            width,
        )
        self._turn, self._width = 1, problem.bucket_width(kernels.SIDE)
        self._team = Threads(min(thread_count(), height * width))
        self._spaces = [_workspace(kind) for _ in range(self._team.size)]

    def blocked(self) -> NDArray[np.int64]:
        friction = self._raster.friction.ravel()[self._problem.sources]
        return np.flatnonzero(friction == self._raster.nothing)

    def lower(self, cells: NDArray[np.int64], values: NDArray[Any]) -> None:
        kernels.lower(self._raster, self._front, cells, values, self._turn)

    def relax(self) -> bool:
        for _ in range(ROUNDS_AT_ONCE):
            if self._front.words[kernels.COUNT]:
                self._relax_once()
        return bool(self._front.words[kernels.COUNT])

    def _relax_once(self) -> None:
        front, turn, count = self._front, self._turn, int(self._front.words[kernels.COUNT])
        front.words[:] = 0
        least = front.keys[turn % 2, front.lists[turn % 2, :count]].min()
        threshold = max(least + self._width, np.nextafter(least, self._raster.nothing))

        def relax(number: int) -> None:
            words = turn, count, threshold, self._spaces[number]
            kernels.relax_tiles(self._raster, front, *words)

        if count > 1:
            self._team.run(relax)
        else:
            relax(0)
        self._turn += 1

    def forget_beyond(self) -> None:
        self.distances[self.distances > self._problem.cutoff] = self._raster.nothing

    def find_directions(self, turn: int) -> tuple[int, int]:
        if turn == 0:
            self.codes = np.full(self.distances.shape, kernels.NO_DIRECTION, np.uint8)
            self.codes.ravel()[self._problem.sources] = kernels.SOURCE
        first, last, _ = self._problem.own.indices(len(self.codes))

        def find(rows: slice) -> Any:
            words = first + rows.start, first + rows.stop, self.codes, turn
            return kernels.find_directions(self._raster, *words)

        counts = in_slices(last - first, ROWS_AT_ONCE, find)
        doubts, left = np.sum([(0, 0), *counts], axis=0).tolist()
        return doubts, left

    def allocation(self, cells: NDArray[np.int64], numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        result = np.full(self.codes.shape, -2, np.int32)
        result.ravel()[cells] = numbers
        kernels.allocate(self.codes, result)
        return result

    def put_row(self, values: NDArray[Any], row: int, new: NDArray[Any]) -> None:
        values[row] = new

    def on_host(self, values: NDArray[Any]) -> NDArray[Any]:
        return values


def _workspace(kind: np.dtype[Any]) -> kernels.TileCells:
    """Make room for a tile."""
    size = kernels.PITCH**2
    cells = np.empty(size, kind), np.empty(size, kind)
    return kernels.TileCells(*cells, np.empty(kernels.SIDE**2, np.int64), np.empty(size, np.bool_))
