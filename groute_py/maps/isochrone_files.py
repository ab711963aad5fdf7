"""The files of isochrones: one function a form, and which suffix stands for which."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from groute_py.errors import InputError, quote
from groute_py.graph.units import amount, shown, titled
from groute_py.io.optional_libraries import library
from groute_py.maps import geojson
from groute_py.maps.areas import check_areas
from groute_py.maps.geojson import SUFFIX, Feature
from groute_py.maps.isochrone_map import map_of, page_of, write_picture
from groute_py.maps.lines import Pieces, segments_of
from groute_py.maps.page import PAGE, check_tiles, ground_layer, write_page
from groute_py.maps.reach import Reach, Reaches, ReachView
from groute_py.results import tables
from groute_py.results.tables import Column, TableColumns
from groute_py.system.atomic_file import replacing, translating_errors

MAPS = (PAGE, ".png")  # forms that draw everything
FEATURES = ("vertices", "arcs", "bands")  # features that the other forms may list

Listing = Callable[[ReachView, Reach], Iterator[Feature]]  # lists the features of a reach

Progress = Callable[[int, int], object]
"""A function that is called with the number of reaches that are done, and of all."""


def check_form(
    path: Path, features: str | None, tiles: str | None = None, *, planar: bool = False
) -> str:
    """Return what a file will list; raise an error now if it could not be written later."""
    suffix = path.suffix
    tables.check_table(path, (SUFFIX, *MAPS))
    check_tiles(path, tiles, planar=planar)
    listed = {**dict.fromkeys(tables.SUFFIXES, FEATURES[:2]), SUFFIX: FEATURES}.get(suffix, ())
    usual = "bands" if suffix == SUFFIX else "vertices"
    if features is not None and features not in listed:
        may = f"lists {' or '.join(listed)}" if listed else "shows everything"
        raise InputError(f"{path}: {suffix} {may}; it has no features {quote(features)}")
    if suffix in MAPS or (features or usual) == "bands":
        check_areas()
    if suffix == ".png":
        library("matplotlib", "drawing a picture", "maps")
    return features or usual


def needs_places(path: Path) -> bool:
    """Return True if a file of that suffix has to have coordinates."""
    return path.suffix not in tables.SUFFIXES


def write(
    answer: Reaches,
    path: Path,
    features: str,
    margin: float | None,
    progress: Progress | None = None,
    tiles: str | None = None,
) -> None:
    """Write an answer into a file, whose features are those of `check_form`."""
    view, reaches = ReachView(answer), _followed(answer, progress)
    if path.suffix in tables.SUFFIXES:
        rows = _vertex_rows if features == "vertices" else _arc_rows
        parts = (tables.with_units(rows(view, reach), view.graph.units) for reach in reaches)
        tables.write_table(path, parts, answer.graph.attribution)
    elif path.suffix == SUFFIX:
        bands = partial(_bands, margin=margin)
        list_of: dict[str, Listing] = {"vertices": _points, "arcs": _lines, "bands": bands}
        every = (feature for reach in reaches for feature in list_of[features](view, reach))
        geojson.write_features(path, every, answer.graph.attribution)
    else:
        chart = map_of(view, reaches, margin)
        with translating_errors(path), replacing(path) as file:
            if path.suffix == PAGE:
                ground = ground_layer(tiles, planar=view.places.planar)
                write_page(page_of(chart, has_roads=ground is None), ground, file)
            else:
                write_picture(chart, file)


def bands_of(answer: Reaches) -> dict[str, Any]:
    """The areas within each limit, with the usual margin, as `collection`."""
    check_areas()
    view = ReachView(answer)
    bands = (feature for reach in answer.reaches for feature in _bands(view, reach))
    return geojson.collection(bands, answer.graph.attribution)


def _followed(answer: Reaches, progress: Progress | None) -> Iterator[Reach]:
    for done, reach in enumerate(answer.reaches, 1):
        yield reach
        if progress is not None:
            progress(done, len(answer.reaches))


def vertices_of(answer: Reaches, reaches: Sequence[Reach]) -> TableColumns:
    """Return the vertices within some reaches, one after the other."""
    view = ReachView(answer)
    parts = [_vertex_rows(view, reach) for reach in reaches]
    return {title: tables.joined([part[title] for part in parts]) for title in parts[0]}


def _vertex_rows(view: ReachView, reach: Reach) -> TableColumns:
    part = _source(view, reach, len(reach.vertices)) | {
        "vertex": Column(view.graph.numbering.ids_of(reach.vertices)),
        "distance": Column(reach.distances, sums=""),
        "limit": Column(np.array(view.limits)[reach.bands(view.limits)], sums=""),
    }
    if view.answer.places is not None:
        axes = view.places.coordinates[reach.vertices].T
        columns = zip(view.places.titles, axes, strict=True)
        part |= {title: Column(np.ascontiguousarray(values)) for title, values in columns}
    return part


def _arc_rows(view: ReachView, reach: Reach) -> TableColumns:
    pieces = view.pieces(reach)
    part = _arc_columns(view, reach, pieces)
    if view.answer.places is not None:
        ends = segments_of(pieces, view.ground).outer()
        for place, end in enumerate(("begin", "end")):
            for axis, title in enumerate(view.places.titles):
                part[f"{end}_{title}"] = Column(np.ascontiguousarray(ends[:, place, axis]))
    return part


def _arc_columns(view: ReachView, reach: Reach, pieces: Pieces) -> TableColumns:
    numbering = view.graph.numbering
    return _source(view, reach, len(pieces)) | {
        "tail": Column(numbering.ids_of(pieces.tails)),
        "head": Column(numbering.ids_of(pieces.heads)),
        "limit": Column(np.array(view.limits)[pieces.bands], sums=""),
        "begin": Column(pieces.begins),
        "end": Column(pieces.ends),
    }


def _source(view: ReachView, reach: Reach, count: int) -> TableColumns:
    """The columns of the source, where each has a reach of its own."""
    if reach.source < 0:
        return {}
    ids = Column(view.graph.numbering.ids_of(np.full(count, reach.source)))
    rows = np.repeat(view.rows_of(reach), count)
    return {"source": ids, **tables.beside(view.answer.attributes, source=rows)}


def _bands(view: ReachView, reach: Reach, margin: float | None = None) -> Iterator[Feature]:
    """The areas, the greatest first, so that a map shows all of them."""
    planar, source = view.places.planar, next(tables.records(_source(view, reach, 1)), {})
    areas, unproject = view.areas(reach, margin), view.plane.unproject
    for limit, polygons in reversed(list(zip(view.limits, areas, strict=True))):
        shape = geojson.rings_in((map(unproject, polygon) for polygon in polygons), planar=planar)
        of_limit: dict[str, Any] = {"limit": limit}
        if view.unit:
            of_limit = {
                titled("limit", view.unit): shown(limit, view.unit),
                "label": amount(limit, view.unit),
            }
        yield "MultiPolygon", shape, {**source, **of_limit}


def _points(view: ReachView, reach: Reach) -> Iterator[Feature]:
    """The vertices; the last two columns of their table are coordinates."""
    places, part = view.places, _vertex_rows(view, reach)
    points = np.stack([part.pop(title).values for title in places.titles], axis=1)
    shapes = geojson.coordinates_in(points, planar=places.planar)
    for shape, row in zip(
        shapes, tables.records(tables.with_units(part, view.graph.units)), strict=True
    ):
        yield "Point", shape, row


def _lines(view: ReachView, reach: Reach) -> Iterator[Feature]:
    """The parts of arcs, along their shapes."""
    pieces = view.pieces(reach)
    segments = segments_of(pieces, view.ground)
    corners = geojson.coordinates_in(segments.ends, planar=view.places.planar)
    firsts = [*segments.firsts().tolist(), len(corners)]
    rows = tables.records(tables.with_units(_arc_columns(view, reach, pieces), view.graph.units))
    for (first, stop), row in zip(pairwise(firsts), rows, strict=True):
        some = corners[first:stop]
        yield "LineString", [some[0][0], *(end for _, end in some)], row
