"""Least-cost distances from sources to all cells of a raster of friction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.device.grid import Grid
from groute_py.device.registry import kind_of, of_module
from groute_py.errors import InputError, check_truth
from groute_py.graph.arrays import host_array, on_device
from groute_py.grids.request import cells_of, like, problem_of, values_of
from groute_py.kernels.cpu.grid import NO_DIRECTION, follow

GRIDS = {"cpu": "groute_py.device.cpu.grid", "cuda": "groute_py.device.cuda.grid"}
"""Modules of the `Grid` of each kind of device."""


class CostDistance(NamedTuple):
    """Least-cost distances of a raster; rasters are as the friction was: NumPy, CuPy or xarray.

    Attributes:
        distance: cost of the cheapest path from a source to each cell, float32 or float64;
            infinite on barriers, beyond the cutoff or what the type holds, and where no path leads.
        sources: row and column of each source, int64, shape (k, 2).
        allocation: number of a nearest source, its row in ``sources``, int32; −1 without one. None
            unless asked for.
        back_direction: the step back to the source, uint8: 0 on a source, 1 to 8 clockwise from
            east, 255 without a path. None unless asked for.
    """

    distance: Any
    sources: NDArray[np.int64]
    allocation: Any = None
    back_direction: Any = None

    def path(self, row: int, column: int) -> NDArray[np.int64]:
        """Return the cells of a cheapest path from a source to a cell.

        Needs ``back_direction=True``.

        Returns:
            Rows and columns, int64, shape (n, 2), the source first.

        Raises:
            InputError: no such cell, or no path leads to it.
        """
        if self.back_direction is None:
            raise InputError("paths need back directions: cost_distance(…, back_direction=True)")
        codes = host_array(values_of(self.back_direction))
        cell = cells_of([[row, column]], codes.shape, "the cell")
        if codes.ravel()[cell[0]] == NO_DIRECTION:
            raise InputError(f"no path leads to the cell ({row}, {column})")
        cells = np.empty(follow(codes, cell[0], cell[:0]), np.int64)
        follow(codes, cell[0], cells)
        return np.stack(np.divmod(cells[::-1], codes.shape[1]), axis=1)


def cost_distance(
    friction: Any,
    sources: Any,
    *,
    cell_size: float | tuple[float, float] | None = None,
    neighbours: int = 8,
    cutoff: float | None = None,
    allocation: bool = False,
    back_direction: bool = False,
    device: str = "auto",
) -> CostDistance:
    """Return the cost of the cheapest path from the nearest source to each cell of a raster.

    A step between neighbours costs the mean friction of the two cells times the length of the step
    (Douglas 1994; ``r.cost`` of GRASS, ``cost_distance`` of xarray-spatial). The raster is its own
    graph: no arcs are stored. Costs are sums along the path, each rounded to the type of
    ``distance``, and the same on every device.

    Args:
        friction: cost of a unit of length in each cell, shape (rows, columns), NumPy, CuPy, an
            xarray DataArray, or another array. Cells that are NaN, infinite, 0 or negative are
            barriers, as are those whose steps would cost less than the least normal number.
            Distances are float64 for float64 and for integers of 32 bits or more, else float32.
        sources: rows and columns, integers of shape (k, 2); or an array of the friction's shape,
            whose cells that are neither 0 nor NaN are sources, row by row (of two columns: no
            integers).
        cell_size: width and height of a cell, or one number for both. By default that of the
            coordinates of a DataArray, else 1.
        neighbours: 8, or 4 without diagonal steps.
        cutoff: the greatest distance; cells beyond are unreached.
        allocation: True to find a nearest source of each cell.
        back_direction: True to find the step back of each cell, for paths.
        device: ``auto``, ``cpu`` or ``cuda``. Arrays of CuPy stay on the current GPU.

    Raises:
        InputError: not a raster, no source, a source on a barrier or outside, or wrong options.
        VerificationError: a distance is not the least over its neighbours, which is looked at with
            ``allocation`` and ``back_direction``.

    >>> import groute_py, numpy
    >>> friction = numpy.array([[1, 1, 1], [9, numpy.nan, 1], [1, 1, 1]])
    >>> result = groute_py.cost_distance(friction, [(0, 0)], back_direction=True, device="cpu")
    >>> result.distance[2].round(2).tolist()
    [4.83, 3.83, 3.41]
    >>> result.path(2, 1).tolist()
    [[0, 0], [0, 1], [1, 2], [2, 1]]
    """
    check_truth("allocation", allocation)
    check_truth("back_direction", back_direction)
    problem = problem_of(friction, sources, cell_size, neighbours, cutoff)
    stays = on_device(problem.friction)
    kind = "cuda" if stays and device == "auto" else kind_of(device)
    grid: Grid = of_module(GRIDS[kind], "RasterGrid")(problem)
    codes = grid.directions() if allocation or back_direction else None
    numbers = grid.allocation() if allocation else None

    def as_input(values: Any) -> Any:
        own = values if stays and kind == "cuda" else grid.on_host(values)
        return like(friction, own)

    return CostDistance(
        as_input(grid.distances()),
        problem.places,
        None if numbers is None else as_input(numbers),
        as_input(codes) if back_direction else None,
    )
