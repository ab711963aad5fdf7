"""The role that a column's title names: an end of an arc, a weight, a direction, or none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from groute_py.graph.units import LONGEST, words_in

PAIRS = (
    ("tail", "head"),
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("source", "sink"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("from", "to"),
    ("u", "v"),
    ("i", "j"),
    ("start", "end"),
    ("begin", "end"),
    ("origin", "destination"),
    ("origin", "dest"),
    ("orig", "dest"),
    ("init", "term"),
    ("sender", "receiver"),
)
"""Words for tails and heads, which stand alone or with nouns: ``from``, ``from_node_id``."""
MARKS = (("a", "b"), ("1", "2"), ("o", "d"))
"""Words for tails and heads only beside a noun: ``a_node``, ``id1``, ``o_zone``."""
NOUN = (
    "(?:nodes?|vertex|vertices|ids?|no|nr|num|number|nid|osmid|osm|stop|station|junction|points?|"
    "index|idx|name|code|place|city|airport|user|person|protein|gene|entity|zone|location|"
    "intersection)"
)
AXES = {
    **{"x": ("x,y", 0), "y": ("x,y", 1)},
    **dict.fromkeys(("lon", "lng", "long", "longitude"), ("lon,lat", 0)),
    **dict.fromkeys(("lat", "latitude"), ("lon,lat", 1)),
}
"""Words for the two coordinates of a place: which pair they are of, and which of its two."""
PLACE = re.compile(f"(.*?)(?:coord)?({'|'.join(AXES)})(?:coord|coords|coordinates?)?")
VERTEX = re.compile("vertex|node|(?:vertex|node|osm|stop|station|junction)?(?:id|no|nr|number)")
"""Titles of the ids of vertices."""
MEASURES = frozenset((
    "weight", "weights", "wgt", "wt", "w", "cost", "costs", "length", "len", "distance",
    "distances", "dist", "time", "times", "duration", "price", "value", "score", "impedance",
    "seconds", "minutes", "hours", "km", "kilometers", "kilometres", "meters", "metres", "miles",
    "traveltime",
))  # fmt: skip
"""A word of which one is in the title of a column of weights."""
UNITS = frozenset(["sec", "secs", "min", "mins", "ms", "m", "mi", "h", "hr", "hrs", "s"])
"""Words that say weights where they are the last of a title."""
OTHERS = frozenset((
    "id", "ids", "osmid", "key", "keys", "index", "fid", "gid", "uid", "uuid", "ref", "linkid",
    "edgeid", "arcid", "wayid", "unnamed", "label", "labels", "name", "names", "type", "kind",
    "class", "category", "lane", "lanes", "speed", "maxspeed", "freespeed", "velocity", "kmh",
    "kph", "mph", "mode", "modes", "count", "geometry", "geom", "wkt", "date", "year", "datetime",
    "timestamp", "ts", "unixts", "epoch", "start", "end", "departure", "arrival", "flag",
    "reversed", "directed", "undirected", "bidirectional", "direction", "dir", "oneway",
    "isoneway", "onewaystreet", "twoway", "istwoway", "bothways", "bothdirections",
    "bidir", "bidirected", "mutual", "symmetric",
))  # fmt: skip
"""A word of which one is in the title of a column that holds neither ends nor weights."""
THINGS = frozenset(["link", "edge", "arc", "way", "row"])
"""Whole titles of such columns."""


def compact(title: Any) -> str:
    """A title in small letters and digits alone, without what is in brackets.

    >>> compact(":START_ID(Person)"), compact("From Node-Id")
    ('startid', 'fromnodeid')
    """
    words = re.sub(r"\(.*?\)|\[.*?\]", "", str(title)[:LONGEST])
    return re.sub(r"[\W_]+", "", words).lower()


def ends_in(titles: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The pairs of titles that say tails and heads: alike but for the words of `PAIRS`, `MARKS`.

    >>> ends_in(["link_id", "to_node", "from_node", "to_city"])
    [('from_node', 'to_node')]
    """
    ends = [(title, _ends_of(compact(title))) for title in titles]
    return [
        (tail, head)
        for (tail, tails), (head, heads) in product(ends, ends)
        if any((*what, "tail") in tails and (*what, "head") in heads for *what, _ in tails)
    ]


