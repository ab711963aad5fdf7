"""Arc lines, ``tail head [weight]`` behind a letter or none, read from bytes and written to bytes.

`scan_arcs` understands what nearly every line is: arcs with plain numbers, comments, blank lines.
It stops in front of any line that is something else (a header, a mistake, a number or a name that
needs care), and the caller, who has all of Python to say what is wrong, takes that one line.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.kernel import kernel
from groute_py.kernels.cpu.numbers import (
    NOWHERE,
    ONE,
    decimal,
    identity,
    integer,
    is_fraction,
    put_integer,
)

NEWLINE = 10
ORDINARY, BLANK, COMMENT, SEPARATOR = 0, 1, 2, 3
"""Meaning of a byte to a format: blanks part fields, or where it has a separator, exactly one of it
with blanks around; a comment's mark begins its line."""
NO_LETTER = 0
LONGEST_LINE = 72
"""Bytes of an arc line of three 64-bit numbers, rounded up."""

Arcs = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def kinds_of(blanks: bytes, comments: bytes, separator: bytes = b"") -> NDArray[np.uint8]:
    """The table of bytes, uint8, shape (256,), for `scan_arcs`."""
    kinds = np.full(256, ORDINARY, np.uint8)
    kinds[list(blanks)] = BLANK
    kinds[list(comments)] = COMMENT
    kinds[list(separator)] = SEPARATOR
    return kinds


@kernel
def scan_arcs(
    text: NDArray[np.uint8],
    start: np.int64,
    kinds: NDArray[np.uint8],
    letter: int,
    ids: tuple[int, int],
    columns: int,
    limits: tuple[int, int],
    decimals: bool,
    arcs: Arcs,
) -> tuple[np.int64, int, int]:
    """Read arc lines of whole lines of text from ``start`` until the end or an unusual line.

    ``kinds`` (uint8, (256,)) are `ORDINARY`, `BLANK`, `COMMENT` or `SEPARATOR`. ``letter`` is the
    code in front of every arc, or `NO_LETTER`. ``ids`` are the least id, which is taken off, and
    how many there are; ``limits`` the least and greatest integer weight. Of 2 ``columns`` there are
    no weights; with ``decimals`` they are float64. The arcs (tails, heads and weights) are filled
    from 0 on.

    Returns position, lines taken and arcs filled; the text is done where the position is its
    length.
    """
    at, stop = np.uint64(start), np.uint64(len(text))
    first, most = np.uint64(ids[0]), np.uint64(ids[1])
    tails, heads, weights = arcs
    lines = filled = 0
    parted = (kinds == SEPARATOR).any()
    while at < stop:
        p = _skip_blanks(text, at, kinds)
        if kinds[text[p]] == COMMENT:
            p = _skip_line(text, p)
        elif text[p] != NEWLINE:
            if filled >= len(tails):
                break
            if letter != NO_LETTER:
                if text[p] != letter or kinds[text[p + ONE]] != BLANK:
                    break
                p = _skip_blanks(text, p + ONE, kinds)
            tail, end = identity(text, p)
            p = _next_field(text, end, kinds, parted)
            if p == end:
                break
            head, end = identity(text, p)
            # What is no id is so large that it is refused here as well, as is one below the first.
            if tail - first >= most or head - first >= most:
                break
            if columns == 3:
                p = _next_field(text, end, kinds, parted)
                if p == end:
                    break
                whole, end = integer(text, p)
                if end != NOWHERE and not is_fraction(text[end]):
                    if not limits[0] <= whole <= limits[1]:
                        break
                    weights[filled] = whole
                elif end != NOWHERE and decimals:
                    weights[filled], end = decimal(text, p)
                if end == NOWHERE:
                    break
            p = _skip_blanks(text, end, kinds)
            if text[p] != NEWLINE:
                break
            tails[filled] = tail - first
            heads[filled] = head - first
            filled += 1
        at = p + ONE
        lines += 1
    return np.int64(at), lines, filled


@kernel
def _skip_blanks(text: NDArray[np.uint8], p: np.uint64, kinds: NDArray[np.uint8]) -> np.uint64:
    while kinds[text[p]] == BLANK:
        p += ONE
    return p


@kernel
def _next_field(
    text: NDArray[np.uint8], end: np.uint64, kinds: NDArray[np.uint8], parted: bool
) -> np.uint64:
    """Return where the field behind the `end` of one begins; `end` if nothing parts them."""
    p: np.uint64 = _skip_blanks(text, end, kinds)
    if parted:
        if kinds[text[p]] != SEPARATOR:
            return end
        p = _skip_blanks(text, p + ONE, kinds)
    return p


@kernel
def _skip_line(text: NDArray[np.uint8], p: np.uint64) -> np.uint64:
    while text[p] != NEWLINE:
        p += ONE
    return p


@kernel
def scan_rows(
    text: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    numbers: NDArray[np.int64],
    ends: NDArray[np.int64],
    at_lines: NDArray[np.int64],
) -> tuple[np.int64, int, int, int]:
    """Read lines of any number of integers until one that is something else, past comments.

    Fills ``numbers`` (int64, as many as bytes would do), and for each row, a line that is no
    comment, its end among the numbers (``ends``) and its line from 0 (``at_lines``). ``kinds`` are
    those of `scan_arcs`. Returns position, lines taken, rows among them, and numbers.
    """
    at, stop = np.uint64(0), np.uint64(len(text))
    lines = rows = filled = 0
    while at < stop:
        p, before = _skip_blanks(text, at, kinds), filled
        if kinds[text[p]] == COMMENT:
            p = _skip_line(text, p)
        else:
            while text[p] != NEWLINE:
                number, end = integer(text, p)
                if end == NOWHERE or (kinds[text[end]] != BLANK and text[end] != NEWLINE):
                    return np.int64(at), lines, rows, before
                numbers[filled] = number
                filled += 1
                p = _skip_blanks(text, end, kinds)
            ends[rows], at_lines[rows] = filled, lines
            rows += 1
        at = p + ONE
        lines += 1
    return np.int64(at), lines, rows, filled


@kernel
def format_arcs(
    arcs: Arcs, form: tuple[int, int, int, int], vertex: int, text: NDArray[np.uint8], arc: int
) -> tuple[int, int, int]:
    """Write the lines of the arcs from ``arc`` on to ``text`` (uint8), as many as surely fit.

    The ``arcs`` are offsets, heads and weights. Their ``form`` is a letter as for `scan_arcs`, the
    separator, the columns, of which 2 leave out the weights, and the id of vertex 0. The row of
    ``vertex`` does not start after ``arc``. Returns the next arc, a vertex for the next call, and
    the number of bytes written. The text holds at least `LONGEST_LINE`.
    """
    (offsets, heads, weights), (letter, separator, columns, first_id) = arcs, form
    p = 0
    while arc < len(heads) and p + LONGEST_LINE <= len(text):
        while offsets[vertex + 1] <= arc:
            vertex += 1
        if letter != NO_LETTER:
            text[p], text[p + 1] = letter, separator
            p += 2
        p = put_integer(text, p, np.int64(vertex + first_id))
        text[p] = separator
        p = put_integer(text, p + 1, np.int64(heads[arc] + first_id))
        if columns == 3:
            text[p] = separator
            p = put_integer(text, p + 1, np.int64(weights[arc]))
        text[p] = NEWLINE
        p += 1
        arc += 1
    return arc, vertex, p
