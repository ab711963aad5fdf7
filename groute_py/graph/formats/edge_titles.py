"""Whether the first row of an edge list is its titles."""

from __future__ import annotations

import re

from groute_py.errors import FormatError
from groute_py.graph.columns import HEADS, PAIRS, TAILS, is_weight_title
from groute_py.graph.formats.edge_fields import Records, as_integer
from groute_py.graph.head import Head

WORD = re.compile(r"[^\W\d]\w*([ _().:/-]+\w+)*[ )]*")
NO_TITLES = ("nan", "inf", "infinity", "null", "none", "na")
"""What a third field may say in the place of a number."""


def are_titles(head: Head, rows: Records) -> bool:
    """Whether the first row is titles: never where it could be an arc.

    That is words above integers, or a known pair such as ``from to``; behind it stands nothing, or
    a word that says weights.

    Raises:
        FormatError: they are, and the columns stand in another order.
    """
    number, first = rows[0][0], [field.decode(errors="replace") for field in rows[0][1]]
    if not all(map(WORD.fullmatch, first)) or (first[2:] and first[2].lower() in NO_TITLES):
        return False
    later = [fields for _, fields in rows[1:]]
    pair = first[0].lower(), first[1].lower()
    if later and all(as_integer(end) is not None for fields in later for end in fields[:2]):
        _check_order(head, number, [title.lower() for title in first])
        return True
    if pair in PAIRS:
        used = {end for fields in later for end in fields[:2]}
        return is_weight_title(first[2]) if first[2:] else used.isdisjoint(rows[0][1])
    return False


def _check_order(head: Head, line: int, titles: list[str]) -> None:
    backwards = titles[0] in HEADS and titles[1] in TAILS
    elsewhere = (
        any(set(pair) <= set(titles) and [*pair] != titles[:2] for pair in PAIRS)
        and tuple(titles[:2]) not in PAIRS
    )
    if backwards or elsewhere or any(map(is_weight_title, titles[:2])):
        problem = f"columns {', '.join(titles)}; put them in the order tail, head, weight"
        raise FormatError(head.path, problem, line=line)
