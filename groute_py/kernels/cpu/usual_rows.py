"""Which lines of a text with a separator are so usual that any reader of CSV reads them alike.

The others have a quote that is out of place, a blank or a mark of comments in front, another number
of fields, an empty end, or a number that is not plainly one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

NEWLINE, RETURN, QUOTE, ZERO, NINE = 10, 13, 34, 48, 57
MINUS, POINT, SLASH, HASH, PERCENT = 45, 46, 47, 35, 37
EXPONENT = ord("e")
NOTHING, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
ANY, NAME, NUMBER, INTEGER = 0, 1, 2, 3
"""What a field may be: anything; not empty; digits with a sign, a point and an exponent; digits."""
DECIMALS, BLANKS, QUOTED_BLANKS = 1, 2, 4
"""What there is in usual lines: decimals; blanks around fields, or within quotes around names."""
LONGEST_INTEGER = np.uint64(18)
"""Digits that surely fit in 64 bits."""
MOST_DIGITS = np.uint64(400)
"""Of an id that is an integer."""


@njit(cache=True, nogil=True)
def unusual_lines(
    text: NDArray[np.uint8],
    separator: int,
    fields: NDArray[np.uint8],
    marks: bool,
    spans: NDArray[np.int64],
) -> tuple[int, int]:
    """Find the lines that need care.

    Args:
        text: uint8, whole lines, the last byte a newline.
        separator: the byte between fields.
        fields: `ANY`, `NAME`, `NUMBER` or `INTEGER` for each field of a line, shape (width,).
        marks: whether a line that begins with ``#``, ``%`` or ``//`` may be a comment.
        spans: shape (k, 2), filled with the first byte of each unusual line and of the next line.
            If there are more than k the last goes to the end of the text.

    Returns:
        How many spans are filled, and the flags of what there is in the other lines.
    """
    at, stop, found, flags = np.uint64(0), np.uint64(len(text)), 0, 0
    while at < stop:
        end, what = _usual_line(text, at, separator, fields, marks)
        if what < 0:
            end = at
            while text[end] != NEWLINE:
                end += ONE
            spans[found, 0], spans[found, 1] = np.int64(at), np.int64(end + ONE)
            found += 1
            if found == len(spans):
                spans[found - 1, 1] = len(text)
                return found, flags
        else:
            flags |= what
        at = end + ONE
    return found, flags


@njit(cache=True, nogil=True)
def _usual_line(
    text: NDArray[np.uint8], at: np.uint64, separator: int, fields: NDArray[np.uint8], marks: bool
) -> tuple[np.uint64, int]:
    """Where the line ends and its flags; flags below 0 for a line that is not usual."""
    first = text[at]
    if first == NEWLINE:
        return at, 0
    if first == 0xEF and text[at + ONE] == 0xBB and text[at + TWO] == 0xBF:  # a mark of UTF-8
        return at, -1
    if _is_blank(first) and first != separator:
        return at, -1
    if marks and first in (HASH, PERCENT, SLASH):
        return at, -1
    flags, p = 0, at
    for k in range(len(fields)):
        p, what = _field(text, p, separator, fields[k])
        if what < 0:
            return at, -1
        flags |= what
        if text[p] == RETURN and text[p + ONE] == NEWLINE:
            p += ONE
        if k + 1 < len(fields):
            if text[p] != separator:
                return at, -1
            p += ONE
    return p, flags if text[p] == NEWLINE else -1


@njit(cache=True, nogil=True)
def _field(
    text: NDArray[np.uint8], p: np.uint64, separator: int, kind: int
) -> tuple[np.uint64, int]:
    """Behind a field, and its flags; flags below 0 for one that is not usual."""
    quoted = text[p] == QUOTE
    start = p + ONE if quoted else p
    if quoted:
        p = _closing_quote(text, start)
        end = p
        if text[p] != QUOTE:
            return p, -1
        p += ONE
    else:
        while text[p] != separator and text[p] != NEWLINE:
            if text[p] == QUOTE or (text[p] == RETURN and text[p + ONE] != NEWLINE):
                return p, -1
            if text[p] == RETURN:
                break
            p += ONE
        end = p
    flags = 0
    if start < end and (_is_blank(text[start]) or _is_blank(text[end - ONE])):
        flags = QUOTED_BLANKS if quoted else BLANKS
        while start < end and _is_blank(text[start]):
            start += ONE
        while start < end and _is_blank(text[end - ONE]):
            end -= ONE
    if kind != ANY and start == end:
        return p, -1
    if kind == NUMBER:
        what = _number(text, start, end)
        return p, flags | what if what >= 0 and flags != QUOTED_BLANKS else -1
    if kind == INTEGER and not _is_integer(text, start, end):
        return p, -1
    return p, flags


@njit(cache=True, nogil=True)
def _closing_quote(text: NDArray[np.uint8], p: np.uint64) -> np.uint64:
    """Where the quote is that closes a field; else where its line ends, or a return stands."""
    while text[p] != NEWLINE and text[p] != RETURN:
        if text[p] == QUOTE:
            if text[p + ONE] != QUOTE:
                return p
            p += ONE
        p += ONE
    return p


@njit(cache=True, nogil=True)
def _number(text: NDArray[np.uint8], start: np.uint64, end: np.uint64) -> int:
    """`DECIMALS` or 0 for a number; below 0 for what may be none, or does not fit."""
    decimal, p = False, start
    while p < end:
        letter = text[p]
        if letter == POINT or letter | 32 == EXPONENT:
            decimal = True
        elif letter == MINUS:
            if p > start and text[p - ONE] | 32 != EXPONENT:
                return -1
        elif not ZERO <= letter <= NINE:
            return -1
        p += ONE
    if decimal:
        return DECIMALS
    return 0 if end - start <= LONGEST_INTEGER else -1


@njit(cache=True, nogil=True)
def _is_integer(text: NDArray[np.uint8], start: np.uint64, end: np.uint64) -> bool:
    p = start + ONE if text[start] == MINUS else start
    if not NOTHING < end - p <= MOST_DIGITS:
        return False
    while p < end and ZERO <= text[p] <= NINE:
        p += ONE
    return bool(p == end)


@njit(cache=True, nogil=True)
def _is_blank(letter: Any) -> bool:
    """As bytes.strip has it."""
    return bool(letter == 32 or 9 <= letter <= 13)
