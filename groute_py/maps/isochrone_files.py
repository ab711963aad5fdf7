"""The files of isochrones: one function a form, and which suffix stands for which."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groute_py.errors import InputError, quote
from groute_py.io.optional_libraries import library
from groute_py.maps.areas import check_areas
from groute_py.maps.geojson import SUFFIX, Feature, coordinates_in, write_features
from groute_py.maps.isochrone_map import Sheet, sheet_of
from groute_py.maps.pieces import Pieces
from groute_py.maps.segments import segments_of
from groute_py.results.tables import SUFFIXES as TABLES
from groute_py.results.tables import Column, Part, write_table
from groute_py.system.atomic_file import check_writable

if TYPE_CHECKING:
    from groute_py.jobs.isochrones import Isochrones, Reach
    from groute_py.many.apsp import Progress

MAPS = (".html", ".png")
"""The forms that draw everything."""

FEATURES = ("vertices", "arcs", "bands")
"""What the others may list."""


def check_form(path: Path, features: str | None) -> str:
    """What a file will list; raises an error now if it could not be written later.

    Raises:
        InputError: its suffix or the features are unknown, or no file can be written there.
        RunError: the disk is full.
        SetupError: the form needs a library that is not installed.
    """
    suffix, known = path.suffix, (*TABLES, SUFFIX, *MAPS)
    if suffix not in known:
        raise InputError(f"{path}: unknown suffix {quote(suffix)}; saved are {', '.join(known)}")
    listed = {**dict.fromkeys(TABLES, FEATURES[:2]), SUFFIX: FEATURES}.get(suffix, ())
    usual = "bands" if suffix == SUFFIX else "vertices"
    if features is not None and features not in listed:
        may = f"lists {' or '.join(listed)}" if listed else "shows everything"
        raise InputError(f"{path}: {suffix} {may}; it has no features {quote(features)}")
    if suffix == ".parquet":
        library("pyarrow", "writing Parquet")
    if suffix in MAPS or (features or usual) == "bands":
        check_areas()
    if suffix == ".png":
        library("matplotlib", "drawing a picture", "maps")
    check_writable(path)
    return features or usual


def needs_places(path: Path) -> bool:
    """Whether a file of that suffix has to have coordinates."""
    return path.suffix not in TABLES


def write(
    found: Isochrones,
    path: Path,
    features: str,
    margin: float | None,
    progress: Progress | None = None,
) -> None:
    """Write an answer.

    Args:
        found: the answer.
        path: with one of the suffixes.
        features: of `check_form`.
        margin: of areas, or None.
        progress: is given how many reaches are done with, and how many there are.
    """
    reaches = found.followed(progress)
    if path.suffix in TABLES:
        rows = _vertex_rows if features == "vertices" else _arc_rows
        write_table(path, (rows(found, reach) for reach in reaches), found.attribution)
    elif path.suffix == SUFFIX:
        found.plane()  # which needs coordinates
        write_features(path, _features(found, reaches, features, margin), found.attribution)
    else:
        _draw(sheet_of(found, reaches, margin), path)


def _draw(sheet: Sheet, path: Path) -> None:
    """Write a map in one of the forms that draw everything."""
    if path.suffix == ".html":
        from groute_py.maps.page import write_page

        write_page(sheet, path)
    else:
        from groute_py.maps.picture import write_picture

        write_picture(sheet, path)


def _vertex_rows(found: Isochrones, reach: Reach) -> Part:
    numbering = found.graph.numbering
    part = _source(found, reach, len(reach.vertices)) | {
        "vertex": Column(numbering.ids_of(reach.vertices)),
        "distance": Column(reach.distances),
        "limit": Column(np.array(found.limits)[found.bands(reach)]),
    }
    if found.places is not None:
        columns = zip(found.places.titles, found.places.coordinates[reach.vertices].T, strict=True)
        part |= {title: Column(np.ascontiguousarray(values)) for title, values in columns}
    return part


def _arc_rows(found: Isochrones, reach: Reach) -> Part:
    pieces = found.pieces(reach)
    part = _arc_columns(found, reach, pieces)
    if found.places is not None:
        ends = segments_of(pieces, found.ground()).outer()
        for place, end in enumerate(("begin", "end")):
            for axis, title in enumerate(found.places.titles):
                part[f"{end}_{title}"] = Column(np.ascontiguousarray(ends[:, place, axis]))
    return part


def _arc_columns(found: Isochrones, reach: Reach, pieces: Pieces) -> Part:
    numbering = found.graph.numbering
    return _source(found, reach, len(pieces)) | {
        "tail": Column(numbering.ids_of(pieces.tails)),
        "head": Column(numbering.ids_of(pieces.heads)),
        "limit": Column(np.array(found.limits)[pieces.bands]),
        "begin": Column(pieces.begins),
        "end": Column(pieces.ends),
    }


def _source(found: Isochrones, reach: Reach, count: int) -> Part:
    """The column of the source, where each has a reach of its own."""
    if reach.source < 0:
        return {}
    return {"source": Column(found.graph.numbering.ids_of(np.full(count, reach.source)))}


def _features(
    found: Isochrones, reaches: Iterator[Reach], features: str, margin: float | None
) -> Iterator[Feature]:
    for reach in reaches:
        name = found.name_of(reach)
        source = {} if name is None else {"source": name}
        if features == "bands":
            yield from _bands(found, reach, source, margin)
        elif features == "vertices":
            yield from _points(found, reach)
        else:
            yield from _lines(found, reach)


def _bands(
    found: Isochrones, reach: Reach, source: dict[str, Any], margin: float | None
) -> Iterator[Feature]:
    """The areas, the greatest first, so that a map shows all of them."""
    planar = found.places is not None and found.places.planar
    areas = found.areas(reach, margin)
    for limit, polygons in reversed(list(zip(found.limits, areas, strict=True))):
        shape = [[coordinates_in(ring, planar=planar) for ring in polygon] for polygon in polygons]
        yield "MultiPolygon", shape, {**source, "limit": limit}


def _points(found: Isochrones, reach: Reach) -> Iterator[Feature]:
    """The vertices; the last two columns of their table are coordinates."""
    assert found.places is not None
    part = _vertex_rows(found, reach)
    points = np.stack([part.pop(title).values for title in found.places.titles], axis=1)
    shapes = coordinates_in(points, planar=found.places.planar)
    for shape, row in zip(shapes, _rows(part), strict=True):
        yield "Point", shape, row


def _lines(found: Isochrones, reach: Reach) -> Iterator[Feature]:
    """The parts of arcs, along their shapes."""
    assert found.places is not None
    pieces = found.pieces(reach)
    segments = segments_of(pieces, found.ground())
    corners = coordinates_in(segments.ends, planar=found.places.planar)
    firsts = [*segments.firsts().tolist(), len(corners)]
    rows = _rows(_arc_columns(found, reach, pieces))
    for (first, stop), row in zip(pairwise(firsts), rows, strict=True):
        some = corners[first:stop]
        yield "LineString", [some[0][0], *(end for _, end in some)], row


def _rows(part: Part) -> Iterator[dict[str, Any]]:
    columns = (column.values.tolist() for column in part.values())
    return (dict(zip(part, row, strict=True)) for row in zip(*columns, strict=True))
