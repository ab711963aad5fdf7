"""Where the vertices of a graph lie: longitude and latitude, or x and y on a plane."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.graph.array_like import host_array
from groute_py.graph.csr import Graph
from groute_py.graph.geography import EARTH_RADIUS_M
from groute_py.graph.shapes import Shapes
from groute_py.io.coordinates import MICRODEGREE, coordinates_beside, coordinates_for
from groute_py.io.tables.vertices import SUFFIX as TABLE

LIMITS = np.array([180.0, 90.0])
"""Degrees of longitude and latitude."""

FARTHEST = 1e150
"""On a plane, of x and y either way: squares of distances, and sums of these, are finite."""

NO_DEGREES = (
    "which is no longitude and latitude in degrees; if the coordinates are x and y on a plane, say "
    "so by --planar (planar=True in Python)"
)
BEYOND_PLANE = f"which is farther out than {FARTHEST:g} on a plane; give them in a larger unit"

Coordinates = str | os.PathLike[str] | NDArray[Any] | None
"""A ``.co`` file or a table of vertices; an array of shape (n, 2); None for the graph's own."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where n vertices, or points, lie.

    Attributes:
        coordinates: float64, shape (n, 2): longitude and latitude in degrees; or x and y.
        planar: whether they are x and y on a plane, in a unit of their own.
    """

    coordinates: NDArray[np.float64]
    planar: bool = False

    @property
    def titles(self) -> tuple[str, str]:
        """What the two coordinates are called in files."""
        return ("x", "y") if self.planar else ("lon", "lat")

    @property
    def embedded(self) -> NDArray[np.float64]:
        """Points whose straight distances are ordered as those of the places.

        Shape (n, 2) on a plane; else (n, 3), on the unit sphere.

        >>> Places(np.array([[90.0, 0.0]])).embedded.round(9).tolist()
        [[0.0, 1.0, 0.0]]
        """
        if self.planar:
            return self.coordinates
        east, north = np.radians(self.coordinates).T
        return np.stack(
            [np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], axis=1
        )

    def lengths(self, straight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distances on the ground from straight ones between `embedded` points.

        Returns:
            Of the same shape: metres along great circles; on a plane the same values.
        """
        if self.planar:
            return straight
        return 2 * EARTH_RADIUS_M * np.arcsin(np.minimum(straight / 2, 1))


def places_of(
    graph: Graph, coordinates: Coordinates = None, *, planar: bool = False, beside: object = None
) -> Places:
    """Where the vertices of a graph lie.

    Args:
        graph: any.
        coordinates: a ``.co`` file, in millionths of a degree (on a plane in units of its own); or
            a table of vertices, or an array of shape (n, 2), in degrees (or in units of its own).
            None for the graph's own.
        planar: whether they are x and y on a plane.
        beside: the graph's file; a ``.co`` file beside it counts if the graph has no coordinates.

    Raises:
        InputError: there are none, or they are no longitudes and latitudes; or x and y on a plane
            that are beyond ±1e150.
        FormatError: the file cannot be read.
    """
    if coordinates is None and graph.coordinates is None:
        coordinates = coordinates_beside(beside)
    if coordinates is None or isinstance(coordinates, str | os.PathLike):
        found = coordinates_for(graph, coordinates)
        if coordinates is not None and not planar and not TABLE.search(str(coordinates)):
            found = found * MICRODEGREE
    else:
        found = as_points(coordinates, "coordinates")
        count = graph.numbering.count
        if len(found) != count:
            raise InputError(
                f"coordinates must be of each of {count} vertices, not of {len(found)}"
            )
    places = Places(found, planar)
    check_places(places, "vertex", graph.numbering.id_of)
    return places


def has_places(graph: Graph, coordinates: Coordinates = None, *, beside: object = None) -> bool:
    """Whether `places_of` would find coordinates."""
    known = coordinates is not None or graph.coordinates is not None
    return known or coordinates_beside(beside) is not None


def shapes_at(graph: Graph, places: Places) -> Shapes | None:
    """The shapes of a graph's arcs, which belong to its own coordinates; None at other places."""
    return graph.shapes if places.coordinates is graph.coordinates else None


def as_points(values: Any, what: str = "points") -> NDArray[np.float64]:
    """Points as a user gives them, float64, shape (k, 2).

    Raises:
        InputError: they are of another shape, or a coordinate is no finite number.
    """
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


def check_places(places: Places, what: str, name_of: Any) -> None:
    """Raise `InputError` for the first place that is no longitude and latitude in degrees.

    On a plane it is raised for one that is too far out.

    Args:
        places: any.
        what: what a place is, in messages.
        name_of: gives what the place of a number is called.
    """
    limits = FARTHEST if places.planar else LIMITS
    outside = (np.abs(places.coordinates) > limits).any(axis=1)
    if outside.any():
        first = int(outside.argmax())
        x, y = places.coordinates[first].tolist()
        problem = BEYOND_PLANE if places.planar else NO_DEGREES
        raise InputError(f"{what} {name_of(first)} lies at ({x:.12g}, {y:.12g}), {problem}")
