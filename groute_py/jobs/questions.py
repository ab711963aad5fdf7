"""Questions as JSON objects, a line each, and their answers.

A question has the members of one of these, of which flags may be left out (they are false then),
and may have an ``id``, which its answer repeats:

    {"source": 3, "target": 9, "path": true}     {"distance": 8, "path": [3, 5, 9]}
    {"source": 3, "targets": [9, 4]}             {"distances": [8, null]}
    {"pairs": [[3, 9], [5, 4]], "paths": true}   {"distances": [8, 2], "paths": [[3, 5, 9], [5, 4]]}
    {"sources": [3, 5], "targets": [9, 4]}       {"distances": [[8, null], [6, 2]]}
    {"sources": [3], "limits": [5, 9]}           {"vertices": [3, 5, 9], "distances": [0, 6, 8]}
    {"arcs": [[3, 9], [9, 3]], "weights": [7, 2]}                                {"changed": 2}

The last line gives arcs, each between two vertices, other weights for all questions behind it, and
says how many have changed: parallel arcs all do. Without ``arcs`` all change, in the order of the
graph. The one before may ask for ``arcs`` and ``areas``
too, in an answer of bounded size.
Vertices are the graph's own ids, or points ``[lon, lat]``. Where no path leads, a distance is null.
If the graph names somebody, such as OpenStreetMap, an answer has a member ``attribution``. A member
``unit`` has the unit of distances and limits, if it is known: ``s`` where weights are milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GrouteError, InputError, quote, quoted, too_late
from groute_py.graph.csr import Graph
from groute_py.graph.geography import Units
from groute_py.graph.ids import Positions
from groute_py.graph.units import shown, shown_unit
from groute_py.io.untrusted import json_object
from groute_py.jobs.isochrones import Isochrones
from groute_py.jobs.solver import Solver
from groute_py.many.opened import deadline_in
from groute_py.many.sources import Locator
from groute_py.maps.geojson import rings_in
from groute_py.maps.lines import Pieces
from groute_py.maps.places import Places, as_points, places_of
from groute_py.maps.reach import Reach
from groute_py.maps.snap import most_connected, nearest_vertices
from groute_py.results.distances import reached_in

ASKS = ("arcs", "areas")
"""Parts of an answer that are listed on request, beside the vertices."""

MOST_LIMITS = 1000
"""Limits of one question; each limit takes a pass over what is within reach."""

MOST_ENTRIES = 100_000
"""Vertices, parts of arcs and corners of areas in one answer: a few MB of JSON."""

MOST_PIECES = 10_000_000  # parts of arcs about which areas are drawn: half a GB

FORMS: tuple[tuple[set[str], tuple[str, ...]], ...] = (
    ({"source", "target"}, ("path",)),
    ({"source", "targets"}, ("paths",)),
    ({"pairs"}, ("paths",)),
    ({"sources", "targets"}, ()),
    ({"sources", "limits"}, ASKS),
    ({"arcs", "weights"}, ()),
    ({"weights"}, ()),
)
"""The members of each kind of question, and those that ask for more and are true or false."""


class Questions:
    """Answer questions of one graph, with a solver of one rank.

    ``time_limit_s`` is the solver's limit, None for none; here it also bounds the listing of arcs
    and areas. ``beside`` is the graph's file, for a ``.co`` file beside it.
    """

    def __init__(
        self, solver: Solver, time_limit_s: float | None = None, beside: object = None
    ) -> None:
        assert solver.numbering is not None
        self._time_limit_s = time_limit_s
        self._solver, self._numbering = solver, solver.numbering
        if self._numbering.ids is not None:
            _ = self._numbering.order  # for many questions
        self._beside, self._places = beside, cast("Places | None", None)
        credit = solver.attribution
        self._attribution = {"attribution": credit} if credit else {}

    def answer(self, line: bytes) -> dict[str, Any]:
        """The answer to a line; or, if it cannot be answered, its ``error`` and the ``kind``.

        Raises the error of a signal.
        """
        identity: dict[str, Any] = {}
        try:
            question = _parse(line)
            if "id" in question:
                identity["id"] = question.pop("id")
            return identity | self._answer(question) | self._attribution
        except GrouteError as error:
            if error.by_signal:
                raise
            return identity | problem(error)

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        for members, asks in FORMS:
            if members <= question.keys() <= members | {*asks}:
                return self._solve(question, {name for name in asks if _is_wanted(question, name)})
        names = ", ".join(sorted(question)) or "nothing"
        raise InputError(
            "a question has source and target, source and targets, pairs, sources and targets, "
            f"sources and limits, or weights; this one has {quoted(names)}"
        )

    def _solve(self, question: dict[str, Any], asks: set[str]) -> dict[str, Any]:
        paths = bool(asks)
        if "weights" in question:
            return self._update(question["weights"], question.get("arcs"))
        if "limits" in question:
            return self._reach(question["sources"], question["limits"], asks)
        if "sources" in question:
            return self._matrix(question["sources"], question["targets"])
        if "target" in question:
            result = self._routes([(question["source"], question["target"])], paths=paths)
            (result["distance"],) = result.pop("distances")
            if paths:
                (result["path"],) = result.pop("paths")
            return result
        if "pairs" in question:
            return self._routes(_pairs_in("pairs", question["pairs"]), paths=paths)
        ends = _list_in("targets", question["targets"])
        return self._routes([(question["source"], target) for target in ends], paths=paths)

    def _update(self, weights: Any, arcs: Any) -> dict[str, Any]:
        values = _list_in("weights", weights, "number")
        if not all(type(value) in (int, float) for value in values):
            raise InputError("weights must be numbers")
        ends = None if arcs is None else _pairs_in("arcs", arcs)

        if ends is None:
            self._solver.update(values)
            return {"changed": len(values)}
        if len(values) != len(ends):
            raise InputError(f"{len(ends):,} weights are needed, one for each of arcs")
        changed = 0

        def find(graph: Graph) -> tuple[list[int], list[Any]]:
            nonlocal changed
            sides = (self._ends(side, "vertex")(graph) for side in zip(*ends, strict=True))
            pairs = [tuple(map(int, pair)) for pair in zip(*sides, strict=True)]
            each = [graph.arcs_between(*pair) for pair in pairs]
            for some, pair in zip(each, pairs, strict=True):
                if not len(some):
                    graph.arc(*map(Positions, pair))  # which says that there is none
            arcs = [int(arc) for some in each for arc in some]
            changed = len(arcs)
            return arcs, [w for w, some in zip(values, each, strict=True) for _ in some]

        self._solver.update(values, arcs=find)
        return {"changed": changed}

    def _routes(self, pairs: list[tuple[Any, Any]], *, paths: bool) -> dict[str, Any]:
        sources, targets = zip(*pairs, strict=True)
        ends = self._ends(sources, "source"), self._ends(targets, "target")
        routes = self._solver.route(ends, paths=paths)
        assert routes is not None
        result: dict[str, Any] = {"distances": _json_values(routes.distances, routes.units)}
        if routes.paths is not None:
            result["paths"] = [self._numbering.ids_of(path).tolist() for path in routes.paths]
        return result | _unit_of(routes.units)

    def _matrix(self, sources: Any, targets: Any) -> dict[str, Any]:
        ends = (
            self._ends(_list_in("sources", sources), "source"),
            self._ends(_list_in("targets", targets), "target"),
        )
        matrix = self._solver.matrix(*ends)
        assert matrix is not None
        rows = [_json_values(row, matrix.units) for row in matrix.distances]
        return {"distances": rows, **_unit_of(matrix.units)}

    def _reach(self, sources: Any, limits: Any, asks: set[str]) -> dict[str, Any]:
        ends = self._ends(_list_in("sources", sources), "source")
        if isinstance(limits, list) and len(limits) > MOST_LIMITS:
            raise InputError(f"limits must be at most {MOST_LIMITS:,} numbers")
        deadline = deadline_in(self._time_limit_s)
        result = self._solver.isochrone(ends, limits)
        assert result is not None
        return members_of(result, asks, deadline) | _unit_of(result.units)

    def _ends(self, ends: Any, role: str) -> Locator:
        """Return what finds the vertices of ids and points, of which lists are points."""
        each = np.empty(len(ends), object)
        each[:] = ends
        are_points = np.array([isinstance(end, list) for end in ends], np.bool_)
        indices = np.empty(len(ends), np.int64)
        name = self._solver.facts.name
        indices[~are_points] = self._numbering.indices_of(each[~are_points], role, name)

        def find(graph: Graph) -> NDArray[np.int64]:
            if are_points.any():
                indices[are_points] = self._nearest(as_points(each[are_points].tolist()), graph)
            return indices

        return find

    def _nearest(self, points: NDArray[np.float64], graph: Graph) -> NDArray[np.int64]:
        if self._places is None:
            self._places = places_of(graph, beside=self._beside)
        among = most_connected(graph)
        return nearest_vertices(self._places, Places(points), None, among, name_of=str).vertices


def problem(error: GrouteError) -> dict[str, Any]:
    """An error as an answer."""
    return {"error": str(error), "kind": type(error).__name__}


def _parse(line: bytes) -> dict[str, Any]:
    try:
        return json_object(line)
    except ValueError as wrong:
        raise InputError(f"not a question: {wrong}") from wrong


def _is_wanted(question: dict[str, Any], name: str) -> bool:
    value = question.get(name, False)
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, not {quote(value)}")
    return value


def _list_in(name: str, value: Any, of: str = "vertex") -> list[Any]:
    if not isinstance(value, list) or not value:
        raise InputError(f"{name} must be a list of at least one {of}, not {quote(value)}")
    return value


def _pairs_in(name: str, value: Any) -> list[tuple[Any, Any]]:
    pairs = _list_in(name, value, "pair")
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise InputError(f"a pair must be a source and a target, not {quote(pair)}")
    return [(source, target) for source, target in pairs]


def _unit_of(units: Units) -> dict[str, str]:
    return {"unit": shown_unit(units[""])} if "" in units else {}


def _json_values(distances: NDArray[Any], units: Units) -> list[Any]:
    """Return distances as JSON has them, in `shown_unit`: null where no path leads."""
    values: list[Any] = shown(distances, units.get("", "")).tolist()
    for number in np.flatnonzero(~reached_in(distances)).tolist():
        values[number] = None
    return values


def members_of(result: Isochrones, asks: Collection[str], deadline: float) -> dict[str, Any]:
    """The members of an answer: ``vertices``, ``distances``, and what is asked for."""
    (reach,) = result.reaches
    entries = _add_or_refuse(0, len(reach.vertices))
    members: dict[str, Any] = {
        "vertices": result.graph.numbering.ids_of(reach.vertices).tolist(),
        "distances": _json_values(reach.distances, result.units),
    }
    if not asks:
        return members
    pieces = _pieces(result, reach, entries if "arcs" in asks else None, deadline)
    if "arcs" in asks:
        members["arcs"] = _arcs(result, pieces)
        entries += len(pieces)
    if "areas" in asks:
        members["areas"] = _areas(result, reach, pieces, entries, deadline)
    return members


def _pieces(result: Isochrones, reach: Reach, entries: int | None, deadline: float) -> Pieces:
    """Return the parts of arcs within each limit, counted among the entries of an answer."""

    def watch(count: int) -> None:
        _refuse_late(deadline)
        if entries is not None:
            _add_or_refuse(entries, count)
        elif count > MOST_PIECES:
            raise InputError(
                f"{MOST_PIECES:,} parts of arcs and more are within reach; ask for fewer limits"
            )

    return result.pieces(reach, watch=watch)


def _arcs(result: Isochrones, pieces: Pieces) -> list[dict[str, Any]]:
    """The parts of arcs within each limit and not within the one before."""
    numbering, limits = result.graph.numbering, _limits(result)
    columns = zip(
        numbering.ids_of(pieces.tails).tolist(),
        numbering.ids_of(pieces.heads).tolist(),
        [limits[band] for band in pieces.bands.tolist()],
        pieces.begins.tolist(),
        pieces.ends.tolist(),
        strict=True,
    )
    names = ("tail", "head", "limit", "begin", "end")
    return [dict(zip(names, row, strict=True)) for row in columns]


def _areas(
    result: Isochrones, reach: Reach, pieces: Pieces, entries: int, deadline: float
) -> list[dict[str, Any]]:
    """For each limit the area within it, a MultiPolygon of GeoJSON."""

    def watch(count: int) -> None:
        _refuse_late(deadline)
        _add_or_refuse(entries, count)

    areas = result.areas(reach, pieces=pieces, watch=watch)
    planar = result.places is not None and result.places.planar
    return [
        {"limit": limit, "type": "MultiPolygon", "coordinates": rings_in(polygons, planar=planar)}
        for limit, polygons in zip(_limits(result), areas, strict=True)
    ]


def _limits(result: Isochrones) -> list[float]:
    return [shown(limit, result.units.get("", "")) for limit in result.limits]


def _refuse_late(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise too_late()


def _add_or_refuse(entries: int, more: int) -> int:
    """Return the entries of an answer with some more; raise `InputError` beyond the most."""
    if entries + more > MOST_ENTRIES:
        raise InputError(
            f"{entries + more:,} vertices, arcs and corners are within reach; an answer lists up "
            f"to {MOST_ENTRIES:,}. Ask for a lesser limit, or write a file by groute-py isochrone"
        )
    return entries + more
