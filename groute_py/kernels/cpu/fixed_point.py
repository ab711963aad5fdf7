"""Sums of numbers that are not negative, exact and so in any order: 128-bit fixed point.

A number is two words: ``high``, its whole part, and ``low``, its fraction in units of 2⁻⁶⁴. What is
smaller is cut off as the number is converted; additions lose nothing. The CUDA kernels do the same.

`summary_of` and `sum_reciprocals` are as ``kernels/multi_source/{summary,reciprocals}.cu``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.kernel import kernel
from groute_py.system.threads import in_slices

UNITS = 2.0**64
"""Units of a fraction in 1."""

CONVERTED_AT_ONCE = 1 << 16
"""Sums that a thread converts to floats in one go."""


@kernel
def fixed(number: Any) -> Any:
    """(low, high) of a float64 from 0 to 2⁶³."""
    high = np.uint64(number)
    return np.uint64((number - np.float64(high)) * UNITS), high


@kernel
def plus(low: Any, high: Any, more: Any, much: Any) -> Any:
    """(low, high) of the sum of two numbers."""
    total = low + more
    carry = np.uint64(1) if total < low else np.uint64(0)
    return total, high + much + carry


@kernel
def add_at(sums: Any, place: Any, low: Any, high: Any) -> None:
    """Add to row ``place`` of ``sums``, uint64, shape (k, 2)."""
    sums[place, 0], sums[place, 1] = plus(sums[place, 0], sums[place, 1], low, high)


def add(sums: NDArray[np.uint64], more: NDArray[np.uint64]) -> None:
    """Add each row of ``more`` to that of ``sums``; both uint64, shape (k, 2).

    >>> sums = np.array([[2**63, 1]], np.uint64)
    >>> add(sums, sums.copy())
    >>> sums.tolist()
    [[0, 3]]
    """
    sums[:, 0] += more[:, 0]
    sums[:, 1] += more[:, 1] + (sums[:, 0] < more[:, 0])


def floats(sums: NDArray[np.uint64]) -> NDArray[np.float64]:
    """The numbers, shape (k,).

    >>> floats(np.array([[2**62, 3]], np.uint64)).tolist()
    [3.25]
    """
    numbers = np.empty(len(sums))

    def convert(some: slice) -> None:
        np.divide(sums[some, 0], UNITS, out=numbers[some])
        numbers[some] += sums[some, 1]

    in_slices(len(sums), CONVERTED_AT_ONCE, convert)
    return numbers


CHUNK, SCALE = 8192, 2.0**32
"""``RECIPROCAL_CHUNK`` and ``RECIPROCAL_SCALE`` of the CUDA kernel."""


@kernel
def summary_of(row: Any, nothing: Any, low_bits: int) -> Any:
    """Summarize a row of integers in one pass.

    Returns the number of reached vertices, the first of the farthest, the greatest distance, and
    the sum in two words: of the distances above their ``low_bits``, and of these.
    """
    mask = (1 << low_bits) - 1
    reached = high = low = farthest = 0
    greatest = -nothing
    for vertex in range(len(row)):
        distance = row[vertex]
        if distance == nothing:
            continue
        reached += 1
        high += distance >> low_bits
        low += distance & mask
        if distance > greatest:
            greatest, farthest = distance, vertex
    return reached, farthest, greatest, high, low


@kernel
def sum_reciprocals(row: Any, nothing: Any) -> Any:
    """(low, high): the sum of `SCALE` / distance over a row of integers, in fixed point.

    Unreached vertices and distances of 0 add nothing. All of fewer than 2³² vertices fit.
    """
    low, high = np.uint64(0), np.uint64(0)
    for distance in row:
        if distance != nothing and distance != 0:
            more, much = fixed(SCALE / np.float64(distance))
            low, high = plus(low, high, more, much)
    return low, high
