"""A raster, its sources and its options as users give them, checked."""

from __future__ import annotations

from math import hypot, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import bound_within
from groute_py.device.grid import GridProblem
from groute_py.errors import InputError, check_cutoff, check_positive, quote
from groute_py.graph.arrays import array_of, host_array

MOST_CELLS = (1 << 31) - 1

SAMPLE = 256
"""Rows and columns from which the mean friction is taken, about."""


def problem_of(
    friction: Any, sources: Any, cell_size: Any, neighbours: Any, cutoff: Any
) -> GridProblem:
    """Return the problem that `groute_py.cost_distance` is asked for; `InputError` for none."""
    raster = array_of(values_of(friction))
    if raster.ndim != 2 or raster.dtype.kind not in "biuf" or raster.dtype.itemsize > 8:
        shape = f"{raster.dtype} of shape {raster.shape}"
        raise InputError(f"friction must be numbers of shape (rows, columns), not {shape}")
    if not 0 < raster.size <= MOST_CELLS:
        raise InputError(f"friction has {raster.size} cells; there may be 1 to {MOST_CELLS:,}")
    if not np.isscalar(neighbours) or neighbours not in (4, 8):
        raise InputError(f"neighbours must be 4 or 8, not {quote(neighbours)}")
    check_cutoff(inf if cutoff is None else cutoff)
    kind = np.result_type(raster.dtype, np.float32)
    x, y = _cell_size(friction, cell_size)
    with np.errstate(over="ignore"):  # what becomes infinite is refused as such
        halves = np.array([x / 2, y / 2, hypot(x, y) / 2 if neighbours == 8 else inf], kind)
    if not (halves[:2] > 0).all() or not np.isfinite(halves[:2]).all():
        raise InputError(f"cell_size ({x}, {y}) is out of the range of {kind}")
    cells = _sources(sources, raster.shape)
    places = np.stack(np.divmod(cells, raster.shape[1]), axis=1)
    unique = np.unique(cells, return_index=True)
    bound = bound_within(inf if cutoff is None else cutoff, kind)
    return GridProblem(raster, kind, places, *unique, halves, bound, _mean(raster))


def values_of(raster: Any) -> Any:
    """Return the array of a raster, or of places; `InputError` for masked values."""
    values = raster.data if _is_xarray(raster) else raster
    if np.ma.is_masked(values):
        raise InputError("some cells are masked; fill them with 0, a barrier and no source")
    return values


def like(raster: Any, values: Any) -> Any:
    """Return values of cells with the coordinates of a raster, if it has some."""
    if not _is_xarray(raster):
        return values
    return type(raster)(values, coords=raster.coords, dims=raster.dims)


def cells_of(places: Any, shape: tuple[int, ...], what: str) -> NDArray[np.int64]:
    """Return the numbers of cells, row by row, of rows and columns; `InputError` outside."""
    pairs = host_array(places)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        own = f"{pairs.dtype} of shape {pairs.shape}"
        raise InputError(f"{what} must be rows and columns, integers of shape (k, 2), not {own}")
    outside = ((pairs < 0) | (pairs >= np.array(shape))).any(axis=1)
    if outside.any():
        place = tuple(pairs[outside.argmax()].tolist())
        raise InputError(f"{what}: {place} is outside of the raster, whose shape is {shape}")
    cells: NDArray[np.int64] = np.ravel_multi_index(tuple(pairs.astype(np.int64).T), shape)
    return cells


def _sources(sources: Any, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the cells of sources, by their numbers."""
    places = host_array(values_of(sources))
    is_raster = places.shape == shape and places.dtype.kind in "biuf"
    if is_raster and not (shape[1] == 2 and places.dtype.kind in "iu"):
        cells = np.flatnonzero((places != 0) & (places == places))
    elif places.size:
        cells = cells_of(places, shape, "sources")
    else:
        cells = np.empty(0, np.int64)
    if not cells.size:
        raise InputError("there is no source; a raster of sources has cells that are not 0 or NaN")
    return cells


def _is_xarray(raster: Any) -> bool:
    return hasattr(raster, "coords") and hasattr(raster, "dims")


def _cell_size(friction: Any, size: Any) -> tuple[float, float]:
    """Return the width and the height of a cell."""
    if size is None:
        dims = reversed(friction.dims) if _is_xarray(friction) else ()
        x, y = (_spacing(friction, name) for name in dims) if dims else (1.0, 1.0)
        return x, y
    x, y = size if isinstance(size, tuple | list) and len(size) == 2 else (size, size)
    for length in (x, y):
        check_positive("cell_size", length)
    return float(x), float(y)


def _spacing(friction: Any, name: Any) -> float:
    """Return the distance between neighbours by the coordinates of a dimension, 1 without any."""
    if name not in friction.coords or len(friction.coords[name]) < 2:
        return 1.0
    steps = np.diff(np.asarray(friction.coords[name].values, np.float64))
    if not np.allclose(steps, steps[0], rtol=1e-3, atol=0) or steps[0] == 0:
        raise InputError(f"coordinates {quote(name)} are not evenly spaced; give cell_size")
    return float(abs(steps.mean()))


def _mean(raster: Any) -> float:
    """Return the mean friction of a sample of cells that are no barriers."""
    steps = (max(length // SAMPLE, 1) for length in raster.shape)
    sample = host_array(raster[tuple(slice(None, None, step) for step in steps)])
    passable = sample[(sample > 0) & (sample < inf)]
    return float((passable / passable.size).sum(dtype=np.float64)) if passable.size else 1.0
