"""The columns of an edge table: tails, heads, weights and directions, by their titles.

The same for all tables: text with titles, Parquet, Arrow, pandas, Polars and dicts. What cannot be
known is an error that says which names choose; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from groute_py.errors import GraphError, InputError, quote, quoted
from groute_py.io.tables.directions import (
    DIRECTED,
    FLAGS_OF_SHAPES,
    SIGNS,
    Rule,
    is_direction,
    known_rule,
    rule_of,
)
from groute_py.io.tables.titles import (
    compact,
    end_of,
    ends_in,
    is_other_title,
    is_weight_title,
    places_in,
    weight_there,
)

CHOOSE_ENDS = "name them with --tail and --head (tail= and head= in Python)"
MOMENTS = ("time", "times")
"""Titles of weights, or of times of day where another column may hold weights."""
CHOOSE_WEIGHT = "choose one with --weight (weight= in Python)"
IGNORE_ONE = "leave it out with --ignore-column (ignore_columns= in Python)"
MOST_BY_PLACE = 3
"""Columns of a table whose first two are tails and heads whatever they are called."""


class Columns(NamedTuple):
    """The columns that a caller names, and what overrides a column of directions."""

    tail: Any = None  # None for a column to be found by its title, as all three
    head: Any = None
    weight: Any = None
    undirected: bool = False  # every row is an edge, whatever a column of directions says
    profile: str | None = None  # who travels, of an extract of OpenStreetMap
    arc: str | None = None  # of ids of arcs, where they are wanted
    ignore: Any = ()  # titles of columns that count as absent, or one title
    carry: tuple[Any, ...] = ()  # titles of more columns for the graph to keep
    arc_weights: str | None = None  # a file of other weights for all arcs

    @property
    def named(self) -> list[Any]:
        """The titles that are given."""
        return [title for _, title in self._named]

    @property
    def _named(self) -> list[tuple[str, Any]]:
        named = [(role, getattr(self, role)) for role in ("tail", "head", "weight")]
        ignored = [("ignored column", title) for title in self.ignored]
        return [pair for pair in named if pair[1] is not None] + ignored

    @property
    def ignored(self) -> list[Any]:
        """The titles of columns that count as absent."""
        return [self.ignore] if isinstance(self.ignore, str) else list(self.ignore)

    def refuse(self, what: str) -> None:
        """Raise `InputError` for a title, where a graph has no columns by name."""
        if named := self._named:
            names = ", ".join(f"{role} {quote(title)}" for role, title in named)
            raise InputError(f"{what} has no columns by name; leave out {names}")

    def refuse_profile(self, what: str) -> None:
        """Raise `InputError` for a profile, where a graph is no extract of OpenStreetMap."""
        if self.profile is not None:
            raise InputError(
                f"{what} is no extract of OpenStreetMap; leave out profile {quote(self.profile)}"
            )


BY_TITLE = Columns()
"""All columns are found by their titles."""


class Roles(NamedTuple):
    """The titles of the columns that are read, None for those that are not there."""

    tail: Any
    head: Any
    weight: Any = None  # without it every arc weighs 1
    back: Any = None  # of the weights of arcs back
    direction: Any = None  # says which way a row leads
    rule: Rule | None = None  # of values of ``direction``, or `SIGNS` of weights back
    arc: Any = None  # of the ids of arcs
    carry: tuple[Any, ...] = ()  # of more columns

    @property
    def titles(self) -> dict[str, Any]:
        """The titles of all columns that are read, by role, but for those of `carry`."""
        named = self._replace(rule=None, carry=())._asdict().items()
        return {role: title for role, title in named if title not in (None, ())}


def roles_of(
    titles: Sequence[Any],
    is_numeric: Callable[[Any], bool],
    values: Callable[[Any], Sequence[Any]],
    columns: Columns = BY_TITLE,
) -> Roles:
    """Find out what each column is, by titles.

    Tails and heads are the one pair of titles that says so (`groute_py.io.tables.titles`); of two
    or three columns without such a pair they are the first two. Weights are the one column whose
    title says so, or the third of three if it holds numbers.

    >>> roles_of(["id", "km", "to", "from"], lambda title: True, lambda title: []).titles
    {'tail': 'from', 'head': 'to', 'weight': 'km'}
    """
    for title in (*columns.named, columns.arc, *columns.carry):
        if title is not None and title not in titles:
            raise GraphError(
                f"the edge table has no column {quote(title)}; it has {quoted(list(titles))}"
            )
    for title in (columns.tail, columns.head, columns.weight, columns.arc):
        if title is not None and title in columns.ignored:
            raise GraphError(f"column {quote(title)} cannot be both read and ignored")
    titles = [title for title in titles if title not in columns.ignored]
    listing = quoted(", ".join(map(str, titles)))
    if len(titles) < 2:
        raise GraphError(f"expected columns of tails and heads, got {listing}")
    if len(set(titles)) < len(titles):
        raise GraphError(f"two columns have the same name: {listing}; rename one of them")
    tail, head = _ends(titles, columns, listing)
    if columns.arc in (tail, head):
        raise GraphError(f"column {quote(columns.arc)} holds the ends of arcs, not their ids")
    rest = [title for title in titles if title not in (tail, head, columns.arc)]
    weight = columns.weight
    if weight is None:
        weight = _weight(rest, is_numeric, listing, is_narrow=len(titles) <= MOST_BY_PLACE)
    elif weight in (tail, head):
        raise GraphError(f"column {quote(weight)} cannot hold weights and the ends of arcs")
    others = [title for title in rest if title != weight]
    roles = Roles(tail, head, weight, arc=columns.arc, carry=columns.carry)
    return _directed(roles, others, values, columns)


def _ends(titles: Sequence[Any], columns: Columns, listing: str) -> tuple[Any, Any]:
    if columns.tail is not None and columns.head is not None:
        if columns.tail == columns.head:
            raise GraphError(f"column {quote(columns.tail)} cannot hold both tails and heads")
        return columns.tail, columns.head
    pairs = [
        (tail, head)
        for tail, head in ends_in([title for title in titles if title != columns.weight])
        if columns.tail in (None, tail) and columns.head in (None, head)
    ]
    if len(pairs) > 1:
        several = ", or ".join(f"{tail} and {head}" for tail, head in pairs)
        raise GraphError(f"tails and heads may be {quoted(several)}, in {listing}; {CHOOSE_ENDS}")
    if pairs:
        return pairs[0]
    if columns.tail is None and columns.head is None and (places := places_in(titles)):
        raise GraphError(
            f"columns {quoted(f'{places[0].x} and {places[0].y}')} say where vertices lie, so "
            f"{listing} is no table of edges; give it as --coordinates of one (coordinates= in "
            "Python), or name the columns of tails and heads with --tail and --head"
        )
    first = titles[:2]
    if (
        columns.tail is not None
        or columns.head is not None
        or len(titles) > MOST_BY_PLACE
        or any(is_other_title(title) or is_weight_title(title) for title in first)
        or any("head" in end_of(title) for title in (titles[0], *titles[2:]))
        or any("tail" in end_of(title) for title in titles[1:])
        or columns.weight in first
    ):
        raise GraphError(
            f"which columns hold tails and heads is not clear in {listing}; {CHOOSE_ENDS}"
        )
    return first[0], first[1]


def _weight(
    rest: list[Any], is_numeric: Callable[[Any], bool], listing: str, *, is_narrow: bool
) -> Any:
    """The column of weights, or None where every arc weighs 1."""
    candidates = [title for title in rest if is_weight_title(title)]
    there = set(map(compact, candidates))
    candidates = [title for title in candidates if weight_there(title) not in there]
    if candidates and all(compact(title) in MOMENTS for title in candidates):
        # these may say when a row was written
        known = [title for title in rest if is_weight_title(title) or is_other_title(title)]
        candidates = candidates if known == rest else []
    if len(candidates) > 1:  # words such as a time of day are no weights beside numbers
        candidates = [title for title in candidates if is_numeric(title)] or candidates
    if len(candidates) > 1:
        several = " or ".join(map(str, candidates))
        raise GraphError(f"weights may be {quoted(several)}, in {listing}; {CHOOSE_WEIGHT}")
    if candidates:
        return candidates[0]
    unknown = [title for title in rest if not is_other_title(title)]
    if is_narrow and unknown and is_numeric(unknown[0]):
        return unknown[0]
    if unknown:
        raise GraphError(
            f"which column holds weights is not clear in {listing}; {CHOOSE_WEIGHT}, name one "
            "`weight`, or leave out all but tails and heads for unit weights"
        )
    return None


def _directed(
    roles: Roles, others: list[Any], values: Callable[[Any], Sequence[Any]], columns: Columns
) -> Roles:
    """The roles with what says which way rows lead."""
    if columns.undirected:
        return roles
    weight = None if roles.weight is None else compact(roles.weight)
    backs = {title: there for title in others if (there := weight_there(title)) is not None}
    back = next((title for title, there in backs.items() if there == weight), None)
    candidates = [title for title in others if is_direction(title, others, values)]
    if any(known_rule(title) is DIRECTED for title in candidates):  # GMNS: the flag is of the shape
        candidates = [title for title in candidates if compact(title) not in FLAGS_OF_SHAPES]
    if back is not None and (not candidates or not compact(back).endswith("ba")):
        return roles._replace(back=back, rule=SIGNS)
    if len(candidates) > 1:
        several = " and ".join(map(str, candidates))
        raise GraphError(
            f"columns {quoted(several)} both say which way rows lead; leave one out with "
            "--ignore-column (ignore_columns= in Python), or give "
            "--undirected to read each row as an edge"
        )
    if candidates:
        rule = rule_of(candidates[0], values(candidates[0]))
        return roles._replace(direction=candidates[0], rule=rule, back=back)
    if backs:
        raise GraphError(
            f"column {quoted(next(iter(backs)))} holds weights of arcs back, but weights are "
            f"{'1' if roles.weight is None else roles.weight}; choose those that belong to it "
            f"with --weight (weight= in Python), {IGNORE_ONE}, or give --undirected to read each "
            "row as an edge"
        )
    return roles
