"""Weights of all arcs of a graph in a file beside it: ``.npy``, or a column of a table.

A table (``.csv``, ``.tsv``, compressed or not, or ``.parquet``) has a line of titles, or one column
of numbers alone. Its weights are the one column whose title says so, or the only column.
"""

from __future__ import annotations

import math
import re
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quote, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.hierarchy.prepared import without_hierarchy
from groute_py.io.compression import refuse_pipes
from groute_py.io.tables.titles import is_weight_title
from groute_py.io.text.arc_reader import ROUNDED, first_rounded
from groute_py.io.text.lines import DELIMITERS, csv_rows
from groute_py.io.turn_files import open_parquet
from groute_py.system.memory_limits import check_room

SUFFIX = re.compile(r"\.([ct]sv(\.\w+)?|parquet|npy)$")

WHOLE = re.compile(r"[+-]?\d{1,400}")

NUMBER = re.compile(r"[+-]?(\d{1,400}\.?\d{0,400}|\.\d{1,400})([eE][+-]?\d{1,3})?")

ROW_BYTES = 100
"""Bytes of a weight of a table in memory, at least."""


def with_arc_weights(graph: Graph, path: Path) -> Graph:
    """Return a graph, without its hierarchy, with the weights of a file.

    They are in the order of the arcs: by tail, and of one tail as the graph's file has them.

    Raises:
        FormatError: there are not as many as arcs, or one is no finite number that fits in 64 bits.
    """
    if not SUFFIX.search(path.name):
        suffix = quote(path.suffix)
        raise InputError(
            f"{path}: unknown suffix {suffix}; weights are read from .npy .csv .tsv .parquet"
        )
    refuse_pipes(path)
    weights, lines = (_of_array(path), None) if path.suffix == ".npy" else _of_table(path)
    if weights.shape != (graph.arc_count,):
        raise FormatError(
            path,
            f"has {weights.size:,} weights of shape {weights.shape}, and {quoted(graph.name)} has "
            f"{graph.arc_count:,} arcs; give one for each, in the order of the arcs that "
            "groute-py convert writes",
        )
    beyond = weights.dtype == np.uint64 and weights > np.iinfo(np.int64).max
    wrong = np.logical_or(beyond, ~np.isfinite(weights))
    if wrong.any():
        arc = int(np.argmax(wrong))
        fits = "a finite number" if weights.dtype.kind == "f" else "an integer of 64 bits"
        problem = f"the weight of arc {arc} is {weights[arc]}, not {fits}"
        raise FormatError(path, problem, line=None if lines is None else lines[arc])
    return without_hierarchy(graph).to_host().with_weights(weights)


def map_array(path: Path) -> NDArray[Any]:
    """Return the numbers of a ``.npy``, which are read where they are looked at.

    Raises:
        FormatError: the file has something else.
    """
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(mapped, np.ndarray) or mapped.dtype.kind not in "iufb":
            raise ValueError(f"it holds {getattr(mapped, 'dtype', 'several arrays')}, no numbers")
        return mapped
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        problem = f"is no array of numbers from numpy.save: {quoted(error)}"
        raise FormatError(path, problem) from error


def _of_array(path: Path) -> NDArray[Any]:
    mapped = map_array(path)
    check_room(mapped.nbytes, f"{path}: its weights")
    return np.array(mapped)


def _of_table(path: Path) -> tuple[NDArray[Any], list[int]]:
    """Return weights, and the line of each; rows of Parquet count from 1."""
    if path.suffix == ".parquet":
        with open_parquet(path) as file:
            titles = file.schema_arrow.names
            title = titles[_column(path, titles)]
            check_room(ROW_BYTES * file.metadata.num_rows, f"{path}: its weights")
            values = file.read(columns=[title]).column(0).to_pylist()
        return _numbers(path, values, lines := list(range(1, len(values) + 1))), lines
    rows = csv_rows(path, "weights", ROW_BYTES, DELIMITERS)
    first = next(rows, (1, [""]))
    titles = [title.strip() for title in first[1]]
    if len(titles) == 1 and NUMBER.fullmatch(titles[0]):
        titles, rows = ["weight"], chain([first], rows)
    column, values, lines = _column(path, titles), [], []
    for line, fields in rows:
        if not fields:
            continue
        if len(fields) != len(titles):
            raise FormatError(path, f"expected {len(titles)} fields, got {len(fields)}", line=line)
        values.append(fields[column])
        lines.append(line)
    return _numbers(path, values, lines), lines


def _column(path: Path, titles: list[str]) -> int:
    places = [place for place, title in enumerate(titles) if is_weight_title(title)]
    places = places or list(range(len(titles)))
    if len(places) != 1:
        named = quoted(", ".join(titles))
        raise FormatError(path, f"expected one column of weights, got {named}; title it weight")
    return places[0]


def _numbers(path: Path, values: list[Any], lines: list[int]) -> NDArray[Any]:
    """Return integers where all are integers, else float64."""
    numbers = [_number(path, value, line) for value, line in zip(values, lines, strict=True)]
    if all(type(number) is int for number in numbers):
        return np.array(numbers, np.int64)
    whole = np.array([number if type(number) is int else 0 for number in numbers], np.int64)
    if (rounded := first_rounded(whole)) is not None:
        raise FormatError(path, ROUNDED.format(rounded), line=lines[numbers.index(rounded)])
    return np.array(numbers, np.float64)


def _number(path: Path, value: Any, line: int) -> int | float:
    is_whole = isinstance(value, int) or WHOLE.fullmatch(str(value).strip())
    try:
        number = int(value) if is_whole else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (abs(number) < 2**63 if is_whole else math.isfinite(number)):
        what = "an integer of 64 bits" if is_whole else "a finite number"
        raise FormatError(path, f"expected {what}, got {quote(value)}", line=line)
    return number
