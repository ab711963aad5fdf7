"""What a map of isochrones has on it: roads, parts of arcs, areas and sources, on a plane."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groute_py.maps.areas import Polygon
from groute_py.maps.colours import colours
from groute_py.maps.pieces import Pieces, whole_arcs
from groute_py.maps.segments import Ground, beelines, segments_of

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
        lines: for each limit the segments of parts of arcs, float64, shape (s, 2, 2).
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
        roads: the segments of all arcs on it, one of those back and forth, float64, shape
            (s, 2, 2).
        road_length: the mean distance between the ends of these arcs; 0 without any.
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
    road_length: float
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
    ground = found.projected_ground(plane)
    layers = []
    for reach in reaches:
        pieces = _once(found.pieces(reach), ground)
        segments = segments_of(pieces, ground)
        bands = pieces.bands[segments.pieces]
        parts = [segments.ends[bands == band] for band in range(len(found.limits))]
        areas = found.projected_areas(reach, plane, margin)
        sources = found.sources if reach.source < 0 else np.array([reach.source])
        layers.append(Layer(_name(found, reach), ground.points[sources], parts, areas))
    low, high = _corners(layers)
    roads = _roads(found.graph, ground, low, high)
    lines = segments_of(roads, ground).ends
    is_on_it = np.all((lines >= low) & (lines <= high), axis=(1, 2))
    return Sheet(
        title=_title(found),
        labels=[f"{limit:,.12g}" for limit in found.limits],
        colours=colours(len(found.limits)),
        low=low,
        high=high,
        roads=lines[is_on_it],
        road_length=float(beelines(roads, ground).mean()) if len(roads) else 0.0,
        layers=layers,
        attribution=found.attribution,
        metres=not found.places.planar,
    )


def _name(found: Isochrones, reach: Reach) -> str:
    name = found.name_of(reach)
    return "" if name is None else str(name)


def _once(pieces: Pieces, ground: Ground) -> Pieces:
    """The parts, with one of two arcs back and forth that are whole and within one limit."""
    whole = (pieces.begins == 0) & (pieces.ends == 1)
    number = np.where(whole, -1, np.arange(len(pieces)))
    return pieces.some(np.sort(_first_of_each([*_road(pieces, ground), number, pieces.bands])))


def _road(arcs: Pieces, ground: Ground) -> list[NDArray[np.int64]]:
    """Numbers, shape (p,) each, that are the same for arcs back and forth on one road only."""
    ends = [np.minimum(arcs.tails, arcs.heads), np.maximum(arcs.tails, arcs.heads)]
    if ground.shapes is None:
        return ends
    lines = ground.shapes.lines[arcs.arcs]
    return [*ends, np.where(lines < 0, ~lines, lines)]


def _first_of_each(columns: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The first of all rows that are the same."""
    order = np.lexsort(columns[::-1])
    differs = np.zeros(len(order), np.bool_)
    differs[:1] = True
    for column in columns:
        differs[1:] |= np.diff(column[order]) != 0
    return order[differs]


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
    graph: Graph, ground: Ground, low: NDArray[np.float64], high: NDArray[np.float64]
) -> Pieces:
    """The whole arcs of which both ends are on the map, one of those back and forth."""
    inside = np.all((ground.points >= low) & (ground.points <= high), axis=1)
    tails = graph.tails()
    has_extent = (tails != graph.heads) | (ground.shapes is not None)
    some = np.flatnonzero(inside[tails] & inside[graph.heads] & has_extent)
    arcs = whole_arcs(tails[some], graph.heads[some], some)
    return arcs.some(_first_of_each(_road(arcs, ground)))
