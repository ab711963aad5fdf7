"""DIMACS arc lines, ``a tail head weight``, read from bytes and written to bytes.

`scan_arcs` understands what nearly every line is: arcs with plain numbers, comments, blank lines.
It stops in front of any line that is something else (the ``p`` line, a mistake, a number that
needs care), and the caller, who has all of Python to say what is wrong, takes that one line.
The text must end with a newline, which therefore stops every inner loop without a length check.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

NEWLINE, SPACE, TAB, RETURN = 10, 32, 9, 13
PLUS, MINUS, POINT = 43, 45, 46
LETTER_A, LETTER_C, LETTER_E, CAPITAL_E = 97, 99, 101, 69

# Positions and digits are unsigned: an index that cannot be negative compiles to a plain load,
# and one comparison tells a digit. Numba makes a float of unsigned and signed together, hence
# constants of the one type.
NONE, ONE, TEN, ZERO = np.uint64(0), np.uint64(1), np.uint64(10), np.uint64(48)
MOST_DIGITS = np.uint64(18)
"""As many decimal digits always fit in int64."""
UNSIGNED_DIGITS = 19
"""As many always fit in uint64."""
NOWHERE = np.uint64(0)
"""The end of what is not a number; no number ends there, for a letter comes before it."""
EXACT_MANTISSA = np.uint64(2**53)
POWERS_OF_TEN = np.array([10.0**k for k in range(23)])
"""Those that float64 holds exactly: one multiplication or division by one rounds correctly."""
SPLITTER = 2.0**27 + 1
LONGEST_LINE = 72
"""Bytes of an arc line of three 64-bit numbers, rounded up."""


@njit(cache=True, nogil=True)
def scan_arcs(
    text: NDArray[np.uint8],
    position: np.int64,
    line: int,
    vertex_count: int,
    limits: tuple[int, int],
    decimals: bool,
    tails: NDArray[Any],
    heads: NDArray[Any],
    weights: NDArray[Any],
    filled: int,
) -> tuple[np.int64, int, int]:
    """Read arc lines until the end of the text or a line that needs the caller.

    Args:
        text: uint8, whole lines, the last byte a newline.
        position: where to start, the first byte of a line.
        line: the number of that line.
        vertex_count: ids must be in 1..vertex_count; they are stored less one.
        limits: the least and greatest integer weight to store.
        decimals: whether weights may be decimals (`weights` is then float64).
        tails: shape (m,); filled from `filled` on, as are `heads` and `weights`.
        heads: shape (m,).
        weights: shape (m,).
        filled: how many arcs are there already.

    Returns:
        position, line and filled after the last line taken; the text is done where position
        is its length, else the line at position is not one of the usual.
    """
    start = np.uint64(position)
    stop = np.uint64(len(text))
    most = np.uint64(vertex_count)
    while start < stop:
        p = _skip_blanks(text, start)
        if text[p] == LETTER_C:
            p = _skip_line(text, p)
        elif text[p] != NEWLINE:
            if text[p] != LETTER_A or filled >= len(tails):
                break
            tail, p = _id(text, p + ONE)
            head, p = _id(text, p)
            # Ids count from 1: a missing one is 0, which wraps around and is refused as well.
            if tail - ONE >= most or head - ONE >= most:
                break
            blank, p = p, _skip_blanks(text, p)
            if p == blank:
                break
            whole, end = _integer(text, p)
            if end != NOWHERE and not _is_fraction(text[end]):
                if not limits[0] <= whole <= limits[1]:
                    break
                weights[filled] = whole
            elif end != NOWHERE and decimals:
                weights[filled], end = _decimal(text, p)
            p = _skip_blanks(text, end)
            if end == NOWHERE or text[p] != NEWLINE:
                break
            tails[filled] = tail - ONE
            heads[filled] = head - ONE
            filled += 1
        start = p + ONE
        line += 1
    return np.int64(start), line, filled


@njit(cache=True, nogil=True)
def _skip_blanks(text: NDArray[np.uint8], p: np.uint64) -> np.uint64:
    while text[p] == SPACE or text[p] == TAB or text[p] == RETURN:
        p += ONE
    return p


@njit(cache=True, nogil=True)
def _skip_line(text: NDArray[np.uint8], p: np.uint64) -> np.uint64:
    while text[p] != NEWLINE:
        p += ONE
    return p


@njit(cache=True, nogil=True)
def _is_fraction(code: int) -> bool:
    return code in (POINT, LETTER_E, CAPITAL_E)


@njit(cache=True, nogil=True)
def _digits(text: NDArray[np.uint8], p: np.uint64, value: np.uint64) -> tuple[np.uint64, np.uint64]:
    digit = np.uint64(text[p]) - ZERO
    while digit < TEN:
        value = value * TEN + digit
        p += ONE
        digit = np.uint64(text[p]) - ZERO
    return value, p


@njit(cache=True, nogil=True)
def _id(text: NDArray[np.uint8], p: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Blanks, then digits; 0, which is no id, where there are none of either, or too many."""
    start = _skip_blanks(text, p)
    value, end = _digits(text, start, NONE)
    if start == p or end - start > MOST_DIGITS:
        value = NONE
    return value, end


