"""What lies within limits of some sources, as the members of a JSON object of bounded size."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from groute_py.errors import InputError
from groute_py.jobs.isochrones import Isochrones, Reach
from groute_py.jobs.maps.geojson import coordinates_in

ASKS = ("arcs", "areas")
"""What is listed on request, beside the vertices."""

MOST_LIMITS = 1000
"""Of one question; each limit takes a pass over what is within reach."""

MOST_ENTRIES = 100_000
"""Vertices, parts of arcs and corners of areas in one answer: a few MB of JSON."""


def members_of(found: Isochrones, asked: Collection[str]) -> dict[str, Any]:
    """The members of an answer: ``vertices``, ``distances``, and what is asked for.

    Args:
        found: of any of the sources.
        asked: some of `ASKS`.

    Raises:
        InputError: the answer has more than `MOST_ENTRIES`, or areas without coordinates are asked
            for.
        SetupError: areas need a library that is not installed.
    """
    (reach,) = found.reaches
    entries = _added(0, len(reach.vertices))
    members: dict[str, Any] = {
        "vertices": found.graph.numbering.ids_of(reach.vertices).tolist(),
        "distances": reach.distances.tolist(),
    }
    if "arcs" in asked:
        members["arcs"] = arcs = _arcs(found, reach, entries)
        entries += len(arcs)
    if "areas" in asked:
        members["areas"] = _areas(found, reach, entries)
    return members


def _arcs(found: Isochrones, reach: Reach, entries: int) -> list[dict[str, Any]]:
    """The parts of arcs within each limit and not within the one before."""
    numbering, pieces = found.graph.numbering, found.pieces(reach)
    _added(entries, len(pieces))
    columns = zip(
        numbering.ids_of(pieces.tails).tolist(),
        numbering.ids_of(pieces.heads).tolist(),
        [found.limits[band] for band in pieces.bands.tolist()],
        pieces.begins.tolist(),
        pieces.ends.tolist(),
        strict=True,
    )
    names = ("tail", "head", "limit", "begin", "end")
    return [dict(zip(names, row, strict=True)) for row in columns]


def _areas(found: Isochrones, reach: Reach, entries: int) -> list[dict[str, Any]]:
    """For each limit the area within it, a MultiPolygon of GeoJSON."""
    areas = found.areas(reach)
    planar = found.places is not None and found.places.planar
    for polygons in areas:
        entries = _added(entries, sum(len(ring) for polygon in polygons for ring in polygon))
    shapes = [
        [[coordinates_in(ring, planar=planar) for ring in polygon] for polygon in polygons]
        for polygons in areas
    ]
    return [
        {"limit": limit, "type": "MultiPolygon", "coordinates": shape}
        for limit, shape in zip(found.limits, shapes, strict=True)
    ]


def _added(entries: int, more: int) -> int:
    """The entries of an answer with some more.

    Raises:
        InputError: they are too many.
    """
    if entries + more > MOST_ENTRIES:
        raise InputError(
            f"{entries + more:,} vertices, arcs and corners are within reach; an answer lists up "
            f"to {MOST_ENTRIES:,}. Ask for a lesser limit, or write a file by groute-py isochrone"
        )
    return entries + more
