"""Rows of a text with a separator, read from lines that are usual.

`scan_rows` stops in front of any other line: one with a quote that is out of place or doubled, a
blank or a mark of comments in front, another number of fields, an empty end, or a number that is
not plainly one. The caller, who has all of Python to say what is wrong, takes that line.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.kernel import inlined_kernel, kernel
from groute_py.kernels.cpu.names import HASH, NOTHING, ONE, SIZE, START, first_below, hash_of
from groute_py.kernels.cpu.numbers import NOWHERE, decimal, integer, is_fraction

NEWLINE, RETURN, QUOTE, ZERO, NINE = 10, 13, 34, 48, 57
MINUS, SLASH, HASH_MARK, PERCENT = 45, 47, 35, 37
ABOVE_QUOTE = 35
"""All bytes that end a field are below this, besides the separator."""
TWO = np.uint64(2)
ANY, TEXT, NAME, INTEGER, NUMBER = 0, 1, 2, 3, 4
"""Kinds of fields: one to skip, which may be anything; one to read, likewise; one that is not
empty; an integer with a minus or none in front; a number."""
EXACT = 2**53
"""Integers up to it are float64 as they are."""
MOST_DIGITS = np.uint64(400)
"""Digits of an id that is an integer."""


@kernel
def scan_rows(
    text: NDArray[np.uint8],
    start: int,
    separator: int,
    kinds: NDArray[np.uint8],
    columns: NDArray[np.uint64],
    marks: bool,
    decimals: bool,
    seed: np.uint64,
    texts: NDArray[np.uint32],
    numbers: tuple[NDArray[np.int64], NDArray[np.float64]],
) -> tuple[np.int64, int, np.int64]:
    """Read rows of whole lines of text from ``start`` until the end or a line that is not usual.

    Each field of a line has one of ``kinds`` (`ANY`, `TEXT`, `NAME`, `INTEGER` or `NUMBER`) and a
    column of ``texts`` (uint32, (rows, columns, 3): start, size and hash) or ``numbers``: the same
    memory as int64 and as float64; with ``decimals`` floats are stored. With ``marks`` a line that
    begins with ``#``, ``%`` or ``//`` may be a comment. ``seed`` is that of
    `groute_py.kernels.cpu.names.hash_of`.

    Returns position, lines taken and rows filled; the text is done where the position is its
    length.
    """
    at, stop = np.uint64(start), np.uint64(len(text))
    lines, row = 0, NOTHING
    while at < stop:
        end = at
        if text[at] != NEWLINE:
            end = NOWHERE
            if not _begins_oddly(text, at, separator, marks):
                end = _row(text, at, separator, kinds, columns, decimals, seed, row, texts, numbers)
            if end == NOWHERE:
                break
            row += ONE
        at = end + ONE
        lines += 1
    return np.int64(at), lines, np.int64(row)


@inlined_kernel
def _begins_oddly(text: NDArray[np.uint8], at: np.uint64, separator: int, marks: bool) -> bool:
    """Return True if a line begins with a blank, a byte order mark, or maybe as a comment."""
    first = text[at]
    has_mark = first == 0xEF and text[at + ONE] == 0xBB and text[at + TWO] == 0xBF
    has_blank = _is_blank(first) and first != separator
    is_marked = marks and first in (HASH_MARK, PERCENT, SLASH)
    return bool(has_mark or has_blank or is_marked)


@inlined_kernel
def _row(
    text: NDArray[np.uint8],
    p: np.uint64,
    separator: int,
    kinds: NDArray[np.uint8],
    columns: NDArray[np.uint64],
    decimals: bool,
    seed: np.uint64,
    row: np.uint64,
    texts: NDArray[np.uint32],
    numbers: tuple[NDArray[np.int64], NDArray[np.float64]],
) -> np.uint64:
    """Read the fields of a line; where it ends, or `NOWHERE` if it is not usual."""
    whole_numbers, fractions = numbers
    is_usual, field = True, 0
    while is_usual and field < len(kinds):
        start, stop, p = _field(text, p, separator)
        kind, column = kinds[field], columns[field]
        is_usual = p != NOWHERE and (start < stop or kind <= TEXT)
        if is_usual and kind == NUMBER:
            whole, end = integer(text, start)
            if end == stop and not decimals:
                whole_numbers[row, column] = whole
            elif end == stop:
                fractions[row, column] = whole
                if not -EXACT <= whole <= EXACT:
                    end = NOWHERE
            elif decimals and end != NOWHERE and is_fraction(text[end]):
                fractions[row, column], end = decimal(text, start)
            is_usual = end == stop
        elif is_usual and kind != ANY:
            texts[row, column, START], texts[row, column, SIZE] = start, stop - start
            texts[row, column, HASH] = hash_of(text, start, stop - start, seed)
            is_usual = kind != INTEGER or _is_integer(text, start, stop)
        field += 1
        if is_usual and field < len(kinds):
            is_usual = text[p] == separator
            p += ONE
    return p if is_usual and text[p] == NEWLINE else NOWHERE


@inlined_kernel
def _field(
    text: NDArray[np.uint8], p: np.uint64, separator: int
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Begin and end of a field without blanks and quotes, and the place behind it, or `NOWHERE`."""
    quoted = text[p] == QUOTE
    start = p + ONE if quoted else p
    p = first_below(text, start, ABOVE_QUOTE, separator)
    while not _ends_field(text[p]) and (quoted or text[p] != separator):
        p = first_below(text, p + ONE, ABOVE_QUOTE, separator)
    stop = p
    is_usual = not quoted or text[p] == QUOTE
    if quoted and is_usual:
        p += ONE
    while not quoted and start < stop and _is_blank(text[start]):
        start += ONE
    while not quoted and start < stop and _is_blank(text[stop - ONE]):
        stop -= ONE
    if is_usual and text[p] == RETURN and text[p + ONE] == NEWLINE:
        p += ONE
    is_usual &= text[p] == separator or text[p] == NEWLINE
    return start, stop, p if is_usual else NOWHERE


@kernel
def _ends_field(letter: Any) -> bool:
    """Return True if a byte ends a field, or is out of place in it, also within quotes."""
    return bool(letter in (NEWLINE, RETURN, QUOTE))


@kernel
def _is_integer(text: NDArray[np.uint8], start: np.uint64, stop: np.uint64) -> bool:
    p = start + ONE if text[start] == MINUS else start
    fits = NOTHING < stop - p <= MOST_DIGITS
    while p < stop and ZERO <= text[p] <= NINE:
        p += ONE
    return bool(fits and p == stop)


@kernel
def _is_blank(letter: Any) -> bool:
    """Return True for blanks of bytes.strip."""
    return bool(letter == 32 or 9 <= letter <= 13)
