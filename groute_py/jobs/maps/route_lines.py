"""Routes as lines on a map, in GeoJSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groute_py.jobs.maps.geojson import Feature, coordinates_in, write_features
from groute_py.jobs.maps.plane import Plane
from groute_py.jobs.places import Places

if TYPE_CHECKING:
    from groute_py.jobs.routes import Routes


def write_lines(routes: Routes, path: Path, places: Places) -> None:
    """Write a line through its vertices for each route that has paths.

    Args:
        routes: the answer, with paths.
        path: of the file.
        places: of the vertices.

    Raises:
        RunError: the disk is full, or fails.
        InputError: no file can be written there.
    """
    attribution = str(getattr(routes.graph, "attribution", "") or "")
    write_features(path, _features(routes, places), attribution)


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
        line = places.coordinates[vertices if len(vertices) > 1 else np.repeat(vertices, 2)]
        if not places.planar:  # as it is beyond the date line
            line = Plane((float(line[0, 0]), 0.0)).unwrapped(line)
        yield "LineString", coordinates_in(line, planar=places.planar), properties
