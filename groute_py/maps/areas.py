"""Areas about lines: contours over a raster of them.

The area about some lines is all that lies within a margin of one of them. The lines are marked in a
raster, each cell's distance to the nearest mark is found (Felzenszwalb and Huttenlocher, 2012: one
pass a dimension), and the contour at the margin is followed. Unlike a hull it covers no place that
is far from all lines.

Squares of distances are whole numbers of cells. The contour lies between two of them, so that it
passes through no middle of a cell, where it could touch itself or shrink to a point; polygons are
valid as OGC Simple Features has it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.io.optional_libraries import library
from groute_py.maps.lines import Watch
from groute_py.maps.raster import points_along, samples

CELLS_A_MARGIN = 4  # cells of the raster by a margin, unless that makes too many cells
MOST_CELLS = 1600  # cells of the raster's longer side, without its edges

LEAST_MARGIN = 2
"""Cells; a margin is made wider than what is asked for rather than lost between them."""

FINEST = 1e-12
"""Size of a cell, by how far from the origin the lines lie: coordinates tell its parts apart."""

Polygon = list[NDArray[np.float64]]
"""Rings of shape (r, 2), the last point of each being its first: the outer one, anticlockwise, then
holes, clockwise."""


class Raster(NamedTuple):
    """Cells over some lines: the middle of the first one, their side, their rows and columns."""

    corner: NDArray[np.float64]
    cell: float
    shape: tuple[int, int]


def check_areas() -> None:
    """Raise `SetupError` if a library is not installed."""
    library("scipy.ndimage", "finding areas", "maps")
    library("contourpy", "finding areas", "maps")


def areas_of(
    lines: NDArray[np.float64],
    bands: NDArray[np.int64],
    count: int,
    margin: float,
    watch: Watch | None = None,
) -> list[list[Polygon]]:
    """The area about the lines of each band and of those before, as polygons.

    Lines, shape (p, 2, 2), lie on a plane; there is at least one. The margin is at least 1/800 of
    the longer side of what they cover.
    """
    raster, reach = _raster(lines, margin)
    marked = np.zeros(raster.shape, np.bool_)
    areas: list[list[Polygon]] = []
    corners = 0
    for band in range(count):
        some = lines[bands == band]
        if len(some):
            _mark(marked, raster, some)
        if areas and not len(some):
            areas.append(areas[-1])
        else:
            areas.append(_outlines(marked, raster, reach) if marked.any() else [])
        corners += sum(len(ring) for polygon in areas[-1] for ring in polygon)
        if watch is not None:
            watch(corners)
    return areas


def _raster(lines: NDArray[np.float64], margin: float) -> tuple[Raster, float]:
    """The raster, and how far areas reach in it, in cells."""
    low, high = lines.min(axis=(0, 1)), lines.max(axis=(0, 1))
    side, far = float((high - low).max()), float(np.abs((low, high)).max())
    cell = max(margin / CELLS_A_MARGIN, side / MOST_CELLS, FINEST * far)
    reach = np.sqrt(np.floor(max(margin / cell, LEAST_MARGIN) ** 2) + 0.5)
    edge = (reach + 2) * cell
    columns, rows = np.ceil((high - low + 2 * edge) / cell).astype(int) + 1
    return Raster(low - edge, cell, (int(rows), int(columns))), float(reach)


def _mark(marked: NDArray[np.bool_], raster: Raster, lines: NDArray[np.float64]) -> None:
    """Mark the cells that lines pass through, by points at most half a cell apart."""
    lines = (lines - raster.corner) / raster.cell
    steps = np.ceil(2 * np.hypot(*(lines[:, 1] - lines[:, 0]).T)).astype(np.int64) + 1
    for some, owner, share in samples(steps):
        column, row = np.rint(points_along(lines[some], owner, share)).astype(np.int64).T
        marked[row, column] = True


def _outlines(marked: NDArray[np.bool_], raster: Raster, reach: float) -> list[Polygon]:
    ndimage: Any = library("scipy.ndimage", "finding areas", "maps")
    contourpy: Any = library("contourpy", "finding areas", "maps")
    contours = contourpy.contour_generator(
        z=reach - ndimage.distance_transform_edt(~marked),
        name="serial",
        fill_type=contourpy.FillType.OuterOffset,
    )
    polygons = []
    for points, offsets in zip(*contours.filled(0.0, 2 * reach), strict=True):
        rings = np.split(points * raster.cell + raster.corner, offsets[1:-1])
        polygons.append([np.asarray(ring) for ring in rings])
    return polygons
