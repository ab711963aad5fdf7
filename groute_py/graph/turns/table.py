"""Turns as a user lists them: rows of what they lead between and a cost, each with its place."""

from __future__ import annotations

import math
import operator
import re
from typing import Any, NamedTuple

from groute_py.errors import InputError, quote
from groute_py.graph.arrays import host_array
from groute_py.graph.ids import INTEGER, Numbering
from groute_py.graph.turns.ends import ROLES, ArcEnds, ProblemIn, TurnEnds, VertexEnds

FORBIDDEN = re.compile(r"|forbidden|\+?inf(inity)?", re.I)
"""The word for a forbidden turn, in the place of a cost."""

DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.I)


class TurnTable(NamedTuple):
    """Turns as they are listed."""

    ends: TurnEnds
    costs: list[Any]  # text of a file, numbers, or None
    numbering: Numbering
    problem_in: ProblemIn

    def cost(self, row: int) -> int | float | None:
        """The cost of a row; None for a forbidden turn."""
        entry = self.costs[row]
        cost = _parsed(entry.strip()) if isinstance(entry, str) else _number(entry)
        if cost is None:
            return None
        if isinstance(cost, float) and (math.isnan(cost) or cost == -math.inf):
            form = "a number, or forbidden, inf or nothing where nobody may turn"
            raise self.problem_in(row, f"a cost must be {form}, not {quote(entry)}")
        return None if cost == math.inf else cost


def table_of(rows: Any, numbering: Numbering) -> TurnTable:
    """The turns of rows (tail, via, head, cost) of ids, or (arc, arc, cost) of arc numbers."""
    if hasattr(rows, "shape"):
        rows = host_array(rows).tolist()
    try:
        listed = [tuple(row) for row in rows]
    except TypeError:
        listed = [()]
    width = len(listed[0]) if listed else len(ROLES) + 1
    for number, row in enumerate(listed, 1):
        if len(row) != width or width not in (len(ROLES) + 1, len(("from", "to")) + 1):
            raise InputError(
                "turns must be the path of a file, or rows of a tail, a via, a head and a cost, or "
                f"of two arcs and a cost; turn {number} is {quote(row) if row else 'none'}"
            )

    def problem_in(row: int, problem: str) -> InputError:
        return InputError(f"turn {row + 1}: {problem}")

    *columns, costs = [list(column) for column in zip(*listed, strict=True)] or [[]] * width
    whole = [[_whole(end) for end in column] for column in columns]
    by_arc = len(whole) < len(ROLES)
    ends: TurnEnds = ArcEnds(whole[0], whole[1]) if by_arc else VertexEnds(*whole)
    return TurnTable(ends, costs, numbering, problem_in)


def _whole(vertex: Any) -> Any:
    """A vertex or an arc of an array of floats, which costs have made them, as an integer."""
    return int(vertex) if isinstance(vertex, float) and vertex.is_integer() else vertex


def _parsed(text: str) -> int | float | None:
    if FORBIDDEN.fullmatch(text):
        return None
    if INTEGER.fullmatch(text):
        return int(text)
    return float(text) if DECIMAL.fullmatch(text) else math.nan


def _number(entry: Any) -> int | float | None:
    """A number of Python or NumPy; what is none becomes NaN."""
    if entry is None:
        return None
    try:
        return operator.index(entry)
    except TypeError:
        pass
    try:
        return float(entry)
    except (TypeError, ValueError):
        return math.nan
