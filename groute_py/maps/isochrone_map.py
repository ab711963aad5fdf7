"""A map of isochrones: roads, parts of arcs, areas and sources; as a picture and as a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.graph.units import amount
from groute_py.maps.areas import Polygon
from groute_py.maps.geojson import Feature
from groute_py.maps.lines import Ground, Pieces, segments_of, whole_arcs
from groute_py.maps.page import MapLayer, MapPage
from groute_py.maps.places import Plane
from groute_py.maps.raster import Frame
from groute_py.maps.reach import Reach, ReachView
from groute_py.maps.sheet import GROUND, LONGEST, Sheet, band_colours, styled

MOST_NAMED = 3  # sources that a title names

MOST_LINES, WITHOUT_GROUND = 20_000, 200_000
"""Straight lines on a page; more would hide the ground, or be slow, and it has areas alone."""

DOT = {"color": "#111111", "weight": 2, "fillColor": "#ffffff", "fillOpacity": 1}
"""The look of a source on a page."""

DASH = 4  # the length of a dash of edges: points of a picture, pixels of a page
EDGE = 0.03  # the edge around the areas, by their longer side


@dataclass(frozen=True, eq=False)
class Layer:
    """The reach of one source, or of any of several."""

    names: list[str]  # of the sources
    sources: NDArray[np.float64]  # (k, 2)
    lines: list[NDArray[np.float64]]  # for each limit the segments of parts of arcs, (s, 2, 2)
    areas: list[list[Polygon]]  # for each limit, with those before

    def rings(self, band: int) -> list[NDArray[np.float64]]:
        """The rings about what is within a limit; none of −1."""
        return [ring for polygon in self.areas[band] for ring in polygon] if band >= 0 else []

    def adds(self, band: int) -> bool:
        """Return True if a limit's area is not that of the limit before."""
        area = self.areas[band]
        return len(area) > 0 and not (band and area is self.areas[band - 1])


@dataclass(frozen=True, eq=False)
class IsochroneMap:
    """A map on a plane."""

    title: str
    labels: list[str]  # of the limits, ascending
    colours: list[str]
    low: NDArray[np.float64]  # (2,), the corner
    high: NDArray[np.float64]
    roads: NDArray[np.float64]  # the segments of all arcs on it, once for both ways, (s, 2, 2)
    layers: list[Layer]
    attribution: str
    plane: Plane

    def located(self, points: NDArray[np.float64]) -> Any:
        """The coordinates of points, (…, 2), as lists, to a millionth of the map's side or so."""
        low, high = self.plane.unproject(np.stack([self.low, self.high]))
        digits = 6 - int(np.floor(np.log10((high - low).max())))
        return self.plane.unproject(points).round(digits).tolist()

    def gap(self, band: int) -> int:
        """The length between dashes of an edge, wider for the nearer ones, which lie on top."""
        return DASH * (len(self.labels) - 1 - band)

    @property
    def legend(self) -> list[tuple[str, str]]:
        """Colours and texts; a text says if its limit adds nothing to the one before."""
        texts = [f"within {label}" for label in self.labels]
        for band in range(1, len(texts)):
            if not any(layer.adds(band) for layer in self.layers):
                texts[band] += ": no more"
        return list(zip(self.colours, texts, strict=True))


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
        names, spots = map(str, view.names(some)), ground.points[view.answer.sources[some]]
        layers.append(Layer(list(names), spots, parts, view.areas(reach, margin)))
    low, high = _corners(layers)
    lines = segments_of(_roads(view.graph, ground, low, high), ground).ends
    is_inside = np.all((lines >= low) & (lines <= high), axis=(1, 2))
    return IsochroneMap(
        title=_title(view),
        labels=[amount(limit, view.unit) for limit in view.limits],
        colours=band_colours(count),
        low=low,
        high=high,
        roads=lines[is_inside],
        layers=layers,
        attribution=view.graph.attribution,
        plane=view.plane,
    )


