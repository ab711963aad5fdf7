"""Files of turns: ``.csv``, plain or compressed, and ``.parquet``, in the ids of the graph's file.

    tail,via,head,cost
    17,4,9,30                 30 more from the arc (17, 4) to the arc (4, 9)
    9,4,9,forbidden           no U-turn; an empty cost, and inf, say the same

or by the ids of arcs, which are in a column of the table of roads, here ``link_id``:

    from_link_id,to_link_id,cost
    311,8,30
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from groute_py.errors import FormatError, GrouteError, InputError, file_path, quote
from groute_py.graph.ids import Numbering
from groute_py.graph.turns.ends import ROLES, ArcEnds, VertexEnds
from groute_py.graph.turns.table import TurnTable
from groute_py.io.compression import refuse_pipes
from groute_py.io.optional_libraries import library
from groute_py.io.text.lines import csv_rows
from groute_py.system.memory_limits import check_room

TITLES = [*ROLES, "cost"]
"""The first line of a ``.csv``, and the columns of a ``.parquet``."""

FROM = "from_"
"""Begin of the title of the arcs before turns; that of the arcs behind begins with ``to_``."""

ROW_BYTES = 300
"""Least size of a turn in memory."""

SUFFIX = re.compile(r"\.(csv(\.\w+)?|parquet)$")


def check_turns(turns: Any) -> None:
    """Raise `InputError` for the path of a file that cannot be one of turns, by its name."""
    if isinstance(turns, str | Path) and not SUFFIX.search(file_path("turns", turns).name):
        suffix = quote(Path(turns).suffix)
        raise InputError(f"{turns}: unknown suffix {suffix}; turns are read from .csv .parquet")


def turns_in(turns: Any, numbering: Numbering) -> Any:
    """The turns of the file of a path; others as they are."""
    return _read_turns(Path(turns), numbering) if isinstance(turns, str | Path) else turns


def _read_turns(path: Path, numbering: Numbering) -> TurnTable:
    column = arc_column(path)
    titles = TITLES if column is None else _titles_by_arc(column)
    read = _read_parquet if path.suffix == ".parquet" else _read_csv
    lines, *columns, costs = read(path, titles)

    def problem_in(row: int, problem: str) -> InputError:
        return FormatError(path, problem, line=lines[row])

    ends = VertexEnds(*columns) if column is None else ArcEnds(columns[0], columns[1], column)
    return TurnTable(ends, costs, numbering, problem_in)


def arc_column(path: Path) -> str | None:
    """The title of the ids by which a file lists turns; None for one of vertices."""
    check_turns(path)
    refuse_pipes(path)
    titles = _parquet_titles(path) if path.suffix == ".parquet" else _csv_titles(path)
    if set(TITLES) <= set(titles):
        return None
    for title in titles:
        column = title.removeprefix(FROM)
        if title.startswith(FROM) and column and set(_titles_by_arc(column)) <= set(titles):
            return column
    return None


def _titles_by_arc(column: str) -> list[str]:
    return [f"{FROM}{column}", f"to_{column}", "cost"]


def _read_csv(path: Path, titles: list[str]) -> list[list[Any]]:
    """The columns, behind one of the numbers of their lines."""
    rows: list[tuple[Any, ...]] = []
    titled = False
    for line, fields in csv_rows(path, "turns", ROW_BYTES):
        titled |= line == 1 and fields == titles
        if not fields or (line == 1 and titled):
            continue
        if len(fields) != len(titles) or not all(fields[:-1]):
            problem = f"expected {','.join(titles)}, got {quote(','.join(fields))}"
            raise FormatError(path, problem, line=line)
        rows.append((line, *(field.strip() for field in fields)))
    if not rows and not titled:
        raise FormatError(path, f"has no turns; the first line may be {','.join(titles)}")
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in ("", *titles)]


def _csv_titles(path: Path) -> list[str]:
    """The fields of the first line, be they titles or not."""
    _, fields = next(csv_rows(path, "turns", ROW_BYTES))
    return fields


def _read_parquet(path: Path, titles: list[str]) -> list[list[Any]]:
    """Read as `_read_csv`; the lines are rows, from 1."""
    with open_parquet(path) as file:
        names, count = file.schema_arrow.names, file.metadata.num_rows
        if missing := [title for title in titles if title not in names]:
            raise FormatError(path, f"turns have columns {', '.join(titles)}; no {missing[0]}")
        check_room(ROW_BYTES * count, f"{path}: {count:,} turns")
        table = file.read(columns=titles)
    columns = [table.column(title).to_pylist() for title in titles]
    lines: list[Any] = list(range(1, count + 1))
    for row, ends in enumerate(zip(*columns[:-1], strict=True)):
        if None in ends:
            raise FormatError(
                path, f"expected {', '.join(titles[:-1])}, got an empty one", line=row + 1
            )
    return [lines, *columns]


def _parquet_titles(path: Path) -> list[str]:
    with open_parquet(path) as file:
        return list(file.schema_arrow.names)


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """An open file, whose errors in the block are `FormatError`."""
    pq = library("pyarrow.parquet", "reading Parquet")
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except GrouteError:
        raise
    except Exception as error:
        problem = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(path, f"damaged Parquet: {problem}") from error
