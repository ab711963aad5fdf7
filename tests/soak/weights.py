"""Kinds of weights, each as an array for groute-py and as exact integers for the reference."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from soak.shapes import Arcs

EIGHTHS = 8
"""Floats that are multiples of 1/8 and not too many add up without rounding."""


class Weights(NamedTuple):
    """Weights of arcs.

    Attributes:
        array: as a graph has them.
        exact: integers; ``exact[a] / scale`` is what arc a is meant to weigh.
        scale: see `exact`.
        rounded: whether sums of the array may be rounded, so that answers are right to a tolerance.
        meant: whether the array is rounded too from what is meant.
    """

    array: NDArray[Any]
    exact: list[int]
    scale: int = 1
    rounded: bool = False
    meant: bool = False


Kind = Callable[[Random, str, int, Arcs], Weights | None]
"""Draws weights of a type for the arcs of a graph of n vertices; None where the type has none."""


def unit(random: Random, dtype: str, count: int, arcs: Arcs) -> Weights | None:
    return _integers([1] * len(arcs), dtype)


def zero(random: Random, dtype: str, count: int, arcs: Arcs) -> Weights | None:
    return _integers([0] * len(arcs), dtype)


def small(random: Random, dtype: str, count: int, arcs: Arcs) -> Weights | None:
    greatest = random.choice((1, 3, 20, 1000))
    return _integers([random.randint(0, greatest) for _ in arcs], dtype)


def eighths(random: Random, dtype: str, count: int, arcs: Arcs) -> Weights | None:
    greatest = min(4096, 2**24 // (count + 1))
    return _eighths([random.randint(0, greatest) for _ in arcs], dtype)


def heavy(random: Random, dtype: str, count: int, arcs: Arcs) -> Weights | None:
    """As large as the type has them, or as 64 bits have room for their sums."""
    tops = {"int32": 2**31 - 1, "uint32": 2**32 - 1, "int64": (2**63 - 2) // max(count, 1)}
    if (top := tops.get(dtype)) is None:
        return None
    return _integers([top - random.choice((0, 1, top // 2, top)) for _ in arcs], dtype)


def overflowing(random: Random, dtype: str, count: int, arcs: Arcs) -> Weights | None:
    """Sums of a few weights are beyond 64 bits."""
    if dtype != "int64":
        return None
    return _integers([random.choice((0, 2**61, 2**62, 2**63 - 2)) for _ in arcs], dtype)


def rounded(random: Random, dtype: str, count: int, arcs: Arcs) -> Weights | None:
    """Floats of every size, whose sums are rounded."""
    if not dtype.startswith("float"):
        return None
    spread = random.choice((0, 3, 12))
    array = np.array([random.random() * 10 ** random.randint(-spread, spread) for _ in arcs], dtype)
    ratios = [float(weight).as_integer_ratio() for weight in array]
    scale = max((denominator for _, denominator in ratios), default=1)
    exact = [numerator * (scale // denominator) for numerator, denominator in ratios]
    return Weights(array, exact, scale, rounded=True)


def negative(random: Random, dtype: str, count: int, arcs: Arcs) -> Weights | None:
    """Negative arcs, but no negative cycle: each arc leads from one height to another."""
    if dtype == "uint32":
        return None
    slack = random.choice((0, 1, 20))
    heights = _heights(random, count)
    weights = [random.randint(0, slack) + heights[u] - heights[v] for u, v in arcs]
    return _eighths(weights, dtype) if dtype.startswith("float") else _integers(weights, dtype)


def sinking(random: Random, dtype: str, count: int, arcs: Arcs) -> Weights | None:
    """Some arcs are negative, so that there may be a negative cycle."""
    if dtype == "uint32":
        return None
    chance = random.choice((0.02, 0.1, 0.3))
    weights = [
        -random.randint(1, 10) if random.random() < chance else random.randint(0, 30) for _ in arcs
    ]
    return _eighths(weights, dtype) if dtype.startswith("float") else _integers(weights, dtype)


def closing(random: Random, dtype: str, count: int, arcs: Arcs) -> Weights | None:
    """Hundredths: cycles weigh 0 in decimal numbers, and nearly so in binary ones."""
    if not dtype.startswith("float"):
        return None
    heights = _heights(random, count)
    exact = [heights[u] - heights[v] for u, v in arcs]
    array = np.array([w / 100 for w in exact], dtype)
    return Weights(array, exact, 100, rounded=True, meant=True)


def _heights(random: Random, count: int) -> list[int]:
    highest = random.choice((1, 10, 300))
    return [random.randint(0, highest) for _ in range(count)]


def _integers(weights: list[int], dtype: str) -> Weights:
    return Weights(np.array(weights, dtype), weights)


def _eighths(weights: list[int], dtype: str) -> Weights | None:
    if not dtype.startswith("float"):
        return None
    return Weights(np.array([w / EIGHTHS for w in weights], dtype), weights, EIGHTHS)


KINDS: dict[str, Kind] = {
    kind.__name__: kind
    for kind in (
        *(unit, zero, small, eighths, heavy, overflowing, rounded, negative, sinking, closing),
    )
}
"""All of them by name."""
