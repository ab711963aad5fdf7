"""A map of isochrones: roads, parts of arcs, areas and sources, on a plane; and as a PNG."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.graph.units import amount
from groute_py.maps.areas import Polygon
from groute_py.maps.lines import Floats, Ground, Pieces, beelines, segments_of, whole_arcs
from groute_py.maps.raster import Frame
from groute_py.maps.reach import Reach, ReachView
from groute_py.maps.sheet import GROUND, LONGEST, Sheet, band_colours, styled

MOST_NAMED = 3
"""Sources that a title names."""

EDGE = 0.03
"""The edge around the areas, by their longer side."""


@dataclass(frozen=True, eq=False)
class Layer:
    """The reach of one source, or of any, which has no name."""

    name: str
    sources: NDArray[np.float64]  # (k, 2)
    lines: list[NDArray[np.float64]]  # for each limit the segments of parts of arcs, (s, 2, 2)
    areas: list[list[Polygon]]  # for each limit, with those before


@dataclass(frozen=True, eq=False)
class IsochroneMap:
    """A map on a plane."""

    title: str
    labels: list[str]  # of the limits, ascending
    colours: list[str]
    low: NDArray[np.float64]  # (2,), the corner
    high: NDArray[np.float64]
    roads: NDArray[np.float64]  # the segments of all arcs on it, once for both ways, (s, 2, 2)
    road_length: float  # the mean distance between the ends of arcs
    layers: list[Layer]
    attribution: str
    metres: bool  # the unit of the plane is the metre


def map_of(view: ReachView, reaches: Iterable[Reach], margin: float | None) -> IsochroneMap:
    """The map of an answer that has coordinates, with areas of a margin, or None."""
    ground, count = view.projected, len(view.limits)
    layers = []
    for reach in reaches:
        pieces = _once(view.pieces(reach), ground)
        segments = segments_of(pieces, ground)
        bands = pieces.bands[segments.pieces]
        parts = [segments.ends[bands == band] for band in range(count)]
        some = view.rows_of(reach)
        text = "" if reach.source < 0 else str(*view.names(some))
        sources = view.answer.sources[some]
        layers.append(Layer(text, ground.points[sources], parts, view.areas(reach, margin)))
    low, high = _corners(layers)
    roads = _roads(view.graph, ground, low, high)
    lines = segments_of(roads, ground).ends
    is_inside = np.all((lines >= low) & (lines <= high), axis=(1, 2))
    return IsochroneMap(
        title=_title(view),
        labels=[amount(limit, view.unit) for limit in view.limits],
        colours=band_colours(count),
        low=low,
        high=high,
        roads=lines[is_inside],
        road_length=float(beelines(roads, ground).mean()) if len(roads) else 0.0,
        layers=layers,
        attribution=view.graph.attribution,
        metres=not view.places.planar,
    )


def write_picture(chart: IsochroneMap, file: IO[bytes]) -> None:
    """Draw a map by Matplotlib; `SetupError` if that is not installed."""
    frame = Frame.around(np.array([chart.low, chart.high]), LONGEST)
    with styled():
        sheet = Sheet(frame, chart.title, "")
        sheet.lines(frame.at(chart.roads), GROUND, 0.3)
        bands = list(enumerate(chart.colours))[::-1]  # the nearest on top
        for band, colour in bands:
            for layer in chart.layers:
                inner = layer.areas[band - 1] if band else []
                if layer.areas[band]:
                    sheet.area(_rings(frame, layer.areas[band], inner), colour)
        for band, colour in bands:
            for layer in chart.layers:
                sheet.lines(frame.at(layer.lines[band]), colour, 0.6)
        for layer in chart.layers:
            sheet.dots(frame.at(layer.sources))
        labels = [f"within {label}" for label in chart.labels]
        sheet.legend(list(zip(chart.colours, labels, strict=True)))
        sheet.add_attribution(chart.attribution)
        sheet.figure.savefig(file, format="png")


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


def _title(view: ReachView) -> str:
    count, way = len(view.answer.sources), "to" if view.answer.reverse else "from"
    few = ", ".join(map(str, view.names(np.arange(count)))) if count <= MOST_NAMED else ""
    return f"{view.graph.name}: within reach {way} {few or f'{count:,} vertices'}"


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


def _rings(frame: Frame, area: list[Polygon], inner: list[Polygon]) -> list[Floats]:
    """The rings of an area without that inside of it, which are turned to stay empty."""
    rings = [ring for polygon in area for ring in polygon]
    rings += [ring[::-1] for polygon in inner for ring in polygon]
    return [frame.at(ring) for ring in rings]
