"""Least-cost distances from sources to all cells of a raster of friction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import at_root, collective, on_root, refuse_difference
from groute_py.comm.base import Channel, Intracomm
from groute_py.comm.connect import connect
from groute_py.device.registry import DEVICES
from groute_py.errors import InputError, check_choice, check_truth
from groute_py.graph.arrays import array_of, host_array, on_device
from groute_py.grids.bands import Band, BandRows
from groute_py.grids.request import (
    GridRequest,
    cell_size_of,
    cells_of,
    like,
    request_of,
    values_of,
)
from groute_py.kernels.cpu.grid import NO_DIRECTION, follow
from groute_py.system.environment import local_size
from groute_py.system.threads import available_cores, limited_to, named_count


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
    comm: Intracomm | None = None,
) -> CostDistance | None:
    """Return the cost of the cheapest path from the nearest source to each cell of a raster.

    A step between neighbours costs the mean friction of the two cells times the length of the step
    (Douglas 1994; ``r.cost`` of GRASS, ``cost_distance`` of xarray-spatial). The raster is its own
    graph: no arcs are stored. Costs are sums along the path, each rounded to the type of
    ``distance``, and the same on every device, at any number of ranks. In a script under ``mpirun``
    every rank calls this function; rank 0's friction and sources count, and each rank solves a band
    of rows.

    Args:
        friction: cost of a unit of length in each cell, shape (rows, columns), NumPy, CuPy, an
            xarray DataArray, or another array. Cells that are NaN, infinite, 0 or negative are
            barriers, as are those whose steps would cost less than the least normal number.
            No step joins two cells whose costs together are beyond what the type holds.
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
        device: ``auto``, ``cpu`` or ``cuda``. Arrays of CuPy stay on the current GPU, if one rank
            solves.
        comm: an MPI communicator; None for all ranks that the launcher started.

    Returns:
        The answer on rank 0; None on the others.

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
    channel = connect(comm)
    with collective(channel):
        check_truth("allocation", allocation)
        check_truth("back_direction", back_direction)
        check_choice("device", device, DEVICES)
    raster: Any = at_root(channel, lambda: array_of(values_of(friction)))

    def checked() -> GridRequest:
        size = cell_size_of(friction, cell_size)
        return request_of(raster.shape, raster.dtype, sources, size, neighbours, cutoff)

    request = on_root(channel, checked)
    call = {"function": "cost_distance", "neighbours": neighbours, "cutoff": cutoff}
    call |= {"allocation": allocation, "back_direction": back_direction, "device": device}
    refuse_difference(channel, call)
    own = _own_rows(channel, raster, request.shape)
    result = solve(
        channel, request, own, device, allocation=allocation, back_direction=back_direction
    )
    if result is None:
        return None
    rasters = result._asdict().items()
    same = {name: like(friction, values) for name, values in rasters if values is not None}
    return result._replace(**same | {"sources": result.sources})


def solve(
    channel: Channel,
    request: GridRequest,
    friction: Any,
    device: str,
    *,
    allocation: bool,
    back_direction: bool,
) -> CostDistance | None:
    """Answer on rank 0; None elsewhere. Collective.

    The friction is that of this rank's `BandRows`; of one rank it may lie on a GPU, as the answer
    then does.
    """
    stays = channel.size == 1 and on_device(friction) and device != "cpu"
    with limited_to(_cores(channel)):
        band = Band(channel, request, friction, "cuda" if stays else device)
        codes = band.directions() if allocation or back_direction else None
        numbers = band.allocation() if allocation else None

        def whole(values: Any) -> Any:
            return values if values is None or stays else band.whole(values)

        distances, numbers = whole(band.distances()), whole(numbers)
        codes = whole(codes) if back_direction else None
    if channel.rank > 0:
        return None
    return CostDistance(distances, request.places, numbers, codes)


def _cores(channel: Channel) -> int | None:
    """Return the cores of this rank if ranks share those of a host, and nobody has said."""
    if channel.size == 1 or named_count():
        return None
    return max(available_cores() // local_size(), 1)


def _own_rows(channel: Channel, raster: Any, shape: tuple[int, int]) -> Any:
    """Return the rows of rank 0's raster that this rank has."""
    if channel.size == 1:
        return raster
    parts = None
    if channel.rank == 0:
        ranks = [BandRows(shape[0], rank, channel.size) for rank in range(channel.size)]
        parts = [host_array(raster[rows.first : rows.last]).reshape(-1) for rows in ranks]
    return channel.scatter(parts).reshape(-1, shape[1])
