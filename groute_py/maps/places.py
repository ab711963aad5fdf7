"""The places of vertices, in degrees or on a plane, and how to project them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quote
from groute_py.graph.arrays import host_array
from groute_py.graph.csr import Graph
from groute_py.graph.geography import EARTH_RADIUS_M, Shapes
from groute_py.interop.tables import column_of, is_missing, is_table, titles_of
from groute_py.io.coordinates import (
    MICRODEGREE,
    TABLE,
    coordinates_beside,
    coordinates_for,
    read_coordinates,
)
from groute_py.io.formats.tntp import read_nodes
from groute_py.io.tables.titles import PlaceTitles, places_in
from groute_py.source.graph_source import GraphSource

LIMITS = np.array([180.0, 90.0])  # degrees of longitude and latitude

COORDINATE_FILE = re.compile(r"\.co(\.(gz|xz|zst|bz2))?$")
TNTP_NODES = re.compile(r"_node\.tntp(\.(gz|xz|zst|bz2))?$")
GRID = re.compile(r"road:([0-9]{1,9})x([0-9]{1,9})")

FARTHEST = 1e150
"""The greatest x and y on a plane: squares of distances, and sums of these, are finite."""

NO_DEGREES = (
    "which is no longitude and latitude in degrees; if the coordinates are x and y on a plane, say "
    "so by --planar (planar=True in Python)"
)
BEYOND_PLANE = f"which is farther out than {FARTHEST:g} on a plane; give them in a larger unit"

Coordinates = str | os.PathLike[str] | NDArray[Any] | None
"""A ``.co`` file or a table of vertices; an array of shape (n, 2); None for the graph's own."""


