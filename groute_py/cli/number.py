"""Numbers of the command line: integers stay whole, whatever their size."""

from __future__ import annotations

import re


def number(text: str) -> int | float:
    """An integer as an int, any other number as a float.

    Raises:
        ValueError: the text is not a number.

    >>> number("9007199254740993"), number("1e3")
    (9007199254740993, 1000.0)
    """
    try:
        return int(text) if re.fullmatch(r"[+-]?\d{1,400}", text) else float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number.") from None
