"""Text files that are rows of integers, of any length."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError
from groute_py.graph.builder import INT64
from groute_py.io.text.arc_reader import BLANKS, INTEGER
from groute_py.io.text.lines import Progress, shown, whole_lines
from groute_py.kernels.cpu.scan import kinds_of, scan_rows
from groute_py.system.memory_limits import check_room

LONGEST_ROW = 1 << 30


class NumberRows(NamedTuple):
    """Some rows."""

    numbers: NDArray[np.int64]  # of all rows one after another
    ends: NDArray[np.int64]  # where each row ends in `numbers`
    lines: NDArray[np.int64]  # of each row in the file, from 1


def number_rows(
    path: Path, comments: bytes, progress: Progress | None = None
) -> Iterator[NumberRows]:
    """Read a file block by block; an empty line is a row without numbers."""
    kinds, line, total = kinds_of(BLANKS, comments), 1, path.stat().st_size
    for text, done in whole_lines(path, LONGEST_ROW):
        position = 0
        while position < len(text):
            part = np.frombuffer(text, np.uint8)[position:]
            check_room(4 * len(part), f"{path}: a row of numbers")
            numbers = np.empty(len(part) // 2 + 1, np.int64)
            ends, lines = np.empty((2, text.count(b"\n", position)), np.int64)
            size, seen, rows, filled = scan_rows(part, kinds, numbers, ends, lines)
            yield NumberRows(numbers[:filled], ends[:rows], lines[:rows] + line)
            position, line = position + int(size), line + seen
            if position < len(text):
                end = text.index(b"\n", position)
                yield _careful_row(path, text[position:end], line)
                position, line = end + 1, line + 1
        if progress:
            progress(done, total)


def _careful_row(path: Path, text: bytes, line: int) -> NumberRows:
    """A row with numbers that may be too long for the compiled loop."""
    fields = text.split()
    for field in fields:
        if not INTEGER.fullmatch(field):
            raise FormatError(path, f"expected an integer, got {shown(field)}", line=line)
        if not INT64.min <= int(field) <= INT64.max:
            raise FormatError(path, f"{shown(field)} does not fit in 64-bit integers", line=line)
    numbers = np.array([int(field) for field in fields], np.int64)
    return NumberRows(numbers, np.array([len(numbers)]), np.array([line]))
