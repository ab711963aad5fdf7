"""Tables of vertices: an id and a place in each row, ``.csv``, ``.tsv`` or ``.parquet``.

id,lon,lat                  or x and y, or the long words; other columns are passed over
53017091,7.4174,43.7316     in any order; rows of vertices that the graph does not have too
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, quote, quoted
from groute_py.graph.csr import Graph
from groute_py.io.optional_libraries import library
from groute_py.io.pipes import refuse_pipes
from groute_py.io.tables.titles import compact
from groute_py.io.text.lines import whole_lines
from groute_py.system.memory_limits import CHECKED_EVERY, check_name_lengths, check_room

SUFFIX = re.compile(r"\.(csv|tsv|parquet)(\.(gz|xz|zst|bz2))?$")
"""Of tables of vertices; texts may be compressed."""

IDS = ("id", "vertex", "node", "vertexid", "nodeid", "osmid")
XS = ("x", "lon", "lng", "long", "longitude")
YS = ("y", "lat", "latitude")
"""Titles, without signs and in small letters."""

ROW_BYTES = 160
"""Of a row in memory, at least."""


def places_in_table(path: Path, graph: Graph) -> NDArray[np.float64]:
    """Where the vertices of a graph lie, float64, shape (n, 2): x and y.

    Raises:
        FormatError: the columns are not there or not clear, a place is no pair of finite numbers,
            or a vertex of the graph has no row, or two.
        SetupError: a Parquet file needs PyArrow, which is not installed.
    """
    parquet = path.name.endswith(".parquet")
    ids, *places = (_of_parquet if parquet else _of_text)(path)
    axes = [_numbers(path, axis) for axis in places]
    wanted = graph.numbering.ids_of(np.arange(graph.numbering.count))
    found = _as_ids(path, ids, wanted.dtype)
    order = np.argsort(found, kind="stable")
    rows = np.searchsorted(found, wanted, sorter=order)
    ends = np.searchsorted(found, wanted, side="right", sorter=order)
    for wrong, problem in ((ends == rows, "no row"), (ends > rows + 1, "two rows")):
        if wrong.any():
            vertex = quoted(wanted[int(np.argmax(wrong))].item())
            raise FormatError(path, f"has {problem} for vertex {vertex} of {quoted(graph.name)}")
    return np.stack([axis[order[rows]] for axis in axes], axis=1)


def _of_text(path: Path) -> tuple[Sequence[Any], ...]:
    columns: tuple[list[str], ...] = ([], [], [])
    try:
        lines = _text(path)
        head = next(lines, "")
        separator = next((sign for sign in ("\t", ";", ",") if sign in head), ",")
        titles = next(csv.reader([head], delimiter=separator), [])
        indices = _columns(path, titles)
        for number, fields in enumerate(csv.reader(lines, delimiter=separator), 2):
            if not fields:
                continue
            if number % CHECKED_EVERY == 0:
                check_room(ROW_BYTES * len(columns[0]), f"{path}: more than {number:,} vertices")
            if len(fields) <= max(indices):
                problem = f"expected {len(titles)} fields, got {len(fields)}"
                raise FormatError(path, problem, line=number)
            for column, index in zip(columns, indices, strict=True):
                column.append(fields[index].strip())
    except csv.Error as problem:
        raise FormatError(path, str(problem)) from problem
    except UnicodeDecodeError as problem:
        raise FormatError(path, "expected text in UTF-8") from problem
    return columns


def _text(path: Path) -> Iterator[str]:
    for text, _ in whole_lines(path):
        for line in text.splitlines(keepends=True):
            yield line.decode()


def _of_parquet(path: Path) -> tuple[Sequence[Any], ...]:
    parquet = library("pyarrow.parquet", "reading Parquet")
    refuse_pipes(path)
    try:
        file = parquet.ParquetFile(path)
        titles = list(file.schema_arrow.names)
        chosen = [titles[index] for index in _columns(path, titles)]
        table = file.read(columns=chosen)
        return tuple(table.column(title).to_pylist() for title in chosen)
    except OSError as problem:
        raise FormatError(path, f"cannot be read: {problem.strerror or problem}") from problem
    except (ValueError, KeyError, TypeError) as problem:  # ArrowInvalid is a ValueError
        raise FormatError(path, f"damaged Parquet: {quoted(problem)}") from problem


def _columns(path: Path, titles: Sequence[str]) -> list[int]:
    """Which columns hold ids, x and y."""
    small = [compact(title) for title in titles]
    found = []
    for what, names in (("ids", IDS), ("x or longitudes", XS), ("y or latitudes", YS)):
        places = [place for place, title in enumerate(small) if title in names]
        if len(places) != 1:
            there = quoted(", ".join(titles)) or "no titles"
            many = "several columns" if places else "no column"
            raise FormatError(
                path, f"has {many} of {what} in {there}; expected one of {', '.join(names)}"
            )
        found.append(places[0])
    return found


def _numbers(path: Path, values: Sequence[Any]) -> NDArray[np.float64]:
    try:
        numbers = np.array(values, np.float64)
    except (ValueError, TypeError) as problem:
        raise FormatError(path, f"expected numbers for places ({quoted(problem)})") from problem
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise FormatError(path, f"row {row + 1} has the place {quote(values[row])}")
    return numbers


def _as_ids(path: Path, ids: Sequence[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """The ids of the rows in the type of the graph's."""
    if kind.kind == "U":
        texts = [str(name) for name in ids]
        check_name_lengths(len(texts), max(map(len, texts), default=0))
        return np.array(texts, np.str_)
    try:
        return np.array([int(name) for name in ids], np.int64)
    except (ValueError, TypeError, OverflowError) as problem:
        raise FormatError(
            path, f"expected integers for ids, as the graph has them ({quoted(problem)})"
        ) from problem
