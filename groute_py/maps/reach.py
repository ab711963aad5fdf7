"""The vertices, parts of arcs and areas within reach of sources, on the ground."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.graph.csr import Graph
from groute_py.maps.areas import Polygon, areas_of
from groute_py.maps.lines import Floats, Ground, Pieces, Watch, beelines, pieces_of, segments_of
from groute_py.maps.places import Places, Plane, plane_of, shapes_at
from groute_py.results.answer import JobAnswer

USUAL_MARGIN = 100.0  # the margin of areas about no arc at all


class Reach(NamedTuple):
    """The vertices within the last limit of one source, or of any of several."""

    source: int  # −1 for any
    vertices: NDArray[np.int64]  # (r,), ascending
    distances: NDArray[Any]  # (r,)
    # with turns: where each arc that leaves the vertices begins, (a,)
    arc_begins: NDArray[np.float64] | None = None

    def bands(self, limits: tuple[float, ...]) -> NDArray[np.int64]:
        """The number of the least limit within which each vertex is, int64, shape (r,)."""
        return np.searchsorted(np.array(limits), self.distances)


@dataclass(frozen=True, eq=False)
class Reaches(JobAnswer):
    """An answer of isochrones; `groute_py.Isochrones` describes the attributes."""

    sources: NDArray[np.int64]
    limits: tuple[float, ...]
    reaches: tuple[Reach, ...]
    reverse: bool
    places: Places | None
    graph: Graph = field(repr=False)


class ReachView:
    """The reaches of an answer on the ground: their parts of arcs, and their areas."""

    def __init__(self, answer: Reaches) -> None:
        self.answer, self.graph, self.limits = answer, answer.graph, answer.limits

    @cached_property
    def unit(self) -> str:
        """The unit of limits, "" where it is not known."""
        return self.graph.unit

    @cached_property
    def places(self) -> Places:
        """The places of the vertices; `InputError` without any."""
        if self.answer.places is None:
            raise InputError(
                f"{self.graph.name} has no coordinates; name a file of them (.co) by "
                "--coordinates, or coordinates= in Python"
            )
        return self.answer.places

    @cached_property
    def plane(self) -> Plane:
        """The plane on which all reaches are measured."""
        vertices = np.concatenate([reach.vertices for reach in self.answer.reaches])
        return plane_of(self.places, vertices)

    @cached_property
    def projected(self) -> Ground:
        """The ground of pieces on the plane."""
        return self._ground(self.plane.project, (1.0, 1.0))

    @cached_property
    def ground(self) -> Ground:
        """The ground of pieces in the coordinates of files."""
        return self._ground(self.plane.unwrapped, self.plane.scale)

    def _ground(self, placed: Callable[[Floats], Floats], scale: tuple[float, float]) -> Ground:
        shapes = shapes_at(self.graph, self.places)
        if shapes is not None:
            shapes = shapes._replace(points=placed(shapes.points))
            shapes = shapes.turned_round() if self.answer.reverse else shapes  # as pieces are
        return Ground(placed(self.places.coordinates), shapes, scale)

    def names(self, rows: NDArray[np.int64]) -> list[Any]:
        """The names of some sources, by their numbers: those of points, or else ids."""
        names = self.answer.attributes.get("source", {}).get("name")
        if names is None:
            names = self.graph.numbering.ids_of(self.answer.sources)
        return list(names[rows].tolist())

    def rows_of(self, reach: Reach) -> NDArray[np.int64]:
        """The numbers of the sources of a reach: of its own, or of all."""
        if reach.source < 0:
            return np.arange(len(self.answer.sources))
        return np.array([self._numbers[id(reach)]])

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {id(reach): number for number, reach in enumerate(self.answer.reaches)}

    def pieces(self, reach: Reach, watch: Watch | None = None) -> Pieces:
        """The parts of arcs within each limit; with ``reverse`` each part ends at its head."""
        distances, limits = reach.distances.astype(np.float64), np.array(self.limits, np.float64)
        pieces = pieces_of(self.graph, reach.vertices, distances, limits, reach.arc_begins, watch)
        return pieces.turned_round() if self.answer.reverse else pieces

    def areas(
        self,
        reach: Reach,
        margin: float | None,
        pieces: Pieces | None = None,
        watch: Watch | None = None,
    ) -> list[list[Polygon]]:
        """The area within each limit on the plane, see `groute_py.Isochrones.areas`."""
        ground, pieces = self.projected, self.pieces(reach) if pieces is None else pieces
        if margin is None:
            margin = float(np.median(beelines(pieces, ground))) if len(pieces) else 0.0
        segments = segments_of(pieces, ground)
        alone = np.repeat(ground.points[reach.vertices, np.newaxis], 2, axis=1)
        lines = np.concatenate([segments.ends, alone])
        bands = np.concatenate([pieces.bands[segments.pieces], reach.bands(self.limits)])
        finest = 0.0 if self.places.planar else 1.0  # degrees in files are to a centimetre
        margin = max(margin or USUAL_MARGIN, finest)
        return areas_of(lines, bands, len(self.limits), margin, watch)
