"""The answer of isochrones: what lies within limits, as tables, areas, pages and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.arguments import check_number, file_path
from groute_py.errors import InputError, quote
from groute_py.graph.csr import Graph
from groute_py.many.apsp import Progress
from groute_py.maps.areas import Polygon, areas_of
from groute_py.maps.pieces import Pieces, Watch, pieces_of
from groute_py.maps.places import FARTHEST, Places, shapes_at
from groute_py.maps.plane import Plane, plane_of
from groute_py.maps.segments import Ground, beelines, segments_of

USUAL_MARGIN = 100.0
"""Of areas about no arc at all."""


class Reach(NamedTuple):
    """What is within the last limit of one source, or of any of several.

    Attributes:
        source: the vertex; −1 for any of the sources.
        vertices: int64, shape (r,), ascending.
        distances: shape (r,), of these vertices, in the types and units of `groute_py.Result`.
        arc_begins: float64, shape (a,): with turns the distances at which the arcs begin that leave
            the vertices, one vertex after the other. None without.
    """

    source: int
    vertices: NDArray[np.int64]
    distances: NDArray[Any]
    arc_begins: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Isochrones:
    """What is within limits of some sources.

    Attributes:
        sources: int64, shape (k,), vertex indices.
        limits: ascending, in units of weight.
        reaches: one for any of the sources; or one for each of them, in their order.
        reverse: the distances are those to the sources.
        places: of the vertices; None where they are not known.
        statistics: of the last solve, see `groute_py.engine.statistics.Statistics`.
        graph: that was solved, without an expansion by turns; with ``reverse`` its arcs are turned
            round.
    """

    sources: NDArray[np.int64]
    limits: tuple[float, ...]
    reaches: tuple[Reach, ...]
    reverse: bool
    places: Places | None
    statistics: dict[str, Any] = field(repr=False)
    graph: Graph = field(repr=False)

    @property
    def attribution(self) -> str:
        """What is to be said of the graph's data where they are drawn."""
        return self.graph.attribution

    @property
    def counts(self) -> list[int]:
        """How many vertices are within each limit of any source."""
        least = np.full(self.graph.vertex_count, len(self.limits))
        for reach in self.reaches:
            least[reach.vertices] = np.minimum(least[reach.vertices], self.bands(reach))
        return [int((least <= band).sum()) for band in range(len(self.limits))]

    def bands(self, reach: Reach) -> NDArray[np.int64]:
        """The number of the least limit within which each vertex of a reach is, int64, (r,)."""
        return np.searchsorted(np.array(self.limits), reach.distances)

    def pieces(self, reach: Reach, *, watch: Watch | None = None) -> Pieces:
        """The parts of arcs within each limit, cut where the limits fall.

        They are arcs of the graph as it was given; with `reverse` each part ends at its head.

        Args:
            reach: one of `reaches`.
            watch: is called after each limit with how many parts there are; may raise.
        """
        distances, limits = reach.distances.astype(np.float64), np.array(self.limits, np.float64)
        found = pieces_of(self.graph, reach.vertices, distances, limits, reach.arc_begins, watch)
        return found.turned_round() if self.reverse else found

    def plane(self) -> Plane:
        """The plane on which all reaches are measured."""
        vertices = [reach.vertices for reach in self.reaches]
        return plane_of(self._located(), np.concatenate(vertices))

    def areas(
        self,
        reach: Reach,
        margin: float | None = None,
        *,
        pieces: Pieces | None = None,
        watch: Watch | None = None,
    ) -> list[list[Polygon]]:
        """For each limit the area within it, as polygons of places.

        It is what lies within a margin of a part of an arc, or of a vertex, that is within the
        limit; see `groute_py.maps.areas`. So it holds the areas of the limits before.

        Args:
            reach: one of `reaches`.
            margin: in metres, or in the unit of the plane; None for the median length of the arcs
                within reach, as the crow flies. At least a metre, and 1/800 of the longer side of
                the reach.
            pieces: those of the reach; None to find them.
            watch: is called after each limit with how many corners there are; may raise.

        Returns:
            For each limit polygons, each of which is a list of rings: float64, shape (r, 2), of
            longitudes and latitudes, or x and y.

        Raises:
            InputError: there are no coordinates, or the margin is not positive, up to 1e150.
            SetupError: SciPy or contourpy is not installed.
        """
        plane = self.plane()
        areas = self.projected_areas(reach, plane, margin, pieces=pieces, watch=watch)
        return [[[plane.unproject(ring) for ring in polygon] for polygon in band] for band in areas]

    def projected_areas(
        self,
        reach: Reach,
        plane: Plane,
        margin: float | None = None,
        *,
        pieces: Pieces | None = None,
        watch: Watch | None = None,
    ) -> list[list[Polygon]]:
        """As `areas`, on a plane."""
        check_margin(margin)
        ground = self.projected_ground(plane)
        if pieces is None:
            pieces = self.pieces(reach)
        if margin is None:
            margin = float(np.median(beelines(pieces, ground))) if len(pieces) else 0.0
        segments = segments_of(pieces, ground)
        alone = np.repeat(ground.points[reach.vertices, np.newaxis], 2, axis=1)
        lines = np.concatenate([segments.ends, alone])
        bands = np.concatenate([pieces.bands[segments.pieces], self.bands(reach)])
        margin = max(margin or USUAL_MARGIN, plane.finest)
        return areas_of(lines, bands, len(self.limits), margin, watch)

    def name_of(self, reach: Reach) -> int | str | None:
        """The id of a reach's source; None for that of any source."""
        return None if reach.source < 0 else self.graph.numbering.id_of(reach.source)

    def save(
        self, path: str | Path, *, features: str | None = None, margin: float | None = None
    ) -> None:
        """Write what is within reach; the file is complete or absent.

        Args:
            path: ``.csv`` or ``.parquet``, a table; ``.geojson``; ``.html``, a map for a browser;
                or ``.png``, a picture.
            features: ``vertices``, ``arcs`` or, of ``.geojson`` only, ``bands``: what the file
                lists. None for vertices in tables, and bands in ``.geojson``.
            margin: as for `areas`.

        Raises:
            InputError: unknown suffix or features, no coordinates, or no file can be written there.
            RunError: the disk is full, or fails.
            SetupError: the form needs a library that is not installed.
        """
        from groute_py.maps.isochrone_files import check_form, write

        target = file_path("path", path)
        check_margin(margin)
        write(self, target, check_form(target, features), margin)

    def projected_ground(self, plane: Plane) -> Ground:
        """Where vertices and shapes lie on a plane."""
        return self._ground(plane.project, np.ones(2))

    def ground(self) -> Ground:
        """Where they lie, as files have it: no line crosses the map at the date line."""
        plane = self.plane()
        return self._ground(plane.unwrapped, plane.scale)

    def _ground(
        self, placed: Callable[[NDArray[np.float64]], NDArray[np.float64]], scale: Any
    ) -> Ground:
        places = self._located()
        shapes = shapes_at(self.graph, places)
        if shapes is not None:
            shapes = shapes._replace(points=placed(shapes.points))
            shapes = shapes.turned_round() if self.reverse else shapes  # as pieces are
        return Ground(placed(places.coordinates), shapes, scale)

    def _located(self) -> Places:
        if self.places is None:
            raise InputError(
                f"{self.graph.name} has no coordinates; name a file of them (.co) by "
                "--coordinates, or coordinates= in Python"
            )
        return self.places

    def followed(self, progress: Progress | None) -> Iterator[Reach]:
        """The reaches; ``progress`` is given how many are done with, and how many there are."""
        for done, reach in enumerate(self.reaches, 1):
            yield reach
            if progress is not None:
                progress(done, len(self.reaches))

    def __iter__(self) -> Iterator[Reach]:
        return iter(self.reaches)


def check_margin(margin: Any) -> None:
    """Raise `InputError` for what is no margin of areas."""
    if margin is None:
        return
    check_number("margin", margin)
    if not 0 < margin <= FARTHEST:
        raise InputError(f"margin must be more than 0, up to {FARTHEST:g}, not {quote(margin)}")
