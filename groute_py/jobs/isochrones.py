"""The answer of isochrones: what lies within limits, as tables, areas, pages and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, check_number, file_path, quote
from groute_py.maps import isochrone_files
from groute_py.maps.areas import Polygon
from groute_py.maps.geojson import geodataframe_of
from groute_py.maps.lines import Pieces, Watch
from groute_py.maps.places import FARTHEST
from groute_py.maps.reach import Reach, Reaches, ReachView
from groute_py.results.tables import TableColumns


class Isochrones(Reaches):
    """The vertices and arcs within limits of some sources.

    The other attributes are those of `groute_py.results.answer.JobAnswer`.

    Attributes:
        sources: int64, shape (k,), positions of vertices.
        limits: ascending, in units of weight.
        reaches: one for any of the sources; or one for each of them, in their order.
        reverse: whether the distances are those to the sources.
        places: of the vertices; None where they are not known.
        statistics: of the last solve, see `groute_py.engine.statistics.Statistics`.
        graph: that was solved, without an expansion by turns; with ``reverse`` its arcs are turned
            round.
    """

    def part(self, some: slice) -> TableColumns:
        """See `Tabular.part`; the vertices within each of some reaches."""
        return isochrone_files.vertices_of(self, self.reaches[some])

    @property
    def counts(self) -> list[int]:
        """The number of vertices within each limit of any source."""
        least = np.full(self.graph.vertex_count, len(self.limits))
        for reach in self.reaches:
            least[reach.vertices] = np.minimum(least[reach.vertices], self.bands(reach))
        return [int((least <= band).sum()) for band in range(len(self.limits))]

    def bands(self, reach: Reach) -> NDArray[np.int64]:
        """The number of the least limit within which each vertex of a reach is, int64, (r,)."""
        return reach.bands(self.limits)

    def pieces(self, reach: Reach, *, watch: Watch | None = None) -> Pieces:
        """The parts of arcs within each limit, cut where the limits fall.

        They are arcs of the graph as it was given; with `reverse` each part ends at its head.

        Args:
            reach: one of `reaches`.
            watch: is called after each limit with how many parts there are; may raise.
        """
        return ReachView(self).pieces(reach, watch)

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
        check_margin(margin)
        view = ReachView(self)
        areas, unproject = view.areas(reach, margin, pieces, watch), view.plane.unproject
        return [[[unproject(ring) for ring in polygon] for polygon in band] for band in areas]

    def save(
        self,
        path: str | Path,
        *,
        features: str | None = None,
        margin: float | None = None,
        tiles: str | None = None,
    ) -> None:
        """Write what is within reach; the file is complete or absent.

        Args:
            path: ``.csv`` or ``.parquet``, a table; ``.geojson``; ``.html``, a map for a browser;
                or ``.png``, a picture.
            features: ``vertices``, ``arcs`` or, of ``.geojson`` only, ``bands``: what the file
                lists. None for vertices in tables, and bands in ``.geojson``.
            margin: as for `areas`.
            tiles: the ground of an ``.html``: a name that xyzservices knows, such as
                ``"OpenTopoMap"``; a URL with ``{z}``, ``{x}`` and ``{y}``; or ``"none"``, for a
                page that needs no network. None for ``"OpenStreetMap"``, on a plane for none.

        Raises:
            InputError: unknown suffix, features or tiles, no coordinates, or no file can be written
                there.
            RunError: the disk is full, or fails.
            SetupError: the form needs a library that is not installed.
        """
        target = file_path("path", path)
        check_margin(margin)
        listed = isochrone_files.check_form(target, features, tiles)
        isochrone_files.write(self, target, listed, margin, tiles=tiles)

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """The areas within each limit as GeoJSON, for GeoPandas, folium and others."""
        return isochrone_files.bands_of(self)

    def to_geodataframe(self) -> Any:
        """The areas within each limit as a GeoDataFrame, with the columns of the ``.geojson``.

        ``explore()`` of it draws a map. ``attrs["attribution"]`` has the credit.

        Raises:
            InputError: there are no coordinates.
            SetupError: GeoPandas is not installed.
        """
        return geodataframe_of(self.__geo_interface__, planar=ReachView(self).places.planar)

    def __iter__(self) -> Iterator[Reach]:
        return iter(self.reaches)


def check_margin(margin: Any) -> None:
    """Raise `InputError` for a value that is no margin of areas."""
    if margin is None:
        return
    check_number("margin", margin)
    if not 0 < margin <= FARTHEST:
        raise InputError(f"margin must be more than 0, up to {FARTHEST:g}, not {quote(margin)}")
