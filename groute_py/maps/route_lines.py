"""Routes as lines on a map, in GeoJSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.maps.geojson import Feature, coordinates_in, write_features
from groute_py.maps.lines import Ground, shapes_along
from groute_py.maps.places import Places, shapes_at
from groute_py.maps.plane import Plane
from groute_py.turns.expanded import ExpandedGraph
from groute_py.turns.walk import arcs_along

Rows = Iterable[tuple[dict[str, Any], NDArray[np.int64]]]
"""The properties of each route, and the vertices of its path, none where there is no path."""


def write_lines(
    path: Path, rows: Rows, graph: Graph, places: Places, *, reverse: bool, attribution: str
) -> None:
    """Write a line for each route, without a geometry where there is no path.

    It follows the shapes of the arcs if the graph has them and ``places`` are its own, else it is
    straight between vertices.

    Args:
        path: of the file.
        rows: the routes.
        graph: that was solved.
        places: of its vertices.
        reverse: the arcs of ``graph`` are turned round, and paths lead against them.
        attribution: whom to name, if anybody.
    """
    features = _features(rows, graph, places, reverse=reverse)
    write_features(path, features, attribution)


def _features(rows: Rows, graph: Graph, places: Places, *, reverse: bool) -> Iterator[Feature]:
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
    source = graph.given if isinstance(graph, ExpandedGraph) else None
    roads = graph if source is None else source.graph
    shapes = shapes_at(roads, places)
    if shapes is None or (source is None and isinstance(graph, ExpandedGraph)):
        return Ground(places.coordinates)
    arcs: Sequence[int | None]
    if source is not None:
        arcs, reverse = arcs_along(source, vertices.tolist()), False
    else:
        steps = pairwise(vertices.tolist())
        arcs = [roads.lightest_arc(*(step[::-1] if reverse else step)) for step in steps]
    numbers = np.array([-1 if arc is None else arc for arc in arcs], np.int64)
    return Ground(places.coordinates, shapes_along(shapes, numbers, is_reversed=reverse))
