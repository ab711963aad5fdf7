"""Questions as JSON objects, a line each, and their answers.

A question has the members of one of these, of which those that are true may be left out, and may
have an ``id``, which its answer repeats:

    {"source": 3, "target": 9, "path": true}     {"distance": 8, "path": [3, 5, 9]}
    {"source": 3, "targets": [9, 4]}             {"distances": [8, null]}
    {"pairs": [[3, 9], [5, 4]], "paths": true}   {"distances": [8, 2], "paths": [[3, 5, 9], [5, 4]]}
    {"sources": [3, 5], "targets": [9, 4]}       {"distances": [[8, null], [6, 2]]}
    {"sources": [3], "limits": [5, 9]}           {"vertices": [3, 5, 9], "distances": [0, 6, 8]}

The last may ask for ``arcs`` and ``areas`` too; see `groute_py.jobs.reach_answers`.
Vertices are the ids of the graph's file. Where no path leads, a distance is null. If the graph
names somebody, such as OpenStreetMap, an answer has a member ``attribution``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GrouteError, InputError, quote, quoted
from groute_py.graph.ids import Lookup
from groute_py.io.untrusted import json_object
from groute_py.jobs import reach_answers
from groute_py.jobs.solver import Solver
from groute_py.results.result import reached_in
from groute_py.solver.opened import deadline_in

FORMS: tuple[tuple[set[str], tuple[str, ...]], ...] = (
    ({"source", "target"}, ("path",)),
    ({"source", "targets"}, ("paths",)),
    ({"pairs"}, ("paths",)),
    ({"sources", "targets"}, ()),
    ({"sources", "limits"}, reach_answers.ASKS),
)
"""The members of each kind of question, and those that ask for more and are true or false."""


class Questions:
    """Answers questions of one graph.

    Args:
        solver: of one rank.
        time_limit_s: of each question, as of the solver's answers; None for no limit.
    """

    def __init__(
        self,
        solver: Solver,
        time_limit_s: float | None = None,
    ) -> None:
        assert solver.numbering is not None
        self._time_limit_s = time_limit_s
        self._solver, self._numbering = solver, solver.numbering
        self._lookup = Lookup(solver.numbering, solver.facts.name)
        whom = solver.attribution
        self._attribution = {"attribution": whom} if whom else {}

    def answer(self, line: bytes) -> dict[str, Any]:
        """The answer to a line; of one that cannot be answered its ``error`` and the ``kind``.

        Errors that a signal brings are raised.
        """
        named: dict[str, Any] = {}
        try:
            question = _parsed(line)
            if "id" in question:
                named["id"] = question.pop("id")
            return named | self._answered(question) | self._attribution
        except GrouteError as error:
            if error.by_signal:
                raise
            return named | problem(error)

    def _answered(self, question: dict[str, Any]) -> dict[str, Any]:
        for members, asks in FORMS:
            if members <= question.keys() <= members | {*asks}:
                return self._solved(question, {name for name in asks if _is_asked(question, name)})
        given = ", ".join(sorted(question)) or "nothing"
        raise InputError(
            "a question has source and target, source and targets, pairs, sources and targets, or "
            f"sources and limits; this one has {quoted(given)}"
        )

    def _solved(self, question: dict[str, Any], asked: set[str]) -> dict[str, Any]:
        paths = bool(asked)
        if "limits" in question:
            return self._reach(question["sources"], question["limits"], asked)
        if "sources" in question:
            return self._matrix(question["sources"], question["targets"])
        if "target" in question:
            found = self._routes([(question["source"], question["target"])], paths=paths)
            one = {"distance": found["distances"][0]}
            return one | ({"path": found["paths"][0]} if paths else {})
        if "pairs" in question:
            return self._routes(_checked_pairs(question["pairs"]), paths=paths)
        ends = _checked_list("targets", question["targets"])
        return self._routes([(question["source"], target) for target in ends], paths=paths)

    def _routes(self, pairs: list[tuple[Any, Any]], *, paths: bool) -> dict[str, Any]:
        sources, targets = zip(*pairs, strict=True)
        ends = [self._vertices(sources, "source"), self._vertices(targets, "target")]
        routes = self._solver.route(np.stack(ends, axis=1), paths=paths)
        assert routes is not None
        found: dict[str, Any] = {"distances": _shown(routes.distances)}
        if routes.paths is not None:
            found["paths"] = [self._numbering.ids_of(path).tolist() for path in routes.paths]
        return found

    def _matrix(self, sources: Any, targets: Any) -> dict[str, Any]:
        ends = (
            self._vertices(_checked_list("sources", sources), "source"),
            self._vertices(_checked_list("targets", targets), "target"),
        )
        matrix = self._solver.matrix(*ends)
        assert matrix is not None
        return {"distances": [_shown(row) for row in matrix.distances]}

    def _reach(self, sources: Any, limits: Any, asked: set[str]) -> dict[str, Any]:
        ends = self._vertices(_checked_list("sources", sources), "source")
        if isinstance(limits, list) and len(limits) > reach_answers.MOST_LIMITS:
            raise InputError(f"limits must be at most {reach_answers.MOST_LIMITS:,} numbers")
        deadline = deadline_in(self._time_limit_s)
        found = self._solver.isochrone(ends, limits)
        assert found is not None
        return reach_answers.members_of(found, asked, deadline)

    def _vertices(self, ids: Any, role: str) -> NDArray[np.int64]:
        return np.array([self._lookup.index_of(vertex, role) for vertex in ids], np.int64)


def problem(error: GrouteError) -> dict[str, Any]:
    """An error as an answer."""
    return {"error": str(error), "kind": type(error).__name__}


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        return json_object(line)
    except ValueError as wrong:
        raise InputError(f"not a question: {wrong}") from wrong


def _is_asked(question: dict[str, Any], name: str) -> bool:
    asked = question.get(name, False)
    if not isinstance(asked, bool):
        raise InputError(f"{name} must be true or false, not {quote(asked)}")
    return asked


def _checked_list(name: str, given: Any, of: str = "vertex") -> list[Any]:
    if not isinstance(given, list) or not given:
        raise InputError(f"{name} must be a list of at least one {of}, not {quote(given)}")
    return given


def _checked_pairs(given: Any) -> list[tuple[Any, Any]]:
    pairs = _checked_list("pairs", given, "pair")
    wrong = next((pair for pair in pairs if not isinstance(pair, list) or len(pair) != 2), None)
    if wrong is not None:
        raise InputError(f"a pair must be a source and a target, not {quote(wrong)}")
    return [(source, target) for source, target in pairs]


def _shown(distances: NDArray[Any]) -> list[Any]:
    """As JSON has them: null where no path leads."""
    shown: list[Any] = distances.tolist()
    for place in np.flatnonzero(~reached_in(distances)).tolist():
        shown[place] = None
    return shown
