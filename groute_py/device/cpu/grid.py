"""Least-cost distances on a raster, on the cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.cpu.team import Threads
from groute_py.device.grid import GridProblem, check_directions, check_sources
from groute_py.graph.arrays import host_array
from groute_py.kernels.cpu import grid as kernels
from groute_py.system.threads import in_slices, thread_count

ROWS_AT_ONCE = 64


class RasterGrid:
    """A `groute_py.device.grid.Grid` on the cores."""

    def __init__(self, problem: GridProblem) -> None:
        kind, self._problem = problem.kind, problem
        friction, nothing = host_array(problem.friction).astype(kind, "C"), kind.type(np.inf)
        friction[~(friction >= problem.least_friction)] = nothing
        check_sources(problem, np.flatnonzero(friction.ravel()[problem.sources] == nothing))
        self._distances = np.full(friction.shape, nothing)
        words = problem.halves, problem.cutoff, nothing
        self._raster = kernels.Cells(friction, self._distances, *words)
        self._solve()
        self._distances[self._distances > problem.cutoff] = nothing

    def _solve(self) -> None:
        """Relax tiles until none is pending."""
        problem, raster = self._problem, self._raster
        columns = problem.friction.shape[1]
        height, width = (-(-length // kernels.SIDE) for length in problem.friction.shape)
        front = kernels.Front(
            np.full((2, height * width), raster.nothing),
            np.empty((2, height * width), np.int32),
            np.zeros(height * width, np.int64),
            np.zeros(2 * kernels.TAKEN, np.int64),
            width,
        )
        raster.distances.ravel()[problem.sources] = 0
        rows = problem.sources // columns // kernels.SIDE
        for tile in np.unique(rows * width + problem.sources % columns // kernels.SIDE).tolist():
            kernels.push(front, tile, raster.distances.dtype.type(0), 1)
        team = Threads(min(thread_count(), height * width))
        spaces = [_workspace(problem.kind) for _ in range(team.size)]
        bucket, turn = problem.bucket_width(kernels.SIDE), 0
        while count := int(front.words[kernels.COUNT]):
            turn += 1
            front.words[:] = 0
            least = front.keys[turn % 2, front.lists[turn % 2, :count]].min()
            threshold = max(least + bucket, np.nextafter(least, raster.nothing))

            def relax(number: int) -> None:
                words = turn, count, threshold, spaces[number]  # noqa: B023
                kernels.relax_tiles(raster, front, *words)

            if count > 1:
                team.run(relax)
            else:
                relax(0)

    def distances(self) -> NDArray[Any]:
        return self._distances

    def directions(self) -> NDArray[np.uint8]:
        codes = np.full(self._distances.shape, kernels.NO_DIRECTION, np.uint8)
        codes.ravel()[self._problem.sources] = kernels.SOURCE

        def find(turn: int) -> Any:
            def find_some(rows: slice) -> Any:
                words = rows.start, rows.stop, codes, turn
                return kernels.find_directions(self._raster, *words)

            return np.sum(in_slices(len(codes), ROWS_AT_ONCE, find_some), axis=0).tolist()

        check_directions(find)
        self._codes = codes
        return codes

    def allocation(self) -> NDArray[np.int32]:
        numbers = np.full(self._codes.shape, -2, np.int32)
        numbers.ravel()[self._problem.sources] = self._problem.numbers
        kernels.allocate(self._codes, numbers)
        return numbers

    def on_host(self, values: NDArray[Any]) -> NDArray[Any]:
        return values


def _workspace(kind: np.dtype[Any]) -> kernels.TileCells:
    """Make room for a tile."""
    size = kernels.PITCH**2
    cells = np.empty(size, kind), np.empty(size, kind)
    return kernels.TileCells(*cells, np.empty(kernels.SIDE**2, np.int64), np.empty(size, np.bool_))
