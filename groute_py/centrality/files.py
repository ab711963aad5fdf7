"""Scores as files: a row for each vertex or arc, in the ids of the graph's file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from groute_py.centrality.scores import ArcScores, Scores
from groute_py.graph.ids import Numbering
from groute_py.io.array_archive import save_arrays
from groute_py.results.tables import Column, Part, write_table
from groute_py.system.atomic_file import replacing, translating_errors

Columns = dict[str, Any]

ROWS_AT_ONCE = 1 << 16


def columns_of(scores: Scores | ArcScores, numbering: Numbering, name: str) -> Columns:
    """Arrays of one length by title: ids, the values under ``name``, and standard errors."""
    if isinstance(scores, Scores):
        columns: Columns = {"vertex": numbering.ids_of(scores.vertices)}
    else:
        columns = {"tail": numbering.ids_of(scores.tails), "head": numbering.ids_of(scores.heads)}
    columns[name] = scores.values
    if scores.errors is not None:
        columns["standard_error"] = scores.errors
    return columns


def save_columns(columns: Columns, path: Path, attribution: str = "") -> None:
    """Write them, atomically: ``.npz``, or a table of a suffix of `groute_py.results.tables`.

    Args:
        columns: of `columns_of`.
        path: of the file.
        attribution: whom it names, if anybody; in an ``.npz`` the member ``attribution``.

    Raises:
        RunError: the disk is full, or fails.
        SetupError: the form needs a library that is not installed.
    """
    if path.suffix != ".npz":
        write_table(path, _parts(columns), attribution)
        return
    arrays = columns | ({"attribution": np.array(attribution)} if attribution else {})
    with translating_errors(path), replacing(path) as file:
        save_arrays(file, arrays)


def _parts(columns: Columns) -> Iterator[Part]:
    for first in range(0, len(next(iter(columns.values()))), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        yield {title: Column(column[rows]) for title, column in columns.items()}
