"""Summaries of rows of distances: a few numbers of each, where rows are not kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.kernels.cpu.fixed_point import SCALE, UNITS, add, floats, sum_reciprocals, summary_of

NO_VERTEX = np.uint32(0xFFFFFFFF)
"""Greater than every vertex."""

LOW_BITS = 32
"""Bits of the lower of the two words in which integers are summed."""


class SumError(Exception):
    """The sum of a row's distances does not fit in int64."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


class LiftError(Exception):
    """A distance does not fit in int64 once the potentials are taken out of it."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """The numbers that each row is reduced to."""

    sums: bool = True  # of distances; else sums are 0, and none is too great
    histogram: bool = False  # of distances by their size
    reciprocals: bool = False  # sums of 1 / distance; not with potentials
    # Johnson's potentials of the rows, (n,), int64 or float64; to be taken out
    heights: NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class Summary:
    """Summaries of r rows; a sum has the type `wide`, and is 0 or None if not asked for."""

    first: int  # which of the sources the first row belongs to; the others follow
    reached: NDArray[np.int64]  # (r,), the source included
    sums: NDArray[Any]  # (r,), of distances
    farthest: NDArray[np.int64]  # (r,), the vertex of the greatest distance, the first of several
    greatest: NDArray[Any]  # (r,), that distance
    histogram: NDArray[np.int64] | None  # (`bin_count`,), of all rows by `bins_of`
    # (r,), of 1 / distance but for 0; of integers the same on every device
    reciprocals: NDArray[np.float64] | None = None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.reached)


def wide(distance_type: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which distances are added up."""
    return np.dtype(np.float64 if distance_type.kind == "f" else np.int64)


def partial_type(distance_type: np.dtype[Any]) -> np.dtype[Any]:
    """``Partial`` of kernels/multi_source/summary.cu."""
    number = wide(distance_type)
    return np.dtype(
        [
            ("low", np.uint64),
            ("high", number),
            ("greatest", number),
            ("reached", np.uint32),
            ("farthest", np.uint32),
        ]
    )


def exponents(distance_type: np.dtype[Any]) -> tuple[int, int]:
    """Return how many exponents distances may have, and the shift that makes the least 1.

    The exponent of a distance d is e where 2^(e−1) ≤ |d| < 2^e.
    """
    return (64, 0) if distance_type.kind != "f" else (2098, 1074)


def bin_count(distance_type: np.dtype[Any]) -> int:
    """Count a histogram's bins: one for 0, then one for each exponent of either sign."""
    return 2 * exponents(distance_type)[0] + 1


def edges_of(number: int, distance_type: np.dtype[Any]) -> tuple[float, float]:
    """Return the powers of two around the distances of a bin; 0 at both ends of the first bin.

    >>> edges_of(3, np.dtype(np.int64)), edges_of(64 + 1, np.dtype(np.int64))
    ((4.0, 8.0), (-2.0, -1.0))
    """
    if number == 0:
        return 0.0, 0.0
    count, shift = exponents(distance_type)
    negative, exponent = divmod(number - 1, count)
    exponent += 1 - shift
    small, large = 2.0 ** (exponent - 1), 2.0**exponent if exponent <= 1023 else float("inf")
    return (-large, -small) if negative else (small, large)


def joined(
    first: int,
    partials: NDArray[Any],
    histogram: NDArray[np.int64] | None,
    *,
    with_sums: bool = True,
) -> Summary:
    """Join partials (`partial_type`, (r, parts)); `SumError` for too great a sum."""
    there = partials["reached"] > 0
    lowest = np.array(-np.inf if partials["greatest"].dtype.kind == "f" else np.iinfo(np.int64).min)
    each = np.where(there, partials["greatest"], lowest.astype(partials["greatest"].dtype))
    greatest = each.max(axis=1)
    is_farthest = each == greatest[:, np.newaxis]
    return Summary(
        first,
        partials["reached"].sum(axis=1, dtype=np.int64),
        _sums(first, partials) if with_sums else np.zeros_like(greatest),
        np.where(is_farthest, partials["farthest"], NO_VERTEX).min(axis=1).astype(np.int64),
        greatest,
        histogram,
    )


def summarize(first: int, row: NDArray[Any], source: int, request: Wanted) -> Summary:
    """Summarize one row in host memory; `SumError` or `LiftError` if a number does not fit."""
    if row.dtype.kind != "f" and not request.histogram and request.heights is None:
        return _with_reciprocals(_of_integers(first, row, request), row, request)
    vertices = np.flatnonzero(row != unreached(row.dtype))
    distances = row[vertices].astype(wide(row.dtype))
    if request.heights is not None:
        distances = _lifted(distances, request.heights[vertices], request.heights[source])
    partials = np.zeros((1, 1), partial_type(row.dtype))
    place = distances.argmax()
    partials["reached"], partials["farthest"] = len(vertices), vertices[place]
    partials["greatest"] = distances[place]
    if distances.dtype.kind == "f":
        with np.errstate(over="ignore"):  # then it is infinite
            partials["high"] = distances.sum()
    else:
        partials["high"] = (distances >> LOW_BITS).sum()
        partials["low"] = (distances & ((1 << LOW_BITS) - 1)).sum()
    histogram = None
    if request.histogram:
        histogram = np.bincount(bins_of(distances), minlength=bin_count(row.dtype))
    summary = joined(first, partials, histogram, with_sums=request.sums)
    return _with_reciprocals(summary, row, request)


