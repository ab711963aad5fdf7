"""Where vertices lie, for a picture: from coordinates, a grid's name, or a graph that has them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quote
from groute_py.graph.check_arrays import check_coordinates
from groute_py.graph.csr import Graph
from groute_py.interop.graph_like import as_graph
from groute_py.io.coordinates import coordinates_beside, coordinates_for, read_coordinates

COORDINATE_FILE = re.compile(r"\.co(\.(gz|xz|zst|bz2))?$")
GRID = re.compile(r"road:([0-9]{1,9})x([0-9]{1,9})")


class Layout(NamedTuple):
    """Where n vertices lie, and which lines the arcs between them follow.

    Attributes:
        places: float64, shape (n, 2), finite: x and y.
        roads: a graph of these vertices whose arcs have shapes; None for straight arcs.
        attribution: whom to name for the places, if anybody.
        planar: whether they lie on a plane; else their numbers decide, see
            `groute_py.maps.raster.east_of_north`.
    """

    places: NDArray[np.float64]
    roads: Graph | None = None
    attribution: str = ""
    planar: bool = False


Coordinates = Any
"""None; a path of a ``.co`` file or of a graph file with coordinates; ``road:WxH``; a `Graph` with
coordinates; or numbers of shape (n, 2)."""


def layout_of(coordinates: Coordinates, count: int) -> Layout:
    """The layout of ``count`` vertices from coordinates as they are given.

    Raises:
        InputError: they are not those of so many vertices.
        FormatError: a file cannot be read.

    >>> layout_of("road:3x2", 6).places.tolist()[3:]
    [[0.0, -1.0], [1.0, -1.0], [2.0, -1.0]]
    """
    text = str(coordinates) if isinstance(coordinates, str | Path) else ""
    if text and COORDINATE_FILE.search(text):
        return Layout(read_coordinates(coordinates, count).astype(np.float64))
    roads, attribution = None, ""
    if grid := GRID.fullmatch(text):
        found = _grid(int(grid[1]), int(grid[2]), count)
    elif text or isinstance(coordinates, Graph):
        graph = as_graph(coordinates)
        found, roads = coordinates_for(graph), graph if graph.shapes is not None else None
        attribution = graph.attribution
    else:
        found = _numbers(coordinates)
    if len(found) != count:
        raise InputError(
            f"there are coordinates of {len(found):,} vertices, and there are {count:,} vertices; "
            "give those of the same graph"
        )
    return Layout(found, roads, attribution)


def layout_in(graph: Graph, given: Any, coordinates: Coordinates) -> Layout:
    """The layout of a graph, which was given as a file, a spec or by itself.

    Raises:
        InputError: nothing says where.
    """
    if coordinates is None and graph.coordinates is None:
        is_grid = isinstance(given, str) and GRID.fullmatch(given)
        coordinates = given if is_grid else coordinates_beside(given)
    if coordinates is None:
        return Layout(coordinates_for(graph), graph if graph.shapes is not None else None)
    return layout_of(coordinates, graph.vertex_count)


def _grid(width: int, height: int, count: int) -> NDArray[np.float64]:
    """Of vertex y·W + x; rows go down, as they are written."""
    if width * height != count:
        raise InputError(
            f"road:{width}x{height} has {width * height:,} vertices, not {count:,}; name the grid "
            "that was solved"
        )
    vertices = np.arange(count)
    return np.stack([vertices % width, -(vertices // width)], axis=1).astype(np.float64)


def _numbers(coordinates: Any) -> NDArray[np.float64]:
    try:
        found = np.asarray(coordinates, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(
            f"coordinates {quote(coordinates)} are not numbers of shape (n, 2)"
        ) from problem
    if found.ndim != 2:
        raise InputError(f"coordinates have shape {found.shape}; they need shape (n, 2)")
    check_coordinates(found, len(found))
    return found
