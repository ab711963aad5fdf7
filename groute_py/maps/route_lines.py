"""Routes as lines on a map, in GeoJSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groute_py.maps.geojson import Feature, coordinates_in, write_features
from groute_py.maps.places import Places, shapes_at
from groute_py.maps.plane import Plane
from groute_py.turns.expanded import ExpandedGraph
from groute_py.turns.walk import arcs_along

if TYPE_CHECKING:
    from groute_py.graph.csr import Graph
    from groute_py.jobs.routes import Routes


def write_lines(routes: Routes, path: Path, places: Places) -> None:
    """Write a line for each route that has a path.

    It follows the shapes of the arcs if the graph has them and ``places`` are its own, else it is
    straight between vertices.

    Args:
        routes: the answer, with paths.
        path: of the file.
        places: of the vertices.

    Raises:
        RunError: the disk is full, or fails.
        InputError: no file can be written there.
    """
    write_features(path, _features(routes, places), routes.attribution)


def _features(routes: Routes, places: Places) -> Iterator[Feature]:
    ids = routes.numbering.ids_of(routes.pairs).tolist()
    distances, reached = routes.distances.tolist(), routes.reached.tolist()
    assert routes.paths is not None
    for (source, target), distance, there, vertices in zip(
        ids, distances, reached, routes.paths, strict=True
    ):
        properties = {"source": source, "target": target, "distance": distance if there else None}
        if not there:
            yield "LineString", None, properties
            continue
        line = _line(routes, vertices, places)
        if not places.planar:  # as it is beyond the date line
            line = Plane((float(line[0, 0]), 0.0)).unwrapped(line)
        yield "LineString", coordinates_in(line, planar=places.planar), properties


def _line(routes: Routes, vertices: NDArray[np.int64], places: Places) -> NDArray[np.float64]:
    """The points of a path, float64, shape (p, 2), at least two."""
    coordinates = places.coordinates
    if len(vertices) == 1:
        return coordinates[np.repeat(vertices, 2)]
    roads, is_reversed = _roads(routes)
    shapes = None if roads is None else shapes_at(roads, places)
    if roads is None or shapes is None:
        return coordinates[vertices]
    points = [coordinates[vertices[:1]]]
    arcs = _arcs(routes, roads, vertices.tolist(), is_reversed=is_reversed)
    for head, arc in zip(vertices[1:].tolist(), arcs, strict=True):
        if arc is not None:
            between = shapes.of(arc)
            points.append(between[::-1] if is_reversed else between)
        points.append(coordinates[[head]])
    return np.concatenate(points)


def _arcs(
    routes: Routes, roads: Graph, vertices: list[int], *, is_reversed: bool
) -> Sequence[int | None]:
    """The arcs of a path; None where there is none."""
    if isinstance(routes.graph, ExpandedGraph):
        assert routes.graph.given is not None
        return arcs_along(routes.graph.given, vertices)
    steps = [step[::-1] if is_reversed else step for step in pairwise(vertices)]
    return [roads.lightest_arc(tail, head) for tail, head in steps]


def _roads(routes: Routes) -> tuple[Graph | None, bool]:
    """The graph whose arcs are drawn, and whether these are turned round."""
    if isinstance(routes.graph, ExpandedGraph):
        given = routes.graph.given
        return (None if given is None else given.graph), False
    return routes.graph, routes.reverse
