"""Which columns of a table are tails, heads and weights, by their titles."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError

PAIRS = (
    ("tail", "head"),
    ("source", "target"),
    ("source", "destination"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("u", "v"),
    ("i", "j"),
    ("start", "end"),
    ("origin", "destination"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("vertex1", "vertex2"),
    ("fromnodeid", "tonodeid"),
)
"""Titles of tails and heads, in small letters."""
TAILS, HEADS = (tuple(dict.fromkeys(names)) for names in zip(*PAIRS, strict=True))
WEIGHTS = ("weight", "w", "cost", "length", "distance", "wgt", "weights")
"""Titles that say weights whatever else there is, the surest first."""
MEASURE = re.compile(
    "|".join(WEIGHTS) + "|costs|dist|len|value|time|duration|price|capacity"
    "|seconds|minutes|hours|sec|min|ms|km|m|meters|metres|miles"
)
"""A word of which one is in the title of a column of weights."""


def is_weight_title(title: str) -> bool:
    """Whether it is like ``weight``, ``travel_time`` or ``Length (km)``."""
    return any(map(MEASURE.fullmatch, re.findall(r"[^\W\d_]+", title.lower())))


def chosen_columns(
    names: Sequence[Any],
    is_numeric: Callable[[Any], bool],
    *,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
) -> tuple[Any, Any, Any]:
    """The names of the columns of tails, heads and weights; None for no weights.

    Tails and heads are found by `TAILS` and `HEADS`, else they are the first and the second column.
    Weights are found by `WEIGHTS`, else they are the one column of numbers that is left.

    Args:
        names: of all columns.
        is_numeric: whether a column holds numbers.
        tail, head, weight: names that the caller knows; None for those to find.

    Raises:
        GraphError: two columns have one name, or which is which is not clear.

    >>> chosen_columns(["km", "to", "from"], lambda name: True)
    ('from', 'to', 'km')
    """
    known = ", ".join(map(str, names))
    if len(names) < 2:
        raise GraphError(f"expected columns of tails and heads, got {known}")
    if len(set(names)) < len(names):
        raise GraphError(f"two columns have the same name: {known}; rename one of them")
    for name in (tail, head, weight):
        if name is not None and name not in names:
            raise GraphError(f"the edge table has no column {name!r}; it has {list(names)}")
    tail, head = _ends(names, tail, head, known)
    rest = [name for name in names if name not in (tail, head)]
    if weight is None and rest:
        weight = _titled(rest, WEIGHTS)
    if weight is None and rest:
        numeric = [name for name in rest if is_numeric(name)]
        if len(numeric) != 1:
            raise GraphError(
                f"which column holds weights is not clear in {known}; name one `weight`, or leave "
                "out all but tails and heads for unit weights"
            )
        weight = numeric[0]
    return tail, head, weight


def _ends(names: Sequence[Any], tail: Any, head: Any, known: str) -> tuple[Any, Any]:
    titled = _titled(names, TAILS), _titled(names, HEADS)
    if None in titled:
        titled = names[0], names[1]
    ends = titled[0] if tail is None else tail, titled[1] if head is None else head
    odd = ends[0] == ends[1] or any(str(end).lower() in WEIGHTS for end in titled)
    if odd and (tail is None or head is None):
        raise GraphError(
            f"which columns hold tails and heads is not clear in {known}; "
            "name them `tail` and `head`"
        )
    return ends


def _titled(names: Sequence[Any], titles: Sequence[str]) -> Any:
    lower = {str(name).lower(): name for name in names}
    return next((lower[title] for title in titles if title in lower), None)


def as_int64(values: NDArray[Any], what: str) -> NDArray[np.int64]:
    """Integers as int64.

    Raises:
        GraphError: `what` does not fit.
    """
    if values.dtype == np.uint64 and len(values) and values.max() > np.iinfo(np.int64).max:
        raise GraphError(f"{what} is {values.max()}, which does not fit in 64-bit signed integers")
    return values.astype(np.int64, copy=False)