@lru_cache(maxsize=1024)
def _ends_of(title: str) -> frozenset[tuple[Any, ...]]:
    """The pair, the nouns before and behind its word, and which of the two: all that fit."""
    fits = set()
    for pair, needs_noun in [(p, False) for p in PAIRS] + [(p, True) for p in MARKS]:
        for word, end in zip(pair, ("tail", "head"), strict=True):
            fit = re.fullmatch(f"({NOUN}{{0,3}}){word}({NOUN}{{0,3}})", title)
            if fit and (fit[1] or fit[2] or not needs_noun):
                fits.add((pair, fit[1], fit[2], end))
    return frozenset(fits)


def end_of(title: Any) -> set[str]:
    """``tail``, ``head`` or both, if the title is a word for them."""
    return {fit[-1] for fit in _ends_of(compact(title))}


class PlaceTitles(NamedTuple):
    """The titles of two columns that say where something lies."""

    of: str  # lies there: nothing, a noun, or an end of an arc
    kind: str  # ``x,y`` or ``lon,lat``
    x: Any
    y: Any


def places_in(titles: Sequence[Any]) -> list[PlaceTitles]:
    """The pairs of titles of coordinates that say the same thing of what lies there.

    >>> [tuple(place) for place in places_in(["id", "Longitude", "stop_lat", "lat", "stop_lon"])]
    [('', 'lon,lat', 'Longitude', 'lat'), ('stop', 'lon,lat', 'stop_lon', 'stop_lat')]
    """
    axes: list[tuple[str, str, int, Any]] = []
    for title in dict.fromkeys(titles):  # each once
        words = PLACE.fullmatch(compact(title))
        if words and (re.fullmatch(f"{NOUN}{{0,2}}", words[1]) or _ends_of(words[1])):
            axes.append((words[1], *AXES[words[2]], title))
    return [
        PlaceTitles(of, kind, x, y)
        for (of, kind, place, x), (*other, y) in product(axes, axes)
        if place == 0 and other == [of, kind, 1]
    ]


def is_weight_title(title: Any) -> bool:
    """Return True for ``weight``, ``travel_time`` or ``Length (km)``, not for ``time_id``."""
    words = words_in(str(title))
    if not words or {"reverse", "max"} & set(words) or is_other_title(title):
        return False
    return not MEASURES.isdisjoint(words) or words[-1] in UNITS


def weight_there(title: Any) -> str | None:
    """The title, by `compact`, of the weights there that a title like ``reverse_cost`` belongs to.

    >>> [weight_there(title) for title in ("reverse_cost", "rcost", "km_back", "time_ba", "back")]
    ['cost', 'cost', 'km', 'timeab', None]
    """
    title = str(title)[:LONGEST]
    there = re.sub(r"(?i)^(reverse[\W_]*|r(?=cost))|[\W_]+(reversed?|back)$", "", title)
    there = re.sub(r"(?i)(?<=[\W_])ba$", "ab", there)
    return compact(there) if there != title and is_weight_title(there) else None


def is_kind(title: Any) -> bool:
    """Return True if it says what vertices are, like ``person`` or ``City``, as names hardly do."""
    return re.fullmatch(f"{NOUN}{{1,3}}", compact(title)) is not None


def is_other_title(title: Any) -> bool:
    """Return True if it is like ``id``, ``link_id``, ``Label`` or ``lanes``: no end and no weight.

    >>> [is_other_title(title) for title in ("", "osmid", "max_speed", "km", "Unnamed: 0")]
    [True, True, True, False, True]
    """
    words = words_in(str(title))
    named = not OTHERS.isdisjoint(words) or compact(title) in OTHERS | THINGS
    return named or not str(title).strip()
