"""The ways that rows of an edge table lead, by a column that says so, and their arcs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, quote
from groute_py.graph.arrays import as_weights
from groute_py.graph.csr import Graph
from groute_py.io.tables.titles import compact
from groute_py.kernels.cpu.build import csr_from_arcs

FORWARD, BOTH, BACKWARD, CLOSED = 1, 0, -1, 2
YES, NO = ("1", "true", "t", "yes", "y"), ("0", "false", "f", "no", "n")


class Rule(NamedTuple):
    """A reading of the values of a column."""

    ways: dict[str, int]  # for each value in small letters
    choices: str  # the values, for messages

    def way(self, value: Any) -> int | None:
        """The way that a row with this value leads; None for a value that says nothing."""
        return self.ways.get(_plain(value))


def _rule(forward: Sequence[str], both: Sequence[str], backward: Sequence[str], said: str) -> Rule:
    ways = dict.fromkeys(forward, FORWARD) | dict.fromkeys(both, BOTH)
    return Rule(ways | dict.fromkeys(backward, BACKWARD), said)


SIGNS = Rule({}, "a weight below 0 for no arc")
"""Signs of a weight and one of the arc back: each below 0 means that there is no such arc
(pgRouting)."""
TYPE = _rule(("directed",), ("undirected",), (), "Directed or Undirected")
FLAGS_OF_SHAPES = ("dirflag", "directionflag")
"""Titles of directions that beside `DIRECTED` say how the shape of a row is drawn (GMNS)."""
DIRECTED = _rule(YES, NO, (), "1 or true for directed rows, 0 or false for others")
UNDIRECTED = _rule(NO, YES, (), "1 or true for rows of both directions, 0 or false for others")
DIRECTION = _rule(
    ("1", "forward", "f", "ft"),
    ("0", "both", "b"),
    ("-1", "backward", "t", "tf"),
    "1, 0 for both, or -1",
)
ONE_WAY = _rule(YES, (*NO, "", "2", "3"), ("-1", "reverse"), "yes, no or -1")
"""OpenStreetMap's words, and osm2pgrouting's numbers for no (2) and for reversible lanes (3)."""
LETTERS = _rule(("f", "ft"), ("b", ""), ("t", "tf"), "FT, TF or B")
"""Values of a column ``oneway`` of Geofabrik, HERE, TomTom or ArcGIS: along the digitised line, or
not."""
UNDIRECTED_TITLES = (
    *("undirected", "bidirectional", "bidirected", "bidir", "mutual", "symmetric"),
    *("twoway", "bothways", "bothdirections"),
)
RULES = {
    **dict.fromkeys(("type", "edgetype"), TYPE),
    "directed": DIRECTED,
    **dict.fromkeys(UNDIRECTED_TITLES, UNDIRECTED),
    **dict.fromkeys(("direction", "dir", "dirtravel", *FLAGS_OF_SHAPES), DIRECTION),
    **dict.fromkeys(("oneway", "onewaystreet"), ONE_WAY),
}  # by the title, without a leading ``is``: Gephi, GMNS, AequilibraE, OpenStreetMap, GTFS


def known_rule(title: Any) -> Rule | None:
    """The rule that a title names; whether the column follows it, `is_direction` says."""
    plain = compact(title)
    return RULES.get(plain) or RULES.get(plain.removeprefix("is"))


def rule_of(title: Any, values: Sequence[Any]) -> Rule:
    """The rule for a column that `is_direction` accepts, some or all of whose values are these.

    A column ``oneway`` may hold `LETTERS`. A ``T`` is one of them, and a ``t`` is PostgreSQL's
    true. An ``N`` beside them closes a row where ``B`` stands for both, else it may mean that too.
    Where no value says which rule it is, values that both have in another sense are refused.
    """
    rule = known_rule(title)
    assert rule is not None
    if rule is not ONE_WAY:
        return rule
    there = {text for value in values if (text := _text(value))}
    if there & {"F", "T"} or {text.lower() for text in there} & {"ft", "tf", "b"}:
        return LETTERS._replace(ways=LETTERS.ways | {"n": CLOSED}) if "B" in there else LETTERS
    if there:
        return rule
    unsure = {"f", "t", "n"}
    ways = {value: way for value, way in (rule.ways | LETTERS.ways).items() if value not in unsure}
    return Rule(ways, f"{rule.choices}, or {LETTERS.choices}")


def is_direction(title: Any, others: Sequence[Any], values: Any) -> bool:
    """Return True if a column says which way rows lead.

    ``Type`` does so only where a value is Gephi's, and ``oneway`` not beside ``reversed``, with
    which OSMnx has a row for each direction.
    """
    rule = known_rule(title)
    if rule is TYPE:
        return any(TYPE.way(value) is not None for value in values(title))
    if rule is ONE_WAY:
        return all(compact(other) != "reversed" for other in others)
    return rule is not None


def is_needed(role: str, way: int, *, has_back: bool) -> bool:
    """Return True if a row that leads this way has an arc of a weight, or of one back.

    >>> is_needed("weight", BACKWARD, has_back=False), is_needed("back", FORWARD, has_back=True)
    (True, False)
    """
    if not has_back:
        return way != CLOSED
    return way == BOTH or way == (FORWARD if role == "weight" else BACKWARD)


def ways_of(values: Sequence[Any], title: Any, rule: Rule) -> NDArray[np.int8]:
    """The way that each row leads, int8, shape (rows,); an error names a row from 1."""
    plain = [_plain(value) for value in values]
    way_of = {value: rule.ways.get(value) for value in dict.fromkeys(plain)}
    ways = [way_of[value] for value in plain]
    if None in ways:
        row = ways.index(None)
        raise GraphError(f"row {row + 1}: {problem_of(values[row], title, rule)}")
    return np.array(ways, np.int8)


def problem_of(value: Any, title: Any, rule: Rule) -> str:
    """The message about a value of a column of directions."""
    return (
        f"column {title} says {str(value)[:40]!r}; expected {rule.choices}. To read each row as an "
        "edge, whatever this column says, give --undirected; to ignore it, --ignore-column "
        "(ignore_columns= in Python)"
    )


def graph_of_rows(
    name: str,
    count: int,
    tails: NDArray[Any],
    heads: NDArray[Any],
    weights: NDArray[Any],
    ways: NDArray[np.int8] | None = None,
    back: NDArray[Any] | None = None,
    arc_ids: NDArray[Any] | None = None,
    carry: Mapping[str, NDArray[Any]] | None = None,
    **more: Any,
) -> Graph:
    """Return the graph of the rows of a table between ``count`` vertices, numbered from 0.

    Without ``ways``, as `ways_of` has them, all rows lead forward; with ``back``, weights of arcs
    back, there is no arc where a weight is below 0 (`SIGNS`). A row whose ends are one vertex is
    one arc. ``arc_ids`` are of rows, int64 or strings, and ``carry`` has more columns of rows by
    name; both directions share one.
    ``more`` are further arguments of `Graph`.

    >>> rows = np.array([0, 1]), np.array([1, 2]), np.array([5, 6])
    >>> graph_of_rows("town", 3, *rows, back=np.array([7, -1])).weights.tolist()
    [5, 6, 7]
    """
    rows = np.arange(len(tails))
    titles = more["reading"].columns if more.get("reading") is not None else {}
    if ways is None and back is None:
        _check_finite(weights, True, titles.get("weight"))
    else:
        returning = weights if back is None else back
        there, again = _directions(tails, heads, weights, ways, back)
        _check_finite(weights, there, titles.get("weight"))
        _check_finite(returning, again, titles.get("weight" if back is None else "back"))
        weights = np.concatenate([weights[there], returning[again]])
        rows = np.concatenate([np.flatnonzero(there), np.flatnonzero(again)])
        tails, heads = (
            np.concatenate([ends[there], others[again]])
            for ends, others in ((tails, heads), (heads, tails))
        )
    graph = Graph.from_arrays(*csr_from_arcs(count, tails, heads, weights), copy=False, name=name)
    if arc_ids is not None or carry:
        rows = rows[np.argsort(tails, kind="stable")]  # as arcs of one tail stand in the graph
        more["arc_ids"] = None if arc_ids is None else arc_ids[rows]
        more["columns"] = {name: as_weights(of[rows]) for name, of in (carry or {}).items()}
    return graph.changed(**more)


def _directions(
    tails: NDArray[Any],
    heads: NDArray[Any],
    weights: NDArray[Any],
    ways: NDArray[np.int8] | None,
    back: NDArray[Any] | None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the rows that are arcs forward and back; one of ``ways`` and ``back`` is given."""
    returning = weights if back is None else back
    if ways is None:
        there, again = ~(weights < 0), ~(returning < 0)
    else:
        there, again = np.isin(ways, (FORWARD, BOTH)), np.isin(ways, (BACKWARD, BOTH))
    return there, again & ((tails != heads) | ~there)


def _check_finite(weights: NDArray[Any], rows: NDArray[np.bool_] | bool, title: object) -> None:
    """Raise `GraphError` for the first of some rows whose weight is no number."""
    if weights.dtype.kind != "f":
        return
    wrong = ~np.isfinite(weights) & rows
    if wrong.any():
        row = int(wrong.argmax())
        column = "" if title is None else f" in column {quote(title)}"
        raise GraphError(f"row {row + 1} has {weights[row]}{column}; weights must be finite")


def _plain(value: Any) -> str:
    return _text(value).lower()


def _text(value: Any) -> str:
    """A value as the rules spell it: ``1.0`` is ``1``, and ``None`` and NaN are nothing."""
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if value is None or value != value:
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value).strip()
