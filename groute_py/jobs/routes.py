"""The answer of routes: a distance for each pair, and perhaps a path."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, file_path
from groute_py.graph.csr import Graph
from groute_py.maps import geojson
from groute_py.maps.geojson import SUFFIX, Feature
from groute_py.maps.page import PAGE, check_tiles, ground_layer, page_of_routes, write_page
from groute_py.maps.places import Coordinates, Places, places_of
from groute_py.results import tables
from groute_py.results.answer import JobAnswer
from groute_py.results.distances import reached_in
from groute_py.results.tables import Column, TableColumns
from groute_py.system.atomic_file import replacing, translating_errors

MAPS = (SUFFIX, PAGE)  # forms that have paths as lines
PAIRS_AT_ONCE = 1 << 16  # lines that are made in one go


@dataclass(frozen=True, eq=False)
class Routes(JobAnswer):
    """Shortest paths between p pairs, or several paths of each.

    The other attributes are those of `groute_py.results.answer.JobAnswer`.

    Attributes:
        pairs: int64, shape (p, 2): a source and a target each, positions of vertices.
        distances: shape (p,), in the types and units of `groute_py.Result`; with ``k > 1`` shape
            (p, k), ascending, where no path is left unreached; with a alternatives (p, 1 + a).
        paths: of each pair the positions of a shortest path, int64, both ends included; empty where
            there is none. With ``k > 1`` or alternatives a list of its paths. None if they were
            not asked for.
        statistics: how they were computed: ``algorithm``, ``reason``, ``device``, ``sources`` (how
            many), ``seconds``.
        graph: that was solved.
        reverse: the arcs of ``graph`` are turned round (``reverse=True``), and paths lead against
            them.
    """

    pairs: NDArray[np.int64]
    distances: NDArray[Any]
    paths: list[Any] | None
    graph: Graph | None = field(default=None, repr=False)
    reverse: bool = False

    @property
    def reached(self) -> NDArray[np.bool_]:
        """bool, shape of ``distances``: where there is a path."""
        return reached_in(self.distances)

    def path(self, number: int, rank: int = 1) -> list[Any]:
        """The ids of the path of a pair by its number, both ends included; empty if there is none.

        ``rank`` is from 1.

        Raises:
            InputError: paths were not asked for.
        """
        if self.paths is None:
            raise InputError("there are no paths; solve with paths=True")
        of_pair = self.paths[number] if self.distances.ndim == 2 else [self.paths[number]]
        path = of_pair[rank - 1] if 0 < rank <= len(of_pair) else np.empty(0, np.int64)
        ids: list[Any] = self.numbering.ids_of(path).tolist()
        return ids

    def all_paths(self, some: slice = slice(None), *, gaps: bool = False) -> Iterator[Any]:
        """Yield the paths of some pairs; with ``gaps`` an empty one of a pair that has none."""
        nothing = [np.empty(0, np.int64)] if gaps else []
        for paths in self.paths[some] if self.paths is not None else ():
            every = paths if self.distances.ndim == 2 else [paths] if len(paths) else []
            yield from every or nothing

    def save(
        self,
        path: str | Path,
        coordinates: Coordinates = None,
        *,
        planar: bool = False,
        tiles: str | None = None,
    ) -> None:
        """Write the routes, in the file's ids; the file is complete or absent.

        ``.csv`` and ``.parquet`` are tables with the columns ``source``, ``target``, ``distance``
        and, if there are paths, ``path``: the ids of its vertices as a JSON list. Of several paths
        each has a line, with its ``rank`` from 1. ``.geojson`` has the line of each path, with
        the other columns as properties; without a path both distance and geometry are null. Lines
        follow the shapes of arcs if the graph has them and its own coordinates are taken, else they
        are straight between vertices. ``.html`` has them on a map for a browser.

        Args:
            path: of the file.
            coordinates, planar: of the vertices, as for `groute_py.snap`; of maps only.
            tiles: the ground of an ``.html``, as for `Isochrones.save`.

        Raises:
            InputError: unknown suffix or tiles, or no file can be written there; or for a map
                there are no paths, or no coordinates.
            RunError: the disk is full, or fails.
            SetupError: the form needs a library that is not installed.
        """
        target = file_path("path", path)
        check_routes_file(target, tiles, planar=planar)
        if target.suffix not in MAPS:
            parts = tables.in_parts(len(self.pairs), PAIRS_AT_ONCE, self.lines)
            tables.write_table(target, parts, self.attribution)
            return
        if self.paths is None or self.graph is None:
            raise InputError(f"{target}: lines need paths; solve with paths=True")
        self.save_lines(target, places_of(self.graph, coordinates, planar=planar), tiles)

    def save_lines(self, path: Path, places: Places, tiles: str | None = None) -> None:
        """Write paths as lines between coordinates, as `save` does for maps."""
        if path.suffix == SUFFIX:
            geojson.write_features(
                path, self._features(places, tables.with_units), self.attribution
            )
            return
        assert self.graph is not None
        ground = ground_layer(tiles, planar=places.planar)
        worded = self._features(places, tables.in_words)
        page = page_of_routes(worded, self.graph, planar=places.planar)
        with translating_errors(path), replacing(path) as file:
            write_page(page, ground, file)

    @property
    def __geo_interface__(self) -> dict[str, Any]:
        """The lines of the paths as GeoJSON, for GeoPandas, folium and others."""
        if self.paths is None or self.graph is None:
            raise InputError("lines need paths; solve with paths=True")
        return geojson.collection(
            self._features(places_of(self.graph), tables.with_units), self.attribution
        )

    def to_geodataframe(self) -> Any:
        """The lines of the paths as a GeoDataFrame, with the columns of the ``.geojson``.

        ``explore()`` of it draws a map. ``attrs["attribution"]`` has the credit.

        Raises:
            InputError: there are no paths, or the graph has no coordinates.
            SetupError: GeoPandas is not installed.
        """
        return geojson.geodataframe_of(self.__geo_interface__)

    def _features(self, places: Places, shown: Callable[..., TableColumns]) -> Iterator[Feature]:
        """The lines of paths; their properties are columns with units, or in words."""
        assert self.graph is not None
        return geojson.lines_of(self._lines(shown), self.graph, places, reverse=self.reverse)

    def _lines(self, shown: Callable[..., TableColumns]) -> geojson.Rows:
        assert self.paths is not None
        for start in range(0, len(self.pairs), PAIRS_AT_ONCE):
            some = slice(start, start + PAIRS_AT_ONCE)
            rows = tables.records(shown(self._ends(some), self.units))
            yield from zip(rows, self.all_paths(some, gaps=True), strict=True)

    def part(self, some: slice) -> TableColumns:
        """See `Tabular.part`; a line for each path, and for each pair without one."""
        part = self._ends(some)
        if self.paths is not None:
            texts = [self._json(path) for path in self.all_paths(some, gaps=True)]
            part["path"] = Column(np.array(texts, object))  # not all as long as the longest
        return part

    def _ends(self, some: slice) -> TableColumns:
        distances = self.distances[some].reshape(-1, self.distances[:1].size)
        has_line = reached_in(distances)
        has_line[:, 0] = True
        rows, ranks = np.nonzero(has_line)
        rows = np.arange(len(self.pairs))[some][rows]
        part = {
            "source": Column(self.numbering.ids_of(self.pairs[rows, 0])),
            "target": Column(self.numbering.ids_of(self.pairs[rows, 1])),
            **({"rank": Column(ranks + 1)} if self.distances.ndim == 2 else {}),
            "distance": tables.of_distances(distances[has_line]),
        }
        part |= tables.beside(self.attributes, source=rows, target=rows, pair=rows)
        sums = {name: of[some].reshape(has_line.shape) for name, of in self.carried.items()}
        return tables.with_sums(
            part, {name: of[has_line] for name, of in sums.items()}, slice(None)
        )

    def _json(self, path: NDArray[np.int64]) -> str:
        return json.dumps(self.numbering.ids_of(path).tolist(), ensure_ascii=False)


def check_routes_file(path: Path, tiles: str | None = None, *, planar: bool = False) -> None:
    """Raise `InputError` if routes cannot be written there."""
    tables.check_table(path, MAPS)
    check_tiles(path, tiles, planar=planar)
