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
ANY, END, NUMBER = 0, 1, 2
"""What a field may be: anything, not empty, or digits with a sign, a point and an exponent."""
DECIMALS, BLANKS, QUOTED_BLANKS = 1, 2, 4
"""What there is in usual lines: decimals; blanks around fields, or within quotes around names."""
LONGEST_INTEGER = 18
"""Digits that surely fit in 64 bits."""


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
        fields: `ANY`, `END` or `NUMBER` for each field of a line, shape (width,).
        marks: whether a line that begins with ``#``, ``%`` or ``//`` may be a comment.
        spans: shape (k, 2), filled with the first byte of each unusual line and of the next line.
            If there are more than k the last goes to the end of the text.

    Returns:
        How many spans are filled, and the flags of what there is in the other lines.
    """
    at, found, flags = 0, 0, 0
    while at < len(text):
        end, what = _usual_line(text, at, separator, fields, marks)
        if what < 0:
            end = at
            while text[end] != NEWLINE:
                end += 1
            spans[found, 0], spans[found, 1] = at, end + 1
            found += 1
            if found == len(spans):
                spans[found - 1, 1] = len(text)
                return found, flags
        else:
            flags |= what
        at = end + 1
    return found, flags


@njit(cache=True, nogil=True)
def _usual_line(
    text: NDArray[np.uint8], at: int, separator: int, fields: NDArray[np.uint8], marks: bool
) -> tuple[int, int]:
    """Where the line ends and its flags; flags below 0 for a line that is not usual."""
    first = text[at]
    if first == NEWLINE:
        return at, 0
    if first == 0xEF and text[at + 1] == 0xBB and text[at + 2] == 0xBF:  # a mark of UTF-8
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
        if text[p] == RETURN and text[p + 1] == NEWLINE:
            p += 1
        if k + 1 < len(fields):
            if text[p] != separator:
                return at, -1
            p += 1
    return p, flags if text[p] == NEWLINE else -1


@njit(cache=True, nogil=True)
def _field(text: NDArray[np.uint8], p: int, separator: int, kind: int) -> tuple[int, int]:
    """Behind a field, and its flags; flags below 0 for one that is not usual."""
    quoted = text[p] == QUOTE
    start = p + 1 if quoted else p
    if quoted:
        end = p = _closing_quote(text, start)
        if p < 0:
            return 0, -1
        p += 1
    else:
        while text[p] != separator and text[p] != NEWLINE:
            if text[p] == QUOTE or (text[p] == RETURN and text[p + 1] != NEWLINE):
                return 0, -1
            if text[p] == RETURN:
                break
            p += 1
        end = p
    flags = 0
    if start < end and (_is_blank(text[start]) or _is_blank(text[end - 1])):
        flags = QUOTED_BLANKS if quoted else BLANKS
        while start < end and _is_blank(text[start]):
            start += 1
        while start < end and _is_blank(text[end - 1]):
            end -= 1
    if kind != ANY and start == end:
        return 0, -1
    if kind == NUMBER:
        what = _number(text, start, end)
        return p, flags | what if what >= 0 and flags != QUOTED_BLANKS else -1
    return p, flags


@njit(cache=True, nogil=True)
def _closing_quote(text: NDArray[np.uint8], p: int) -> int:
    """Where the quote is that closes a field; below 0 if none does in its line."""
    while text[p] != NEWLINE:
        if text[p] == RETURN:
            return -1
        if text[p] == QUOTE:
            if text[p + 1] != QUOTE:
                return p
            p += 1
        p += 1
    return -1


@njit(cache=True, nogil=True)
def _number(text: NDArray[np.uint8], start: int, end: int) -> int:
    """`DECIMALS` or 0 for a number; below 0 for what may be none, or does not fit."""
    decimal = False
    for p in range(start, end):
        letter = text[p]
        if letter == POINT or letter == 101 or letter == 69:  # e and E
            decimal = True
        elif letter == MINUS:
            if p > start and text[p - 1] != 101 and text[p - 1] != 69:
                return -1
        elif not ZERO <= letter <= NINE:
            return -1
    if decimal:
        return DECIMALS
    return 0 if end - start <= LONGEST_INTEGER else -1


@njit(cache=True, nogil=True)
def _is_blank(letter: Any) -> bool:
    """As bytes.strip has it."""
    return bool(letter == 32 or 9 <= letter <= 13)
