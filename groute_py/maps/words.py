"""What the titles of pictures say of an answer."""

from __future__ import annotations

from groute_py.results.result import Result


def title_of(what: str, result: Result) -> str:
    """What is drawn, and from or to which vertex."""
    word = "to" if result.reverse else "from"
    return f"{what} {word} vertex {result.numbering.id_of(result.source)}"


def reach_of(result: Result, unit: str) -> str:
    """How many vertices are reached, and the farthest, in words."""
    reached, count = result.distances[result.reached], len(result.distances)
    text = f"{len(reached):,} of {count:,} vertices reached"
    return text if not len(reached) else f"{text}; farthest: {amount(reached.max().item(), unit)}"


def amount(value: float, unit: str) -> str:
    """A distance with its unit.

    >>> amount(12935, "metres"), amount(0.123456789, "s")
    ('12,935 metres', '0.123457 s')
    """
    return f"{value:,} {unit}" if isinstance(value, int) else f"{value:,.6g} {unit}"
