"""Units of weights, as titles of columns say them, and amounts with a unit."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any

from groute_py.errors import InputError, quote, quoted
from groute_py.graph.geography import OPENSTREETMAP, Units

SHOWN = {"ms": ("s", Fraction(1, 1000)), "per ms": ("per s", Fraction(1000))}
"""Units that people are not shown, with those in their place, and what one is in it."""

SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60), "h": Fraction(3600)}
METRES = {"m": Fraction(1), "km": Fraction(1000), "mi": Fraction(1609344, 1000)}
WORDS = {
    **{"ms": "ms", "millisecond": "ms", "s": "s", "sec": "s", "second": "s", "min": "min"},
    **{"minute": "min", "h": "h", "hr": "h", "hour": "h", "m": "m", "metre": "m", "meter": "m"},
    **{"km": "km", "kilometre": "km", "kilometer": "km", "mi": "mi", "mile": "mi"},
}
"""Units by their words, of which the longer ones have plurals too."""

SHORT = frozenset(("s", "m", "h", "mi", "min", "ms"))
"""Words that say a unit only behind another one: ``min`` alone may be the least of something."""

TIMES = frozenset(("time", "times", "duration", "traveltime"))
LONGEST = 200
"""Letters of a title that are looked at; some patterns take the square of them."""

AMOUNT = re.compile(r"(\d{1,300}(?:\.\d{0,300})?|\.\d{1,300}) ?([a-z]+)")
"""A number, in any unit one that float64 holds, and a word."""

SPEED = re.compile(r"(\d{1,9}(?:\.\d{0,9})?) ?km/h")

OF_ROADS = {"time": "ms", "length": "m"}
"""Units of the columns of OpenStreetMap's roads."""


def units_of(title: str, attribution: str) -> Units:
    """Return the units of weights by a title, and of the columns that do not say theirs.

    The unit of a table is the last word of its title, as in ``length_m`` and ``Time (minutes)``.
    """
    units = OF_ROADS if attribution == OPENSTREETMAP else {}
    unit = units.get(title) or _unit_in(title)
    return {"": unit, **units} if unit else units


@lru_cache(maxsize=1024)
def words_in(title: str) -> tuple[str, ...]:
    """The words of a title, in small letters."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", title[:LONGEST])
    return tuple(re.findall(r"[^\W\d_]+", parted.lower()))


def _unit_in(title: str) -> str:
    """Return the unit that a title says, "" for none.

    >>> [_unit_in(title) for title in ("length_m", "travel_time_min", "km", "time_m", "min")]
    ['m', 'min', 'km', '', '']
    """
    *words, last = words_in(title) or ("",)
    unit = _known(last)
    is_unclear = (not words and last in SHORT) or "per" in words
    if is_unclear or (unit in METRES and not TIMES.isdisjoint(words)):
        return ""
    return unit


def _known(word: str) -> str:
    return WORDS.get(word) or WORDS.get(word.removesuffix("s"), "")


def number_of(text: str, unit: str | None, graph: str = "") -> int | float:
    """Return an amount such as ``5min`` in the unit of a graph's weights; for None only check it.

    >>> number_of("5min", "ms"), number_of("2.5 km", "m"), number_of("90s", "min")
    (300000, 2500, 1.5)
    """
    words = AMOUNT.fullmatch(text.strip())
    own = _known(words[2]) if words else ""
    if words is None or not own:
        units = " ".join((*SECONDS, *METRES))
        raise InputError(f"{quote(text)} is no amount; write 300, or 5min, in one of {units}")
    if unit == "":
        raise InputError(
            f"{quote(text)}: the unit of the weights of {quoted(graph)} is not known; leave it out"
        )
    scales = SECONDS if own in SECONDS else METRES
    if unit is not None and unit not in scales:
        units = " ".join(SECONDS if unit in SECONDS else METRES)
        hint = "minutes are min" if own == "m" else f"write one of {units}"
        raise InputError(
            f"{quote(text)}: the weights of {quoted(graph)} are in {unit}; {hint}, or name a "
            "column by --weight (weight= in Python)"
        )
    number = Fraction(words[1]) * (scales[own] / scales[unit or own])
    return int(number) if number.denominator == 1 else float(number)


def speed_of(text: str) -> float | None:
    """Return the metres per second of a speed, None for other texts.

    >>> speed_of("5km/h"), speed_of("5")
    (1.3888888888888888, None)
    """
    words = SPEED.fullmatch(text.strip())
    return float(words[1]) / 3.6 if words and float(words[1]) > 0 else None


def per_metre(speed: float, unit: str) -> float | None:
    """Return how much of a unit a metre is at some metres per second; None for other units."""
    if unit in METRES:
        return float(1 / METRES[unit])
    return 1 / speed / float(SECONDS[unit]) if unit in SECONDS else None


def shown_unit(unit: str) -> str:
    """Return the unit in which people are shown numbers of a unit."""
    return SHOWN[unit][0] if unit in SHOWN else unit


def titled(title: str, unit: str) -> str:
    """Return a title with the unit in which its numbers are shown, if there is one.

    >>> titled("distance", "ms"), titled("closeness", "per ms"), titled("time", "")
    ('distance_s', 'closeness_per_s', 'time')
    """
    return "_".join([title, *shown_unit(unit).split()])


def shown(values: Any, unit: str) -> Any:
    """Return a number, an array of numbers, or None, in `shown_unit`: floats if that is another.

    >>> shown(90_061, "ms"), shown(7, "min")
    (90.061, 7)
    """
    if values is None or unit not in SHOWN:
        return values
    size = SHOWN[unit][1]
    return values * size.numerator / size.denominator


def amount(number: float, unit: str, digits: int = 12) -> str:
    """Return a number of a unit for people, in minutes or kilometres where it is as great.

    >>> amount(300_000, "ms"), amount(950, "m"), amount(2.5, "km"), amount(1200, "")
    ('5 min', '950 m', '2.5 km', '1,200')
    """
    shown = unit
    for scales, names in ((SECONDS, ("min", "s")), (METRES, ("km", "m"))):
        if unit in scales:
            size = number * scales[unit]
            shown = next((name for name in names if size >= scales[name]), unit)
            number = float(size / scales[shown])
    return f"{float(f'{number:.{digits}g}'):,.12g} {shown}".rstrip()
