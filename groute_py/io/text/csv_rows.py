"""Rows of ``.csv`` files, plain or compressed, with the numbers of their lines."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from groute_py.errors import FormatError
from groute_py.io.text.lines import whole_lines
from groute_py.system.memory_limits import CHECKED_EVERY, check_room

DELIMITERS = "\t;,"
"""Of tables with titles; the first one in the line of titles parts the fields."""


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
