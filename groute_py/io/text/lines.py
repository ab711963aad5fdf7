"""Text files in blocks of whole lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from groute_py.errors import FormatError
from groute_py.io.compression import BYTE_ORDER_MARK, pieces
from groute_py.system.memory_limits import CHECKED_EVERY, check_room

Progress = Callable[[int, int], None]
"""Called with the bytes of the file that are done, and all."""

COUNT = re.compile(rb"\d{1,18}")  # of vertices, arcs or fields, as files say it

LONGEST_TEXT_LINE = 1 << 24
TOO_LONG = "a line of more than {:,} bytes"

USUAL_LINE = 1 << 10
"""Bytes that are read behind a span, for the end of its last line."""


def whole_lines(path: Path, longest: int | None = None) -> Iterator[tuple[bytes, int]]:
    """The text of a file in blocks of whole lines, with the file's bytes done so far.

    Every block ends with a newline, which the compiled loops rely on.
    """
    longest = LONGEST_TEXT_LINE if longest is None else longest
    left, done, mark = bytearray(), 0, BYTE_ORDER_MARK
    for number, (piece, done) in enumerate(pieces(path), 1):
        cut = piece.rfind(b"\n") + 1
        if cut:
            text, left = bytes(left) + piece[:cut], bytearray(piece[cut:])
            yield text.removeprefix(mark), done
            mark = b""
        else:
            left += piece
        if len(left) > longest:
            line = 1 + sum(seen.count(b"\n") for seen, _ in islice(pieces(path), number))
            raise FormatError(path, TOO_LONG.format(longest), line=line)
    if left:
        yield bytes(left).removeprefix(mark) + b"\n", done


def line_of(path: Path, pattern: re.Pattern[bytes]) -> int | None:
    """The number of the first line, from 1, in which a pattern occurs."""
    line = 1
    for text, _ in whole_lines(path):
        if match := pattern.search(text):
            return line + text.count(b"\n", 0, match.start())
        line += text.count(b"\n")
    return None


class TextBlock(NamedTuple):
    """Whole lines: bytes of some data."""

    data: bytes
    start: int
    stop: int
    leaves_last: bool = False  # the line behind them is theirs too, but too long


def lines_within(path: Path, span: range) -> TextBlock:
    """The lines of a plain file that begin at the bytes of `span`.

    So the lines of spans that lie side by side are all lines, each once. The last may be too long.
    """
    data, stop = _bytes_within(path, span)
    if span.start:
        start = min(data.find(b"\n") + 1, stop)
    else:
        start = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    last = max(data.rfind(b"\n", start, stop - 1) + 1, start)
    if stop - 1 - last > LONGEST_TEXT_LINE:
        return TextBlock(data, start, last, leaves_last=True)
    return TextBlock(data, start, stop)


def _bytes_within(path: Path, span: range) -> tuple[bytes, int]:
    """The bytes of a span and of the one before it, and where the line of the last one ends."""
    first = max(span.start - 1, 0)
    size = span.stop - first
    try:
        with open(path, "rb") as file:
            file.seek(first)
            data = file.read(size + USUAL_LINE)
            stop = data.find(b"\n", size - 1) + 1
            if not stop:
                data += file.readline(LONGEST_TEXT_LINE + 1)
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from error
    if len(data) < size:
        raise FormatError(path, f"ends at byte {first + len(data):,}, before {span.stop:,}")
    if not stop:
        data = data if data.endswith(b"\n") else data + b"\n"
        stop = len(data)
    return data, stop


def shown(field: bytes) -> str:
    """A field as a message shows it."""
    text = field.decode(errors="backslashreplace")
    return repr(text if len(text) <= 40 else text[:40] + "…")


DELIMITERS = "\t;,"  # of tables with titles; the first one in the line of titles parts the fields


def csv_rows(
    path: Path, what: str, row_bytes: int, delimiters: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """The line, from 1, and the fields of each row; a blank line is a row without fields.

    Where quotes hold line breaks, the line is the last one of the row.
    """
    lines = _text(path)
    head = next(lines, "")
    delimiter = next((sign for sign in delimiters if sign in head), ",")
    rows = csv.reader(chain([head], lines), delimiter=delimiter, strict=True)
    try:
        for count, fields in enumerate(rows):
            if count % CHECKED_EVERY == 0:
                check_room(row_bytes * count, f"{path}: more than {count:,} {what}")
            yield rows.line_num, fields
    except csv.Error as problem:
        raise FormatError(path, str(problem), line=rows.line_num) from problem


def _text(path: Path) -> Iterator[str]:
    number = 0
    for text, _ in whole_lines(path):
        for line in text.splitlines(keepends=True):
            number += 1
            try:
                decoded = line.decode()
            except UnicodeDecodeError as problem:
                raise FormatError(path, "expected text in UTF-8", line=number) from problem
            yield decoded
