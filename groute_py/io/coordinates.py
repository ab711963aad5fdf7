"""Places of vertices: DIMACS coordinate files, ``.co``, and tables, as text or ``.parquet``.

c a comment               id,lon,lat                    titles that say so; other columns too
p aux sp co 3             53017091,7.4174,43.7316       in any order; rows of other vertices too
v 1 -73530767 41085396    id from 1, x, y
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, as_index, file_path, quote, quoted
from groute_py.graph.csr import Graph
from groute_py.io.companions import companion
from groute_py.io.compression import refuse_pipes
from groute_py.io.tables.titles import VERTEX, compact, places_in
from groute_py.io.text.lines import DELIMITERS, csv_rows, whole_lines
from groute_py.io.turn_files import open_parquet
from groute_py.system.memory_limits import check_name_lengths

TABLE = re.compile(r"\.(csv|tsv|txt|tntp|parquet)(\.(gz|xz|zst|bz2))?$")
"""Suffixes of tables of vertices; texts may be compressed."""

ROW_BYTES = 200  # of a row in memory, at least

INT64 = np.iinfo(np.int64)

EXACT = 1 << 53
"""A float64 below it that is an integer is no other one, rounded."""

MICRODEGREE = 1e-6
"""The unit of the coordinates of roads in DIMACS files."""


def coordinates_beside(graph: object) -> Path | None:
    """The coordinate file that lies beside a graph file ``x.gr``, compressed or not, if any."""
    return companion(Path(graph), "coordinates") if isinstance(graph, str | Path) else None


def coordinates_for(
    graph: Graph, path: str | os.PathLike[str] | None = None
) -> NDArray[np.float64]:
    """Read x and y of each vertex, float64, shape (n, 2): from a file, or what the graph holds.

    Of a file the suffix says whether it is a table of vertices.
    """
    if path is not None:
        path = file_path("coordinates", path)
        if TABLE.search(path.name):
            return places_in_table(path, graph)
        return read_coordinates(path, graph.numbering.count).astype(np.float64)
    if graph.coordinates is None:
        raise InputError(
            f"{graph.name} has no coordinates; name a file of them (.co) by --coordinates, or "
            "coordinates= in Python"
        )
    return graph.coordinates


def read_coordinates(path: str | os.PathLike[str], vertex_count: int) -> NDArray[np.int64]:
    """Read a coordinate file: int64, shape (n, 2)."""
    path = file_path("coordinates", path)
    rows = [np.empty((0, 3), np.int64)]
    count = 0
    for text, _ in whole_lines(path):
        lines = [line[1:] for line in text.split(b"\n") if line.startswith(b"v")]
        try:
            rows.append(np.array(b" ".join(lines).split(), dtype=np.int64).reshape(-1, 3))
        except (ValueError, OverflowError) as error:
            problem = f"expected lines 'v ID X Y' of whole numbers ({quoted(error)})"
            raise FormatError(path, problem) from error
        count += len(rows[-1])
        if count > vertex_count:
            break
    numbers = np.concatenate(rows)
    ids = numbers[:, 0] - 1
    if len(ids) != vertex_count or not np.array_equal(np.sort(ids), np.arange(vertex_count)):
        more = " and perhaps more" if count > vertex_count else ""
        raise FormatError(
            path,
            f"expected one line for each vertex 1..{vertex_count}, found {len(ids)} lines{more}",
        )
    places = np.empty((vertex_count, 2), dtype=np.int64)
    places[ids] = numbers[:, 1:]
    return places


class TableRows(NamedTuple):
    """The rows of a table: the line of each, and its fields as they are there."""

    lines: Sequence[int]
    ids: Sequence[Any]
    xs: Sequence[Any]
    ys: Sequence[Any]


def places_in_table(path: Path, graph: Graph) -> NDArray[np.float64]:
    """Read the places of the vertices of a graph: x and y, float64, shape (n, 2)."""
    table = (_of_parquet if path.name.endswith(".parquet") else _of_text)(path)
    axes = [_numbers(path, table.lines, values) for values in (table.xs, table.ys)]
    ids = graph.numbering.ids_of(np.arange(graph.numbering.count))
    row_ids = _as_ids(path, table, ids.dtype)
    order = np.argsort(row_ids, kind="stable")
    rows = np.searchsorted(row_ids, ids, sorter=order)
    ends = np.searchsorted(row_ids, ids, side="right", sorter=order)
    for wrong, problem in ((ends == rows, "no row"), (ends > rows + 1, "two rows")):
        if wrong.any():
            vertex = quoted(ids[int(np.argmax(wrong))].item())
            raise FormatError(path, f"has {problem} for vertex {vertex} of {quoted(graph.name)}")
    return np.stack([axis[order[rows]] for axis in axes], axis=1)


def _of_text(path: Path) -> TableRows:
    rows = csv_rows(path, "vertices", ROW_BYTES, DELIMITERS)
    _, titles = next(rows)
    indices = _columns(path, titles)
    columns: tuple[list[Any], ...] = ([], [], [], [])
    for line, fields in rows:
        if not fields:
            continue
        if len(fields) <= max(indices):
            problem = f"expected {len(titles)} fields, got {len(fields)}"
            raise FormatError(path, problem, line=line)
        row = line, *(fields[index].strip() for index in indices)
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    return TableRows(*columns)


def _of_parquet(path: Path) -> TableRows:
    """The lines are rows, from 1."""
    refuse_pipes(path)
    with open_parquet(path) as file:
        titles = list(file.schema_arrow.names)
        chosen = [titles[index] for index in _columns(path, titles)]
        table = file.read(columns=chosen)
        columns = [table.column(title).to_pylist() for title in chosen]
    return TableRows(range(1, len(table) + 1), *columns)


def _columns(path: Path, titles: Sequence[str]) -> list[int]:
    """The columns of ids, x and y."""
    there = quoted(", ".join(titles)) or "no titles"
    ids = [title for title in titles if VERTEX.fullmatch(compact(title))]
    places = places_in(titles)
    places = [place for place in places if not place.of] or places
    for what, candidates, choices in (
        ("ids", ids, "one of id, vertex, node, node_id, osmid, stop_id"),
        ("coordinates", places, "x and y, or lon and lat"),
    ):
        if len(candidates) != 1:
            many = "several columns" if candidates else "no column"
            raise FormatError(path, f"has {many} of {what} in {there}; expected {choices}")
    chosen = (ids[0], places[0].x, places[0].y)
    if any(titles.count(title) > 1 for title in chosen):
        raise FormatError(path, f"has two columns of one title in {there}")
    return [titles.index(title) for title in chosen]


def _numbers(path: Path, lines: Sequence[int], values: Sequence[Any]) -> NDArray[np.float64]:
    numbers = np.array([_number(value) for value in values], np.float64)
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        problem = f"expected numbers for places, got {quote(values[row])}"
        raise FormatError(path, problem, line=lines[row])
    return numbers


def _number(value: Any) -> float:
    """NaN for what is no number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _as_ids(path: Path, table: TableRows, kind: np.dtype[Any]) -> NDArray[Any]:
    """The ids of the rows in the type of the graph's."""
    if kind.kind == "U":
        texts = [str(name) for name in table.ids]
        check_name_lengths(len(texts), max(map(len, texts), default=0))
        return np.array(texts, np.str_)
    numbers = [_integer(name) for name in table.ids]
    if None in numbers:
        row = numbers.index(None)
        problem = f"expected integers for ids, as the graph has them, got {quote(table.ids[row])}"
        raise FormatError(path, problem, line=table.lines[row])
    return np.array(numbers, np.int64)


def _integer(name: Any) -> int | None:
    """An id of 64 bits; None for what is none.

    A column of floats, as tables with gaps have them, holds ids below 2⁵³ exactly.
    """
    try:
        if isinstance(name, float) and name.is_integer() and abs(name) < EXACT:
            return int(name)
        number = int(name) if isinstance(name, str) else as_index(name)
    except (TypeError, ValueError):
        return None
    return number if INT64.min <= number <= INT64.max else None
