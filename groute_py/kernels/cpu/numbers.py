"""Decimal numbers in text, read by compiled loops and written by one.

A text ends with a newline, which therefore stops every inner loop without a length check.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.kernel import kernel

PLUS, MINUS, POINT, LETTER_E, CAPITAL_E = 43, 45, 46, 101, 69

# Positions and digits are unsigned: an index that cannot be negative compiles to a plain load,
# and one comparison tells a digit. Numba makes a float of unsigned and signed together, hence
# constants of the one type.
NONE, ONE, TEN, ZERO = np.uint64(0), np.uint64(1), np.uint64(10), np.uint64(48)
MOST_DIGITS = np.uint64(18)
"""Number of decimal digits that always fit in int64."""
UNSIGNED_DIGITS = 19
"""Number of digits that always fit in uint64."""
NOWHERE = np.uint64(0)
"""The end of what is not a number: numbers end behind their first digit."""
NO_ID = np.uint64(2**64 - 1)
EXACT_MANTISSA = np.uint64(2**53)
POWERS_OF_TEN = np.array([10.0**k for k in range(23)])
"""Those that float64 holds exactly: one multiplication or division by one rounds correctly."""
SPLITTER = 2.0**27 + 1


@kernel
def is_fraction(code: int) -> bool:
    """Return True if a number goes on as a decimal here."""
    return code in (POINT, LETTER_E, CAPITAL_E)


@kernel
def digits(text: NDArray[np.uint8], p: np.uint64, value: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Digits from `p` on, appended to `value`; and where they end."""
    digit = np.uint64(text[p]) - ZERO
    while digit < TEN:
        value = value * TEN + digit
        p += ONE
        digit = np.uint64(text[p]) - ZERO
    return value, p


@kernel
def identity(text: NDArray[np.uint8], p: np.uint64) -> tuple[np.uint64, np.uint64]:
    """An id: digits; `NO_ID` where there are none, or too many."""
    value, end = digits(text, p, NONE)
    if end == p or end - p > MOST_DIGITS:
        value = NO_ID
    return value, end


@kernel
def integer(text: NDArray[np.uint8], p: np.uint64) -> tuple[np.int64, np.uint64]:
    """A sign or none, then digits; the end is `NOWHERE` where there are none, or too many."""
    negative = text[p] == MINUS
    start = p + ONE if negative or text[p] == PLUS else p
    value, end = digits(text, start, NONE)
    if (end == start or end - start > MOST_DIGITS) and not is_fraction(text[end]):
        end = NOWHERE
    return (-np.int64(value) if negative else np.int64(value)), end


@kernel
def decimal(text: NDArray[np.uint8], p: np.uint64) -> tuple[float, np.uint64]:
    """A decimal number, rounded correctly; ends `NOWHERE` where that is not sure."""
    negative = text[p] == MINUS
    start = p + ONE if negative or text[p] == PLUS else p
    mantissa, end = digits(text, start, NONE)
    count = np.int64(end - start)
    exponent = np.int64(0)
    if text[end] == POINT:
        point = end + ONE
        mantissa, end = digits(text, point, mantissa)
        exponent = -np.int64(end - point)
        count -= exponent
    if text[end] == LETTER_E or text[end] == CAPITAL_E:
        power, end = integer(text, end + ONE)
        exponent += power
    if end == NOWHERE or not 0 < count <= UNSIGNED_DIGITS or abs(exponent) > 22:
        return 0.0, NOWHERE
    value = _scaled(mantissa, exponent)
    return (-value if negative else value), end if value >= 0 else NOWHERE


@kernel
def _scaled(mantissa: np.uint64, exponent: np.int64) -> float:
    """The float64 nearest to mantissa · 10^exponent, or -1 where it is too close to call.

    For mantissas beyond 53 bits the result is a sum of two float64, the second with a known bound
    on its error (Dekker, Numer. Math. 18, 1971).
    """
    power: float = POWERS_OF_TEN[abs(exponent)]
    high = float(mantissa)
    if mantissa <= EXACT_MANTISSA:
        return high / power if exponent < 0 else high * power
    low = float(np.int64(mantissa - np.uint64(high)))
    if exponent < 0:
        value = high / power
        product, rest = _product(value, power)
        first, second = ((high - product) - rest) / power, low / power
    else:
        value, first = _product(high, power)
        second = low * power
    error = (abs(first) + abs(second)) * 2.0**-50
    least, most = value + (first + second - error), value + (first + second + error)
    return least if least == most else -1.0


@kernel
def _product(a: float, b: float) -> tuple[float, float]:
    """The exact product of two numbers as the sum of two float64."""
    product = a * b
    high_a, high_b = a * SPLITTER, b * SPLITTER
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, low_a * low_b - (
        ((product - high_a * high_b) - low_a * high_b) - high_a * low_b
    )


@kernel
def put_integer(text: NDArray[np.uint8], p: int, number: np.int64) -> int:
    """Write a number at `p` and say where it ends; -2^63 has an unsigned magnitude."""
    if number < 0:
        text[p] = MINUS
        p += 1
    magnitude = np.uint64(-number) if number < 0 else np.uint64(number)
    end = p + 1
    rest = magnitude // TEN
    while rest > NONE:
        rest = rest // TEN
        end += 1
    for place in range(end - 1, p - 1, -1):
        text[place] = np.uint8(magnitude % TEN + ZERO)
        magnitude = magnitude // TEN
    return end
