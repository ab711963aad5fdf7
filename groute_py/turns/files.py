"""Files of turns: ``.csv``, plain or compressed, and ``.parquet``, in the ids of the graph's file.

tail,via,head,cost
17,4,9,30                 30 more from the arc (17, 4) to the arc (4, 9)
9,4,9,forbidden           no U-turn; an empty cost, and inf, say the same
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groute_py.errors import FormatError, GrouteError, InputError, quote
from groute_py.graph.ids import Numbering
from groute_py.io.optional_libraries import library
from groute_py.io.text.lines import whole_lines
from groute_py.system.memory_limits import CHECKED_EVERY, check_room
from groute_py.turns.suffix import check_turns
from groute_py.turns.table import ROLES, TurnTable

TITLES = [*ROLES, "cost"]
"""The first line of a ``.csv``, and the columns of a ``.parquet``."""

ROW_BYTES = 300
"""Of a turn in memory, at least."""


def read_turns(path: Path, numbering: Numbering) -> TurnTable:
    """The turns of a file.

    Args:
        path: of the file; its suffix says what it is.
        numbering: between the ids of the graph's file and vertices.

    Raises:
        FormatError: with the line and what was expected there.
        SetupError: a ``.parquet`` cannot be read, as PyArrow is not installed.
    """
    check_turns(path)
    rows = _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)
    lines, columns = rows[0], rows[1:]

    def problem_in(row: int, problem: str) -> InputError:
        return FormatError(path, problem, line=lines[row])

    ends = (columns[0], columns[1], columns[2])
    return TurnTable(ends, columns[3], numbering, problem_in)


def _read_csv(path: Path) -> list[list[Any]]:
    """The columns, behind one of the numbers of their lines."""
    rows: list[tuple[Any, ...]] = []
    lines = csv.reader(_text(path), strict=True)
    titled = False
    try:
        for fields in lines:
            if len(rows) % CHECKED_EVERY == 0:
                check_room(ROW_BYTES * len(rows), f"{path}: more than {len(rows):,} turns")
            titled |= lines.line_num == 1 and fields == TITLES
            if not fields or (lines.line_num == 1 and titled):
                continue
            if len(fields) != len(TITLES) or not all(fields[:3]):
                problem = f"expected {','.join(TITLES)}, got {quote(','.join(fields))}"
                raise FormatError(path, problem, line=lines.line_num)
            rows.append((lines.line_num, *(field.strip() for field in fields)))
    except csv.Error as problem:
        raise FormatError(path, str(problem), line=lines.line_num) from problem
    except UnicodeDecodeError as problem:
        raise FormatError(path, "expected text in UTF-8", line=lines.line_num + 1) from problem
    if not rows and not titled:
        raise FormatError(path, f"has no turns; the first line may be {','.join(TITLES)}")
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(5)]


def _text(path: Path) -> Iterator[str]:
    for text, _ in whole_lines(path):
        for line in text.splitlines(keepends=True):
            yield line.decode()


def _read_parquet(path: Path) -> list[list[Any]]:
    """As `_read_csv`; the lines are rows, from 1."""
    pq = library("pyarrow.parquet", "reading Parquet")
    try:
        with pq.ParquetFile(path) as file:
            known, count = file.schema_arrow.names, file.metadata.num_rows
            if missing := [title for title in TITLES if title not in known]:
                raise FormatError(path, f"turns have columns {', '.join(TITLES)}; no {missing[0]}")
            check_room(ROW_BYTES * count, f"{path}: {count:,} turns")
            table = file.read(columns=TITLES)
    except GrouteError:
        raise
    except Exception as error:
        problem = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(path, f"damaged Parquet: {problem}") from error
    columns = [table.column(title).to_pylist() for title in TITLES]
    lines: list[Any] = list(range(1, count + 1))
    for row, ends in enumerate(zip(*columns[:3], strict=True)):
        if None in ends:
            raise FormatError(path, f"expected {', '.join(ROLES)}, got an empty one", line=row + 1)
    return [lines, *columns]