@dataclass(frozen=True, eq=False)
class Places:
    """The places of n vertices, or points: longitude and latitude, or x and y, shape (n, 2)."""

    coordinates: NDArray[np.float64]
    planar: bool = False

    @property
    def titles(self) -> tuple[str, str]:
        """The names of the two coordinates in files."""
        return ("x", "y") if self.planar else ("lon", "lat")

    @property
    def embedded(self) -> NDArray[np.float64]:
        """Points on the unit sphere, (n, 3), or on the plane, (n, 2)."""
        if self.planar:
            return self.coordinates
        east, north = np.radians(self.coordinates).T
        return np.stack(
            [np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], axis=1
        )

    def lengths(self, straight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Metres along great circles for straight distances between `embedded` points."""
        if self.planar:
            return straight
        return 2 * EARTH_RADIUS_M * np.arcsin(np.minimum(straight / 2, 1))


@dataclass(frozen=True)
class Plane:
    """The equirectangular projection about a centre; the plane itself for planar places.

    Longitudes are those within 180 degrees of the centre's, so that no line crosses the date line.
    """

    centre: tuple[float, float] | None  # longitude and latitude; None on a plane

    def project(self, coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Metres east and north of latitude 0, or x and y; of the shape (…, 2)."""
        if self.centre is None:
            return coordinates
        return np.radians(self.unwrapped(coordinates)) * EARTH_RADIUS_M * self.scale

    def unproject(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The coordinates of points, of the shape (…, 2)."""
        if self.centre is None:
            return points
        return np.degrees(points / (EARTH_RADIUS_M * np.array(self.scale)))

    def unwrapped(self, coordinates: NDArray[np.float64]) -> NDArray[np.float64]:
        """The coordinates, with longitudes near the centre's."""
        if self.centre is None:
            return coordinates
        turns = np.rint((coordinates[..., 0] - self.centre[0]) / 360)
        return np.stack([coordinates[..., 0] - 360 * turns, coordinates[..., 1]], axis=-1)

    @property
    def scale(self) -> tuple[float, float]:
        """The lengths of a degree of longitude and of latitude by the latter; on a plane both 1."""
        return (1.0 if self.centre is None else east_of_north(self.centre[1]), 1.0)


def east_of_north(latitude: float) -> float:
    """The length of a degree of longitude by that of one of latitude, at least 1/1000."""
    return max(float(np.cos(np.radians(latitude))), 1e-3)


def plane_of(places: Places, vertices: NDArray[np.int64]) -> Plane:
    """The plane about some vertices, at least one."""
    if places.planar:
        return Plane(None)
    some = places.coordinates[vertices]
    near = Plane((float(some[0, 0]), 0.0)).unwrapped(some)
    middle = (near.min(axis=0) + near.max(axis=0)) / 2
    return Plane((float(middle[0]), float(middle[1])))


def places_of(
    graph: Graph, coordinates: Coordinates = None, *, planar: bool = False, beside: object = None
) -> Places:
    """The places of vertices, by default the graph's own or a ``.co`` file's ``beside`` it.

    A ``.co`` file is in millionths of a degree; a table or an array, shape (n, 2), in degrees. On a
    plane all are in units of their own.
    """
    if coordinates is None and graph.coordinates is None:
        coordinates = coordinates_beside(beside)
    if coordinates is None or isinstance(coordinates, str | os.PathLike):
        points = coordinates_for(graph, coordinates)
        if coordinates is not None and not planar and not TABLE.search(str(coordinates)):
            points = points * MICRODEGREE
    else:
        points, count = as_points(coordinates, "coordinates"), graph.numbering.count
        if len(points) != count:
            raise InputError(
                f"coordinates must be of each of {count} vertices, not of {len(points)}"
            )
    places = Places(points, planar)
    check_places(places, "vertex", graph.numbering.id_of)
    return places


def has_places(graph: Graph, coordinates: Coordinates = None, *, beside: object = None) -> bool:
    """Return True if `places_of` would find coordinates."""
    own = coordinates is not None or graph.coordinates is not None
    return own or coordinates_beside(beside) is not None


def shapes_at(graph: Graph, places: Places) -> Shapes | None:
    """The shapes of a graph's arcs, which belong to its own coordinates; None at other places."""
    return graph.shapes if places.coordinates is graph.coordinates else None


def as_points(values: Any, what: str = "points") -> NDArray[np.float64]:
    """Return numbers of shape (k, 2) as float64; `InputError` for others.

    A table has them in columns with titles as `places_in` knows them, GeoPandas in a geometry.
    """
    if hasattr(values, "geometry"):
        values = np.stack([values.geometry.x, values.geometry.y], axis=1)
    elif is_table(values):
        values = _columns_of(values, what)
    try:
        points = np.asarray(host_array(values), np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(f"{what} must be two numbers each, shape (k, 2)") from problem
    if points.ndim != 2 or points.shape[1] != 2:
        raise InputError(f"{what} must be two numbers each, shape (k, 2), not {points.shape}")
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        first = int(finite.argmin())
        raise InputError(f"{what}: number {first} is {tuple(points[first].tolist())}, not finite")
    return points


def _columns_of(table: Any, what: str) -> Any:
    """Two columns of coordinates; a table without titles is left as it is."""
    titles = titles_of(table)
    if titles == [0, 1]:
        return table
    places = _place_titles(titles)
    if len(places) != 1:
        raise InputError(f"{what} of a table need columns lon,lat or x,y; it has {quote(titles)}")
    return np.stack([host_array(table[places[0].x]), host_array(table[places[0].y])], axis=1)


def _place_titles(titles: list[Any]) -> list[PlaceTitles]:
    places = places_in(titles)
    return [place for place in places if not place.of] or places


def attributes_in(points: Any, count: int) -> dict[str, NDArray[Any]]:
    """The columns of a table of ``count`` points beside their coordinates; of no table none."""
    if not is_table(points):
        return {}
    titles = titles_of(points)
    if hasattr(points, "geometry"):
        taken = {points.geometry.name}
    else:
        taken = {title for place in _place_titles(titles) for title in (place.x, place.y)}
    attributes = {
        str(t): _attribute(column_of(points, t))
        for t in titles
        if t not in taken and titles != [0, 1]
    }
    wrong = next((title for title, values in attributes.items() if len(values) != count), None)
    if wrong is not None:
        raise InputError(f"column {quote(wrong)} has {len(attributes[wrong])} of {count} values")
    return attributes


def _attribute(values: NDArray[Any]) -> NDArray[Any]:
    """The values of a column: numbers, or text, of which None is none."""
    if values.dtype.kind in "biufU":
        return values
    words = values if values.dtype.kind == "O" else values.astype(str)
    gaps = map(is_missing, values)
    texts = [None if gap else str(word) for gap, word in zip(gaps, words, strict=True)]
    return np.array(texts, object)


def check_places(places: Places, what: str, name_of: Any) -> None:
    """Raise `InputError` for the first place that is not in degrees, or too far out on a plane."""
    limits = FARTHEST if places.planar else LIMITS
    outside = (np.abs(places.coordinates) > limits).any(axis=1)
    if outside.any():
        first = int(outside.argmax())
        x, y = places.coordinates[first].tolist()
        problem = BEYOND_PLANE if places.planar else NO_DEGREES
        raise InputError(f"{what} {name_of(first)} lies at ({x:.12g}, {y:.12g}), {problem}")


class MapLayout(NamedTuple):
    """The places of n vertices, and the roads that arcs between them follow."""

    places: NDArray[np.float64]  # (n, 2), finite
    roads: Graph | None = None  # whose arcs have shapes; None for straight arcs
    attribution: str = ""
    planar: bool = False  # else the numbers decide, see `stretch_of`


def layout_of(coordinates: Any, count: int) -> MapLayout:
    """The layout of ``count`` vertices from coordinates as `groute_py.plot` takes them.

    >>> layout_of("road:3x2", 6).places.tolist()[3:]
    [[0.0, -1.0], [1.0, -1.0], [2.0, -1.0]]
    """
    text = str(coordinates) if isinstance(coordinates, str | Path) else ""
    if text and COORDINATE_FILE.search(text):
        return MapLayout(read_coordinates(coordinates, count).astype(np.float64))
    if grid := GRID.fullmatch(text):
        layout = MapLayout(_grid(int(grid[1]), int(grid[2]), count))
    elif TNTP_NODES.search(text):
        layout = MapLayout(read_nodes(Path(text), count))
    elif text or isinstance(coordinates, Graph):
        layout = _of_graph(GraphSource(coordinates).graph())
    else:
        layout = MapLayout(as_points(coordinates, "coordinates"))
    if len(layout.places) != count:
        raise InputError(
            f"there are coordinates of {len(layout.places):,} vertices, and there are {count:,} "
            "vertices; give those of the same graph"
        )
    return layout


def layout_in(graph: Graph, source: Any, coordinates: Any) -> MapLayout:
    """The layout of a graph that comes from a file, a spec or memory; `InputError` without any."""
    if coordinates is None and graph.coordinates is None:
        is_grid = isinstance(source, str) and GRID.fullmatch(source)
        coordinates = source if is_grid else coordinates_beside(source)
    return _of_graph(graph) if coordinates is None else layout_of(coordinates, graph.vertex_count)


def _of_graph(graph: Graph) -> MapLayout:
    roads = graph if graph.shapes is not None else None
    return MapLayout(coordinates_for(graph), roads, graph.attribution)


def _grid(width: int, height: int, count: int) -> NDArray[np.float64]:
    """The place of each vertex y·W + x; rows go down, as they are written."""
    if width * height != count:
        raise InputError(
            f"road:{width}x{height} has {width * height:,} vertices, not {count:,}; name the grid "
            "that was solved"
        )
    vertices = np.arange(count)
    return np.stack([vertices % width, -(vertices // width)], axis=1).astype(np.float64)
