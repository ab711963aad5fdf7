"""Checks of JSON and integers from files of unknown origin, before they are used."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from groute_py.errors import quote, quoted

INT64 = np.iinfo(np.int64)

MOST_DIGITS = 400  # of an integer in JSON; float64 holds less than 310


def json_object(text: bytes) -> dict[str, Any]:
    """The JSON object that a text is.

    >>> json_object(b'{"a": 1}')
    {'a': 1}
    """
    try:
        result = json.loads(
            text,
            object_pairs_hook=_members,
            parse_constant=_no_number,
            parse_float=_decimal,
            parse_int=_whole,
        )
    except RecursionError:
        raise ValueError("JSON that is nested too deep") from None
    if not isinstance(result, dict):
        raise ValueError(f"expected a JSON object, got {type(result).__name__}")
    return result


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValueError(f"{quote(name)} is there twice")
        members[name] = value
    return members


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number in JSON")


def _decimal(text: str) -> float:
    if math.isinf(number := float(text)):
        raise ValueError(f"{quoted(text)} is out of range; the greatest number is 1.8e308")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"an integer of more than {MOST_DIGITS} digits")
    return int(text)


def integer(what: str, value: Any, least: int, most: int) -> int:
    """An integer within bounds, Python's or NumPy's, or an array of no dimension that is one.

    It is never rounded, nor read from text.

    >>> integer("first_id", np.int32(7), 0, 9)
    7
    """
    scalar = value[()] if isinstance(value, np.ndarray) else value
    if isinstance(scalar, bool | np.bool_ | np.ndarray) or not hasattr(scalar, "__index__"):
        raise ValueError(f"{what} must be an integer, not {quote(value)}")
    number = operator.index(scalar)
    if not least <= number <= most:
        raise ValueError(f"{what} must be in {least}..{most}, not {number}")
    return number


def first_id(value: Any, vertex_count: int) -> int:
    """The id of the first of so many vertices whose ids count upwards and fit in 64 bits."""
    return integer("first_id", value, INT64.min, INT64.max - max(vertex_count - 1, 0))
