"""A raster, its sources and its options as users give them, checked."""

from __future__ import annotations

from math import hypot, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import bound_within
from groute_py.device.grid import GridProblem
from groute_py.errors import InputError, check_cutoff, check_positive, quote
from groute_py.graph.arrays import host_array

SAMPLE = 256
"""Rows and columns from which the mean friction is taken, about."""


class GridRequest(NamedTuple):
    """A raster without its cells, its sources, and the measures of steps."""

    shape: tuple[int, int]
    kind: np.dtype[Any]  # of distances, float32 or float64
    places: NDArray[np.int64]  # (p, 2): of sources, by row and column, as given
    sources: NDArray[np.int64]  # (k,): their cells, row by row, each once
    numbers: NDArray[np.int64]  # (k,): their first places
    halves: NDArray[Any]  # (3,): half the step by column, by row and diagonally
    cutoff: Any

    def problem(self, friction: Any, first: int, own: slice) -> GridProblem:
        """Return the problem of rows from the first one on, of which some are this rank's own."""
        cells = (np.array([own.start, own.stop]) + first) * self.shape[1]
        begin, end = np.searchsorted(self.sources, cells)
        sources = self.sources[begin:end] - first * self.shape[1]
        words = self.kind, self.halves, self.cutoff, _mean(friction)
        return GridProblem(friction, own, sources, *words)


def request_of(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    sources: Any,
    cell_size: tuple[Any, ...],
    neighbours: Any,
    cutoff: Any,
) -> GridRequest:
    """Return a request for distances on a raster of a shape and a type; `InputError` for none."""
    if len(shape) != 2 or dtype.kind not in "biuf" or dtype.itemsize > 8:
        own = f"{dtype} of shape {shape}"
        raise InputError(f"friction must be numbers of shape (rows, columns), not {own}")
    if 0 in shape:
        raise InputError(f"friction has 0 cells, as its shape is {shape}")
    if not np.isscalar(neighbours) or neighbours not in (4, 8):
        raise InputError(f"neighbours must be 4 or 8, not {quote(neighbours)}")
    check_cutoff(inf if cutoff is None else cutoff)
    for length in cell_size:
        check_positive("cell_size", length)
    kind, (x, y) = np.result_type(dtype, np.float32), map(float, cell_size)
    with np.errstate(over="ignore"):  # what becomes infinite is refused as such
        halves = np.array([x / 2, y / 2, hypot(x, y) / 2 if neighbours == 8 else inf], kind)
    if not (halves[:2] >= np.finfo(kind).tiny).all() or not np.isfinite(halves[:2]).all():
        raise InputError(f"cell_size ({x}, {y}) is out of the range of {kind}")
    cells = _sources(sources, shape)
    places = np.stack(np.divmod(cells, shape[1]), axis=1)
    unique = np.unique(cells, return_index=True)
    bound = bound_within(inf if cutoff is None else cutoff, kind)
    return GridRequest(shape, kind, places, *unique, halves, bound)


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


def cell_size_of(friction: Any, size: Any) -> tuple[Any, ...]:
    """Return the width and the height of a cell, as far as they are given."""
    if size is None:
        dims = reversed(friction.dims) if _is_xarray(friction) else ()
        x, y = (_spacing(friction, name) for name in dims) if dims else (1.0, 1.0)
        return x, y
    return tuple(size) if isinstance(size, tuple | list) and len(size) == 2 else (size, size)


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
