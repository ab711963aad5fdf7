"""Vertices that a command's options name, by ids or by points on the map near them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groute_py.cli import show
from groute_py.cli.options import Where
from groute_py.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groute_py.graph.csr import Graph
    from groute_py.io.points import FilePoints, PointPairs
    from groute_py.maps.places import Places
    from groute_py.maps.snap import Snaps


DRAWN: dict[str, Any] = {"coordinates": None, "planar": False}
"""The fields of `Where` that drawings take, as they are where nothing was given."""


class NamedVertices:
    """The vertices that options name; points are read once, before the graph."""

    def __init__(self, graph: str, where: Where) -> None:
        self._graph, self._where = graph, where
        self.counts: dict[str, int] = {}  # of the vertices, by ``source`` and the like
        self._places: Places | None = None
        self._read: dict[str, FilePoints] = {}
        self._pairs: PointPairs | None = None
        self._snapped: dict[str, list[dict[str, Any]]] = {}

    def check(self, named: Mapping[str, str], pairs: str | None = None, *, draws: bool) -> None:
        """Read the points that options name, by their flags, or a file of pairs of them.

        Places are of use without points only to a command that draws.
        """
        from groute_py.io.points import is_points_file, points_in, read_point_pairs, read_points
        from groute_py.maps.snap import check_within
        from groute_py.system.paths import is_file_there

        check_within(self._where.within)
        if (access := self._access) is not None:
            from groute_py.maps.feet import check_access

            check_access(access)
            if self._where.snap != "arc":
                raise InputError("--access is the way to a road; give --snap arc too")
        for flag, text in named.items():
            if is_points_file(text):
                self._read[flag] = read_points(Path(text))
            elif (points := points_in(text)) is not None:
                self._read[flag] = points
        if pairs is not None and is_points_file(pairs) and is_file_there(pairs):  # no pipe
            self._pairs = read_point_pairs(Path(pairs))
        sides = () if self._pairs is None else (self._pairs.sources,)
        for points in (*self._read.values(), *sides):
            self._check_titles(points)
        self._check_use(draws=draws)

    def inputs(self, named: Mapping[str, str], **files: str | None) -> dict[str, str | None]:
        """Return the files that a command reads, by the flags that name them."""
        return {
            "GRAPH": self._graph,
            "--coordinates": self._where.coordinates,
            **{flag: text.removeprefix("@") for flag, text in named.items()},
            **{f"--{name}": file for name, file in files.items()},
        }

    def attributes(self, flag: str) -> Mapping[str, NDArray[Any]]:
        """Return the attributes of the points that an option names, by titles."""
        return self._read[flag].attributes if flag in self._read else {}

    @property
    def cuts_arcs(self) -> bool:
        """True if points become vertices on roads."""
        return self._where.snap == "arc" and bool(self._read or self._pairs)

    def add_points(self, whole: Graph) -> Graph:
        """Return the graph with a vertex on the road that is nearest to each point."""
        import numpy as np

        from groute_py.maps.feet import with_points, with_ways
        from groute_py.maps.places import Places

        sides = () if self._pairs is None else self._pairs[:2]
        every = (*self._read.values(), *sides)
        points, planar = np.concatenate([each.coordinates for each in every]), self._where.planar
        graph = with_points(whole.to_host(), self.places(whole), points)
        assert graph.coordinates is not None
        self._places = Places(graph.coordinates, planar)
        if (access := self._access) is not None:
            for each in every:
                self._snaps(each, graph)  # which refuses what is far
            graph = with_ways(graph, Places(points, planar), access)
            assert graph.coordinates is not None
            self._places = Places(graph.coordinates, planar)
        return graph

    @property
    def _access(self) -> float | str | None:
        """The weight of a metre between points and roads, or a speed; None if it does not count."""
        from groute_py.cli.amounts import number

        try:
            return None if self._where.access is None else number(self._where.access)
        except ValueError:
            return self._where.access

    def vertices(self, flag: str, text: str, role: str, whole: Graph) -> NDArray[Any]:
        """Return the vertices that an option names, int64, shape (k,)."""
        from groute_py.many.sources import sources_of

        if flag in self._read:
            vertices = self._snap(role, self._read[flag], whole)
        else:
            vertices = sources_of(text, whole.numbering, whole.name, role)
        self.counts[role] = len(vertices)
        return vertices

    def pairs(self, whole: Graph) -> NDArray[Any] | None:
        """Return the vertices of pairs of points, int64, shape (k, 2), if the pairs are points."""
        import numpy as np

        if self._pairs is None:
            return None
        sides = {"source": self._pairs.sources, "target": self._pairs.targets}
        return np.stack([self._snap(*side, whole) for side in sides.items()], axis=1)

    def pair_attributes(self) -> dict[str, Mapping[str, NDArray[Any]]]:
        """Return the attributes of pairs of points, and of their ends, by role and title."""
        if self._pairs is None:
            return {}
        sources, targets, pairs = self._pairs
        return {"source": sources.attributes, "target": targets.attributes, "pair": pairs}

    def places(self, whole: Graph) -> Places:
        """Return the places of the vertices."""
        from groute_py.maps.places import places_of

        if self._places is None:
            path, planar = self._where[:2]
            self._places = places_of(whole, path, planar=planar, beside=self._graph)
        return self._places

    def has_places(self, whole: Graph) -> bool:
        """Return whether there are coordinates of the vertices."""
        from groute_py.maps.places import has_places

        return has_places(whole, self._where.coordinates, beside=self._graph)

    def rows(self, *, as_json: bool) -> dict[str, Any]:
        """Return the rows of the answer about points: with their vertices, or a summary."""
        if as_json:
            return {f"{role}_points": snaps for role, snaps in self._snapped.items()}
        unit = "" if self._where.planar else " m"
        return {
            f"{role}_points": f"{len(snaps):,}, up to "
            f"{max(snap['distance'] for snap in snaps):,.6g}{unit} from their vertices"
            for role, snaps in self._snapped.items()
        }

    def _snap(self, role: str, points: FilePoints, whole: Graph) -> NDArray[Any]:
        from groute_py.maps.places import Places
        from groute_py.maps.snap import passed_by

        names = points.names
        spots = Places(points.coordinates, self._where.planar)
        places, snaps = self.places(whole), self._snaps(points, whole)
        ids = whole.numbering.ids_of(snaps.vertices).tolist()
        if not spots.planar:
            self._note_roads(passed_by(whole, places, spots, snaps), names, ids, snaps)
        self._snapped[role] = [
            {"point": name, "vertex": vertex, "distance": distance}
            for name, vertex, distance in zip(names, ids, snaps.distances.tolist(), strict=True)
        ]
        return snaps.vertices

    def _snaps(self, points: FilePoints, whole: Graph) -> Snaps:
        from groute_py.maps.places import Places
        from groute_py.maps.snap import most_connected, nearest_vertices

        spots, among = Places(points.coordinates, self._where.planar), most_connected(whole)
        how: Any = {"name_of": points.names.__getitem__}
        return nearest_vertices(self.places(whole), spots, self._where.within, among, **how)

    def _note_roads(
        self, passing: dict[int, float], names: list[str], ids: list[Any], snaps: Snaps
    ) -> None:
        """Say which points lie by a road whose vertices are far."""
        for point, metres in passing.items():
            show.note(
                f"point {names[point]} lies {metres:,.0f} m from a road, but "
                f"{snaps.distances[point]:,.0f} m from its vertex {ids[point]}, where its paths "
                f"begin or end; {len(passing):,} of {len(names):,} points do so. --snap arc begins "
                "and ends on roads"
            )
            break

    def _check_titles(self, points: FilePoints) -> None:
        titles = ",".join(points.titles or ())
        if self._where.planar and titles == "lon,lat":
            raise InputError("--planar is for points x,y; these are lon,lat")
        if not self._where.planar and titles == "x,y":
            raise InputError(
                "points x,y lie on a plane: give --planar; or call them lon,lat if they are degrees"
            )

    def _check_use(self, *, draws: bool) -> None:
        from groute_py.io.optional_libraries import library
        from groute_py.maps.snap import SNAPPING

        if self._read or self._pairs is not None:
            library("scipy.spatial", SNAPPING, "maps")
        elif self._where._replace(**DRAWN) != Where() or (not draws and self._where != Where()):
            raise InputError(
                "--coordinates, --planar, --snap, --snap-within and --access are for points "
                "FILE.csv or lon,lat"
            )


@dataclass(frozen=True, eq=False)
class OptionVertices:
    """Finds the vertices that an option names, once the graph is there."""

    ends: NamedVertices
    flag: str
    text: str
    role: str

    def __call__(self, whole: Graph) -> NDArray[Any]:
        return self.ends.vertices(self.flag, self.text, self.role, whole)

    @property
    def attributes(self) -> Mapping[str, NDArray[Any]]:
        """The attributes of points, by titles."""
        return self.ends.attributes(self.flag)
