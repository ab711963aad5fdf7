"""GeoJSON (RFC 7946), written feature by feature, and routes as lines in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.graph.turns.expanded import ExpandedGraph, arcs_along
from groute_py.io.optional_libraries import library
from groute_py.maps.lines import Ground, ground_along, shapes_along
from groute_py.maps.places import Places, Plane, shapes_at
from groute_py.system.atomic_file import replacing, translating_errors

SUFFIX = ".geojson"

DIGITS = 7  # digits of degrees: a centimetre

Feature = tuple[str, Any, dict[str, Any]]
"""The type of a geometry, its coordinates as nested lists or None, and properties."""


Rows = Iterable[tuple[dict[str, Any], NDArray[np.int64]]]
"""The properties of each route, and the vertices of its path, none where there is no path."""


def write_features(path: Path, features: Iterable[Feature], attribution: str = "") -> None:
    """Write features, one a line, and the credit; the file is complete or absent."""
    head = _head(attribution)
    with translating_errors(path), replacing(path) as file:
        file.write(f'{json.dumps(head)[:-1]}, "features": ['.encode())
        between = "\n"
        for feature in map(_object, features):
            text = json.dumps(feature, allow_nan=False, separators=(",", ":"))
            file.write(f"{between}{text}".encode())
            between = ",\n"
        file.write(b"\n]}\n")


def collection(features: Iterable[Feature], attribution: str = "") -> dict[str, Any]:
    """Return features as the protocol ``__geo_interface__`` has them, and the credit."""
    return {**_head(attribution), "features": list(map(_object, features))}


def geodataframe_of(features: dict[str, Any], *, planar: bool = False) -> Any:
    """Return a `collection` as a GeoDataFrame, whose ``attrs`` have the credit."""
    geopandas = library("geopandas", "a GeoDataFrame", "geopandas")
    crs = None if planar else "EPSG:4326"
    frame = geopandas.GeoDataFrame.from_features(features, crs=crs)
    frame.attrs["attribution"] = features.get("attribution", "")
    return frame


def _head(attribution: str) -> dict[str, Any]:
    credit = {"attribution": attribution} if attribution else {}
    return {"type": "FeatureCollection", **credit}


def _object(feature: Feature) -> dict[str, Any]:
    kind, coordinates, properties = feature
    geometry = None if coordinates is None else {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def coordinates_in(points: NDArray[np.float64], *, planar: bool) -> Any:
    """Points of the shape (…, 2) as nested lists: of degrees to a centimetre, or of a plane."""
    return (points if planar else points.round(DIGITS)).tolist()


def rings_in(polygons: Iterable[Iterable[NDArray[np.float64]]], *, planar: bool) -> list[Any]:
    """The rings of some polygons as nested lists."""
    return [[coordinates_in(ring, planar=planar) for ring in polygon] for polygon in polygons]


def lines_of(rows: Rows, graph: Graph, places: Places, *, reverse: bool) -> Iterator[Feature]:
    """Yield a line for each route, without a geometry where there is no path.

    It follows the shapes of the arcs if ``places`` are the graph's own.
    """
    for properties, vertices in rows:
        if not len(vertices):
            yield "LineString", None, properties
            continue
        line = _ground(graph, vertices, places, reverse=reverse).path(vertices)
        if not places.planar:  # so that it runs on beyond the date line
            line = Plane((float(line[0, 0]), 0.0)).unwrapped(line)
        yield "LineString", coordinates_in(line, planar=places.planar), properties


def _ground(graph: Graph, vertices: NDArray[np.int64], places: Places, *, reverse: bool) -> Ground:
    """The ground of a path's arcs."""
    if not isinstance(graph, ExpandedGraph):
        roads = None if shapes_at(graph, places) is None else graph
        return ground_along(places.coordinates, roads, vertices, is_reversed=reverse)
    shapes = None if graph.original is None else shapes_at(graph.original.graph, places)
    if graph.original is None or shapes is None:
        return Ground(places.coordinates)
    arcs = np.array(arcs_along(graph.original, vertices.tolist()), np.int64)
    return Ground(places.coordinates, shapes_along(shapes, arcs))
