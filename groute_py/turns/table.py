"""Turns as a user lists them: rows of a tail, a via, a head and a cost, each with its place."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, quote
from groute_py.graph.array_like import host_array
from groute_py.graph.ids import Numbering

ROLES = ("tail", "via", "head")
"""The vertices of a turn, from an arc (tail, via) to an arc (via, head)."""

FORBIDDEN = re.compile(r"|forbidden|\+?inf(inity)?", re.I)
"""What a file has in the place of a cost."""

INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.I)


class TurnTable(NamedTuple):
    """Turns as they are listed.

    Attributes:
        vertices: three columns of k ids each, in the order of `ROLES`.
        costs: k costs as given: text of a file, numbers, or None.
        numbering: between these ids and vertices.
        problem_in: makes the error for a row, counted from 0, and what is wrong there.
    """

    vertices: tuple[list[Any], list[Any], list[Any]]
    costs: list[Any]
    numbering: Numbering
    problem_in: Callable[[int, str], InputError]

    def indices(self, graph: str) -> list[NDArray[np.int64]]:
        """The vertices of each role, shape (k,).

        Raises:
            InputError: with its row, the first that is no vertex of the graph.
        """
        return [
            self._found(ids, role, graph) for role, ids in zip(ROLES, self.vertices, strict=True)
        ]

    def cost(self, row: int) -> int | float | None:
        """The cost of a row; None for a forbidden turn.

        Raises:
            InputError: it is no cost.
        """
        given = self.costs[row]
        cost = _parsed(given.strip()) if isinstance(given, str) else _number(given)
        if cost is None:
            return None
        if isinstance(cost, float) and (math.isnan(cost) or cost == -math.inf):
            wanted = "a number, or forbidden, inf or nothing where nobody may turn"
            raise self.problem_in(row, f"a cost must be {wanted}, not {quote(given)}")
        return None if cost == math.inf else cost

    def _found(self, ids: list[Any], role: str, graph: str) -> NDArray[np.int64]:
        try:
            return self.numbering.indices_of(ids, role, graph)
        except InputError:
            for row, vertex in enumerate(ids):
                try:
                    self.numbering.index_of(vertex, role, graph)
                except InputError as problem:
                    raise self.problem_in(row, str(problem)) from None
            raise


def table_of(rows: Any, vertex_count: int) -> TurnTable:
    """The turns that Python rows are.

    Args:
        rows: (tail, via, head, cost) each, vertices from 0; a cost of None or infinity forbids.
        vertex_count: n.

    Raises:
        InputError: they are of another kind.
    """
    if hasattr(rows, "shape"):
        rows = host_array(rows).tolist()
    try:
        listed = [tuple(row) for row in rows]
    except TypeError:
        listed = [()]
    for number, row in enumerate(listed, 1):
        if len(row) != 4:
            raise InputError(
                "turns must be the path of a file, or rows of a tail, a via, a head and a cost; "
                f"turn {number} is {quote(row) if row else 'none'}"
            )

    def problem_in(row: int, problem: str) -> InputError:
        return InputError(f"turn {row + 1}: {problem}")

    columns: list[list[Any]] = [list(column) for column in zip(*listed, strict=True)] or [[]] * 4
    whole = [[_whole(vertex) for vertex in column] for column in columns[:3]]
    ends = (whole[0], whole[1], whole[2])
    return TurnTable(ends, columns[3], Numbering(vertex_count), problem_in)


def _whole(vertex: Any) -> Any:
    """A vertex of an array of floats, which costs have made them, as an integer."""
    return int(vertex) if isinstance(vertex, float) and vertex.is_integer() else vertex


def _parsed(text: str) -> int | float | None:
    if FORBIDDEN.fullmatch(text):
        return None
    if INTEGER.fullmatch(text):
        return int(text)
    return float(text) if DECIMAL.fullmatch(text) else math.nan


def _number(given: Any) -> int | float | None:
    """A number of Python or NumPy; what is none becomes NaN."""
    if given is None:
        return None
    try:
        return operator.index(given)
    except TypeError:
        pass
    try:
        return float(given)
    except (TypeError, ValueError):
        return math.nan