def write_picture(chart: IsochroneMap, file: IO[bytes]) -> None:
    """Draw a map by Matplotlib; `SetupError` if that is not installed."""
    frame = Frame.around(np.array([chart.low, chart.high]), LONGEST)
    with styled():
        sheet = Sheet(frame, chart.title, "")
        sheet.lines(frame.at(chart.roads), GROUND, 0.3)
        bands = list(enumerate(chart.colours))[::-1]
        for band, colour in bands:
            for layer in chart.layers:
                if layer.adds(band):
                    rings = layer.rings(band) + [ring[::-1] for ring in layer.rings(band - 1)]
                    sheet.area([frame.at(ring) for ring in rings], colour)
        for band, colour in bands:
            for layer in chart.layers:
                if layer.adds(band):
                    edges = [frame.at(ring) for ring in layer.rings(band)]
                    sheet.edges(edges, colour, DASH, chart.gap(band))
        for band, colour in bands:
            for layer in chart.layers:
                sheet.lines(frame.at(layer.lines[band]), colour, 0.6)
        for layer in chart.layers:
            sheet.dots(frame.at(layer.sources))
        sheet.legend(chart.legend)
        sheet.add_attribution(chart.attribution)
        sheet.figure.savefig(file, format="png")


def page_of(chart: IsochroneMap, *, has_roads: bool) -> MapPage:
    """The page of a map: a layer for each limit, or of several reaches for each source.

    What is nearer lies on top.
    """
    is_one = len(chart.layers) == 1
    count = sum(len(lines) for layer in chart.layers for lines in layer.lines)
    most = WITHOUT_GROUND if has_roads else MOST_LINES
    has_lines = count + has_roads * len(chart.roads) <= most
    layers = []
    if has_roads and has_lines and len(chart.roads):
        roads = chart.located(chart.roads), {"style": {"color": GROUND, "weight": 1}}
        layers.append(MapLayer("roads", [("MultiLineString", *roads)]))
    sources: list[Feature] = []
    for layer in chart.layers:
        bands = [
            _band(chart, layer, band, {} if is_one else {"from": layer.names[0]}, has_lines)
            for band in range(len(chart.labels))
        ]
        if is_one:
            named = list(zip((text for _, text in chart.legend), bands, strict=True))
            layers += [MapLayer(text, band) for text, band in named[::-1] if band]
        else:
            every = [feature for band in bands[::-1] for feature in band]
            layers.append(MapLayer(f"from {layer.names[0]}", every, layer is chart.layers[0]))
        for place, name in zip(chart.located(layer.sources), layer.names, strict=True):
            sources.append(("Point", place, {"source": name, "style": DOT}))
    layers.append(MapLayer("sources", sources))
    more = [] if has_lines else [("none", f"areas only, of {count:,} parts of roads")]
    planar = chart.plane.centre is None
    return MapPage(chart.title, layers, chart.legend + more, chart.attribution, planar)


def _band(
    chart: IsochroneMap, layer: Layer, band: int, row: dict[str, Any], has_lines: bool
) -> list[Feature]:
    """The features of a limit: its area without the one before, its edge, and parts of arcs.

    Of the edges of several limits in one place all can be seen.
    """
    if not layer.adds(band):
        return []
    colour, row = chart.colours[band], row | {"within": chart.labels[band]}
    edge, inner = ([chart.located(r) for r in layer.rings(b)] for b in (band, band - 1))
    area = [edge + inner]  # Leaflet leaves out what an even number of rings surrounds
    dashes = {"dashArray": f"{DASH} {gap}"} if (gap := chart.gap(band)) else {}
    styles: list[tuple[str, Any, dict[str, Any]]] = [
        ("MultiPolygon", area, {"stroke": False, "fillColor": colour, "fillOpacity": 0.35}),
        ("MultiLineString", edge, {"color": colour, "weight": 2, **dashes}),
    ]
    if has_lines and len(layer.lines[band]):
        lines = chart.located(layer.lines[band])
        styles.append(("MultiLineString", lines, {"color": colour, "weight": 1}))
    return [(kind, where, row | {"style": style}) for kind, where, style in styles]


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
