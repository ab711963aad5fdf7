"""What lies within limits of some sources, as the members of a JSON object of bounded size."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

from groute_py.errors import InputError, too_late
from groute_py.jobs.isochrones import Isochrones
from groute_py.maps.geojson import coordinates_in
from groute_py.maps.pieces import Pieces
from groute_py.maps.reach import Reach

ASKS = ("arcs", "areas")
"""What is listed on request, beside the vertices."""

MOST_LIMITS = 1000
"""Of one question; each limit takes a pass over what is within reach."""

MOST_ENTRIES = 100_000
"""Vertices, parts of arcs and corners of areas in one answer: a few MB of JSON."""


MOST_PIECES = 10_000_000
"""Parts of arcs about which areas are drawn: half a GB."""


def members_of(found: Isochrones, asked: Collection[str], deadline: float) -> dict[str, Any]:
    """The members of an answer: ``vertices``, ``distances``, and what is asked for.

    Args:
        found: of any of the sources.
        asked: some of `ASKS`.
        deadline: `time.monotonic` at which to give up, between two limits.

    Raises:
        InputError: the answer has more than `MOST_ENTRIES`, or areas without coordinates are asked
            for, or about too many parts of arcs.
        SetupError: areas need a library that is not installed.
        TimeLimitError: the deadline has passed.
    """
    (reach,) = found.reaches
    entries = _added(0, len(reach.vertices))
    members: dict[str, Any] = {
        "vertices": found.graph.numbering.ids_of(reach.vertices).tolist(),
        "distances": reach.distances.tolist(),
    }
    if not asked:
        return members
    pieces = _pieces(found, reach, entries if "arcs" in asked else None, deadline)
    if "arcs" in asked:
        members["arcs"] = _arcs(found, pieces)
        entries += len(pieces)
    if "areas" in asked:
        members["areas"] = _areas(found, reach, pieces, entries, deadline)
    return members


def _pieces(found: Isochrones, reach: Reach, entries: int | None, deadline: float) -> Pieces:
    """The parts of arcs within each limit, counted among the entries of the answer if these are
    given.
    """

    def watch(count: int) -> None:
        _refuse_late(deadline)
        if entries is not None:
            _added(entries, count)
        elif count > MOST_PIECES:
            raise InputError(
                f"{MOST_PIECES:,} parts of arcs and more are within reach; ask for fewer limits"
            )

    return found.pieces(reach, watch=watch)


def _arcs(found: Isochrones, pieces: Pieces) -> list[dict[str, Any]]:
    """The parts of arcs within each limit and not within the one before."""
    numbering = found.graph.numbering
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


def _areas(
    found: Isochrones, reach: Reach, pieces: Pieces, entries: int, deadline: float
) -> list[dict[str, Any]]:
    """For each limit the area within it, a MultiPolygon of GeoJSON."""

    def watch(count: int) -> None:
        _refuse_late(deadline)
        _added(entries, count)

    areas = found.areas(reach, pieces=pieces, watch=watch)
    planar = found.places is not None and found.places.planar
    shapes = [
        [[coordinates_in(ring, planar=planar) for ring in polygon] for polygon in polygons]
        for polygons in areas
    ]
    return [
        {"limit": limit, "type": "MultiPolygon", "coordinates": shape}
        for limit, shape in zip(found.limits, shapes, strict=True)
    ]


def _refuse_late(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise too_late()


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
