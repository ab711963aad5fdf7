"""What a map of isochrones has on it: roads, parts of arcs, areas and sources, on a plane."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groute_py.jobs.maps.areas import Polygon
from groute_py.jobs.maps.colours import colours
from groute_py.jobs.maps.pieces import Pieces

if TYPE_CHECKING:
    from groute_py.graph.csr import Graph
    from groute_py.jobs.isochrones import Isochrones, Reach

EDGE = 0.03
"""Of the longer side of what is within reach, which a map has around it."""


@dataclass(frozen=True, eq=False)
class Layer:
    """What is within reach of one source, or of any.

    Attributes:
        name: of the source; empty for any.
        sources: float64, shape (k, 2), where it begins.
        lines: for each limit the parts of arcs, float64, shape (p, 2, 2).
        areas: for each limit its area, which holds those before.
    """

    name: str
    sources: NDArray[np.float64]
    lines: list[NDArray[np.float64]]
    areas: list[list[Polygon]]


@dataclass(frozen=True, eq=False)
class Sheet:
    """A map.

    Attributes:
        title: what it is of.
        labels: of the limits, ascending.
        colours: likewise.
        low, high: float64, shape (2,), its corners.
        roads: all arcs on it, one of those back and forth, float64, shape (m, 2, 2).
        layers: at least one.
        attribution: what is to be said of the data, if anything.
        metres: whether the unit of the plane is the metre.
    """

    title: str
    labels: list[str]
    colours: list[str]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    roads: NDArray[np.float64]
    layers: list[Layer]
    attribution: str
    metres: bool


def sheet_of(found: Isochrones, reaches: Iterable[Reach], margin: float | None) -> Sheet:
    """The map of an answer that has coordinates.

    Args:
        found: the answer.
        reaches: its reaches.
        margin: of areas, or None.
    """
    plane = found.plane()
    assert found.places is not None
    points = plane.project(found.places.coordinates)
    layers = []
    for reach in reaches:
        pieces = _once(found.pieces(reach), found.graph.vertex_count)
        lines = pieces.lines(points)
        parts = [lines[pieces.bands == band] for band in range(len(found.limits))]
        areas = found.projected_areas(reach, plane, margin)
        sources = found.sources if reach.source < 0 else np.array([reach.source])
        layers.append(Layer(_name(found, reach), points[sources], parts, areas))
    low, high = _corners(layers)
    return Sheet(
        title=_title(found),
        labels=[f"{limit:,.12g}" for limit in found.limits],
        colours=colours(len(found.limits)),
        low=low,
        high=high,
        roads=_roads(found.graph, points, low, high),
        layers=layers,
        attribution=found.attribution,
        metres=not found.places.planar,
    )


def _name(found: Isochrones, reach: Reach) -> str:
    name = found.name_of(reach)
    return "" if name is None else str(name)


def _once(pieces: Pieces, vertex_count: int) -> Pieces:
    """The parts, with one of two arcs back and forth that are whole and within one limit."""
    whole = (pieces.begins == 0) & (pieces.ends == 1)
    edges = _edges(pieces.tails, pieces.heads, vertex_count)
    keys = np.stack([np.where(whole, edges, -1 - np.arange(len(pieces))), pieces.bands], axis=1)
    _, kept = np.unique(keys, axis=0, return_index=True)
    return pieces.some(np.sort(kept))


def _edges(
    tails: NDArray[np.int64], heads: NDArray[np.int64], vertex_count: int
) -> NDArray[np.int64]:
    """A number for each pair of vertices, the same for both directions."""
    return np.minimum(tails, heads) * vertex_count + np.maximum(tails, heads)


def _title(found: Isochrones) -> str:
    ids = found.graph.numbering.ids_of(found.sources[:3]).tolist()
    few = len(found.sources) <= len(ids)
    named = ", ".join(map(str, ids)) if few else f"{len(found.sources):,} vertices"
    return f"{found.graph.name}: within reach {'to' if found.reverse else 'from'} {named}"


def _corners(layers: list[Layer]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rings = [polygon[0] for layer in layers for band in layer.areas for polygon in band]
    low = np.min([ring.min(axis=0) for ring in rings], axis=0)
    high = np.max([ring.max(axis=0) for ring in rings], axis=0)
    edge = EDGE * float((high - low).max())
    return low - edge, high + edge


def _roads(
    graph: Graph,
    points: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The arcs of which both ends are on the map."""
    inside = np.all((points >= low) & (points <= high), axis=1)
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    some = np.flatnonzero(inside[tails] & inside[graph.heads] & (tails != graph.heads))
    heads = graph.heads[some].astype(np.int64)
    edges = np.unique(_edges(tails[some], heads, graph.vertex_count))
    return np.asarray(points[np.stack(np.divmod(edges, graph.vertex_count), axis=1)])