def _with_reciprocals(summary: Summary, row: NDArray[Any], request: Wanted) -> Summary:
    if not request.reciprocals:
        return summary
    if row.dtype.kind != "f":
        exact = np.array([sum_reciprocals(row, unreached(row.dtype))], np.uint64)
        return replace(summary, reciprocals=floats(exact) / SCALE)
    with np.errstate(over="ignore"):  # then it is infinite
        inverse = 1.0 / row[(row != 0) & np.isfinite(row)].astype(np.float64)
    return replace(summary, reciprocals=np.array([inverse.sum()]))


def _of_integers(first: int, row: NDArray[Any], request: Wanted) -> Summary:
    """The summary of a row of integers in one pass, without a histogram."""
    partials = np.zeros((1, 1), partial_type(row.dtype))
    numbers = summary_of(row, unreached(row.dtype), LOW_BITS)
    for name, value in zip(
        ("reached", "farthest", "greatest", "high", "low"), numbers, strict=True
    ):
        partials[name] = value
    return joined(first, partials, None, with_sums=request.sums)


def summary_of_levels(
    first: int, counts: NDArray[np.int64], farthest: NDArray[np.int64], request: Wanted
) -> Summary:
    """Summarize rows of distances whose arcs count 1, from their numbers of vertices by distance.

    Args:
        counts: shape (r, d), of vertices at the distances 0, 1, … d − 1.
        farthest, first: as of `Summary`.
    """
    distances = np.arange(counts.shape[1])
    reciprocals = np.zeros((len(counts), 2), np.uint64)
    for distance in distances[1:].tolist():
        add(reciprocals, _times(counts[:, distance].astype(np.uint64), SCALE / distance))
    histogram = np.zeros(bin_count(distances.dtype), np.int64)
    np.add.at(histogram, bins_of(distances), counts.sum(axis=0))
    return Summary(
        first,
        counts.sum(axis=1),
        counts @ distances,
        farthest,
        (counts > 0).sum(axis=1) - 1,
        histogram if request.histogram else None,
        floats(reciprocals) / SCALE if request.reciprocals else None,
    )


def _times(counts: NDArray[np.uint64], number: float) -> NDArray[np.uint64]:
    """Products of counts below 2³² and a number, in fixed point."""
    whole, half, mask = int(number * UNITS), np.uint64(32), np.uint64(0xFFFFFFFF)
    lower, middle = (
        counts * np.uint64(whole & 0xFFFFFFFF),
        counts * np.uint64(whole >> 32 & 0xFFFFFFFF),
    )
    middle += lower >> half
    high = counts * np.uint64(whole >> 64) + (middle >> half)
    return np.stack([middle << half | lower & mask, high], axis=1)


def bins_of(distances: NDArray[Any]) -> NDArray[np.int64]:
    """The bin of each distance, of type `wide`; see `bin_count`."""
    count, shift = exponents(distances.dtype)
    if distances.dtype.kind == "f":
        lengths = np.frexp(distances)[1].astype(np.int64)
    else:
        lengths = _bit_lengths(np.abs(distances))
    bins: NDArray[np.int64] = np.where(distances < 0, count, 0) + lengths + shift
    bins[distances == 0] = 0
    return bins


def _bit_lengths(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return bit lengths of non-negative integers; floats hold the upper and lower half of each."""
    upper, lower = numbers >> LOW_BITS, numbers & ((1 << LOW_BITS) - 1)
    exponents: NDArray[np.int64] = np.where(
        upper > 0, np.frexp(upper)[1] + LOW_BITS, np.frexp(lower)[1]
    )
    return exponents


def _lifted(distances: NDArray[Any], heights: NDArray[Any], own: Any) -> NDArray[Any]:
    sums: NDArray[Any] = distances + heights  # no potential is above 0
    if distances.dtype.kind != "f" and (sums >= np.iinfo(np.int64).max + own).any():
        raise LiftError
    sums -= own
    return sums


def _sums(first: int, partials: NDArray[Any]) -> NDArray[Any]:
    high: NDArray[Any] = partials["high"].sum(axis=1)
    if high.dtype.kind == "f":
        return high
    low = partials["low"].sum(axis=1)
    high += (low >> np.uint64(LOW_BITS)).astype(np.int64)
    unfit = (high < -(1 << 31)) | (high >= 1 << 31)
    if unfit.any():
        raise SumError(first + int(unfit.argmax()))
    low &= np.uint64((1 << LOW_BITS) - 1)
    sums: NDArray[Any] = (high << LOW_BITS) | low.astype(np.int64)
    return sums
