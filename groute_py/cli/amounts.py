"""Amounts as people write them in options: numbers, limits with units, sizes of memory."""

from __future__ import annotations

import re

import click

from groute_py.errors import InputError, quote
from groute_py.system.settings import nbytes_of


class Integer(click.IntRange):
    """Integers of a range, by a name that people know."""

    name = "integer"


def number(text: str) -> int | float:
    """Return an integer as an int, whatever its size, and any other number as a float.

    >>> number("9007199254740993"), number("1e3")
    (9007199254740993, 1000.0)
    """
    try:
        return int(text) if re.fullmatch(r"[+-]?\d{1,400}", text) else float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number.") from None


def limit(text: str) -> int | float | str:
    """Return a number, or an amount with a unit as it is.

    >>> limit("300"), limit("5min")
    (300, '5min')
    """
    try:
        return number(text)
    except ValueError:
        if not text[-1:].isalpha():
            raise
        return text


def share(text: str) -> float:
    """Return a share, which may be in percent.

    >>> share("25%"), share("0.25")
    (0.25, 0.25)
    """
    return number(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


def size_of(text: str | None) -> int | None:
    """Return a size as people write it; None for none.

    >>> size_of("1.5G")
    1500000000
    """
    if text is None:
        return None
    if (size := nbytes_of(text)) is None:
        raise InputError(f"--memory-limit {quote(text)} is no size; write it as 20G or 512Mi")
    return size