@njit(cache=True, nogil=True)
def _integer(text: NDArray[np.uint8], p: np.uint64) -> tuple[np.int64, np.uint64]:
    """A sign or none, then digits; the end is `NOWHERE` where there are none, or too many."""
    negative = text[p] == MINUS
    start = p + ONE if negative or text[p] == PLUS else p
    value, end = _digits(text, start, NONE)
    if (end == start or end - start > MOST_DIGITS) and not _is_fraction(text[end]):
        end = NOWHERE
    return (-np.int64(value) if negative else np.int64(value)), end


@njit(cache=True, nogil=True)
def _decimal(text: NDArray[np.uint8], p: np.uint64) -> tuple[float, np.uint64]:
    """A decimal number, rounded correctly; ends `NOWHERE` where that is not sure."""
    negative = text[p] == MINUS
    start = p + ONE if negative or text[p] == PLUS else p
    mantissa, end = _digits(text, start, NONE)
    count = np.int64(end - start)
    exponent = np.int64(0)
    if text[end] == POINT:
        point = end + ONE
        mantissa, end = _digits(text, point, mantissa)
        exponent = -np.int64(end - point)
        count -= exponent
    if text[end] == LETTER_E or text[end] == CAPITAL_E:
        power, end = _integer(text, end + ONE)
        exponent += power
    if end == NOWHERE or not 0 < count <= UNSIGNED_DIGITS or abs(exponent) > 22:
        return 0.0, NOWHERE
    value = _scaled(mantissa, exponent)
    return (-value if negative else value), end if value >= 0 else NOWHERE


@njit(cache=True, nogil=True)
def _scaled(mantissa: np.uint64, exponent: np.int64) -> float:
    """The float64 nearest to mantissa · 10^exponent, or -1 where it is too close to call.

    For mantissas beyond 53 bits the result is a sum of two float64, the second with a known
    bound on its error (Dekker, Numer. Math. 18, 1971).
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


@njit(cache=True, nogil=True)
def _product(a: float, b: float) -> tuple[float, float]:
    """The product of two numbers as a float64 and what is missing from it, exactly."""
    product = a * b
    high_a, high_b = a * SPLITTER, b * SPLITTER
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return product, low_a * low_b - (
        ((product - high_a * high_b) - low_a * high_b) - high_a * low_b
    )


@njit(cache=True, nogil=True)
def format_arcs(
    offsets: NDArray[np.int64],
    heads: NDArray[Any],
    weights: NDArray[Any],
    vertex: int,
    text: NDArray[np.uint8],
    arc: int,
) -> tuple[int, int, int]:
    """Write the lines of the arcs from `arc` on, as many as surely fit.

    Args:
        offsets: int64, shape (n + 1,).
        heads: integers, shape (m,).
        weights: integers, shape (m,).
        vertex: a vertex whose row does not start after `arc`.
        text: uint8, the buffer, at least `LONGEST_LINE` long.
        arc: the first arc to write.

    Returns:
        The next arc, a vertex for the next call, and the number of bytes written.
    """
    p = 0
    while arc < len(heads) and p + LONGEST_LINE <= len(text):
        while offsets[vertex + 1] <= arc:
            vertex += 1
        text[p] = LETTER_A
        p = _put(text, p + 1, np.int64(vertex + 1))
        p = _put(text, p, np.int64(heads[arc] + 1))
        p = _put(text, p, np.int64(weights[arc]))
        text[p] = NEWLINE
        p += 1
        arc += 1
    return arc, vertex, p


@njit(cache=True, nogil=True)
def _put(text: NDArray[np.uint8], p: int, number: np.int64) -> int:
    """A space and the number; the magnitude is unsigned, so that -2^63 has one."""
    text[p] = SPACE
    p += 1
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
