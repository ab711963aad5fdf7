"""Where vertices lie, for a picture: from coordinates, a grid's name, or a graph that has them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.graph.csr import Graph
from groute_py.io.coordinates import coordinates_beside, coordinates_for, read_coordinates
from groute_py.maps.places import as_points
from groute_py.source.graph_source import GraphSource

COORDINATE_FILE = re.compile(r"\.co(\.(gz|xz|zst|bz2))?$")
GRID = re.compile(r"road:([0-9]{1,9})x([0-9]{1,9})")


class Layout(NamedTuple):
    """Where n vertices lie, and which lines the arcs between them follow.

    Attributes:
        places: float64, shape (n, 2), finite: x and y.
        roads: a graph of these vertices whose arcs have shapes; None for straight arcs.
        attribution: whom to name for the places, if anybody.
        planar: whether they lie on a plane; else their numbers decide, see
            `groute_py.maps.raster.stretch_of`.
    """

    places: NDArray[np.float64]
    roads: Graph | None = None
    attribution: str = ""
    planar: bool = False


Coordinates = Any
"""None; a path of a ``.co`` file or of a graph file with coordinates; ``road:WxH``; a `Graph` with
coordinates; or numbers of shape (n, 2)."""


def layout_of(coordinates: Coordinates, count: int) -> Layout:
    """The layout of ``count`` vertices from coordinates in any of their forms.

    Raises:
        InputError: they are not those of so many vertices.
        FormatError: a file cannot be read.

    >>> layout_of("road:3x2", 6).places.tolist()[3:]
    [[0.0, -1.0], [1.0, -1.0], [2.0, -1.0]]
    """
    text = str(coordinates) if isinstance(coordinates, str | Path) else ""
    if text and COORDINATE_FILE.search(text):
        return Layout(read_coordinates(coordinates, count).astype(np.float64))
    if grid := GRID.fullmatch(text):
        layout = Layout(_grid(int(grid[1]), int(grid[2]), count))
    elif text or isinstance(coordinates, Graph):
        layout = _of_graph(GraphSource(coordinates).graph())
    else:
        layout = Layout(as_points(coordinates, "coordinates"))
    if len(layout.places) != count:
        raise InputError(
            f"there are coordinates of {len(layout.places):,} vertices, and there are {count:,} "
            "vertices; give those of the same graph"
        )
    return layout


def layout_in(graph: Graph, source: Any, coordinates: Coordinates) -> Layout:
    """The layout of a graph that comes from a file, a spec or memory.

    Raises:
        InputError: nothing says where its vertices lie.
    """
    if coordinates is None and graph.coordinates is None:
        is_grid = isinstance(source, str) and GRID.fullmatch(source)
        coordinates = source if is_grid else coordinates_beside(source)
    return _of_graph(graph) if coordinates is None else layout_of(coordinates, graph.vertex_count)


def _of_graph(graph: Graph) -> Layout:
    roads = graph if graph.shapes is not None else None
    return Layout(coordinates_for(graph), roads, graph.attribution)


def _grid(width: int, height: int, count: int) -> NDArray[np.float64]:
    """The place of each vertex y·W + x; rows go down, as they are written."""
    if width * height != count:
        raise InputError(
            f"road:{width}x{height} has {width * height:,} vertices, not {count:,}; name the grid "
            "that was solved"
        )
    vertices = np.arange(count)
    return np.stack([vertices % width, -(vertices // width)], axis=1).astype(np.float64)
