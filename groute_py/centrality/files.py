"""Scores as files: a row for each vertex or arc, in the ids of the graph's file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from groute_py.centrality.scores import ArcScores, Scores
from groute_py.errors import InputError, quote
from groute_py.graph.ids import Numbering
from groute_py.io.optional_libraries import library

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


def _write_csv(columns: Columns, file: IO[bytes]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for first in range(0, len(next(iter(columns.values()))), ROWS_AT_ONCE):
        part = [column[first : first + ROWS_AT_ONCE].tolist() for column in columns.values()]
        writer.writerows(zip(*part, strict=True))
    text.flush()
    text.detach()


def _write_npz(columns: Columns, file: IO[bytes]) -> None:
    np.savez(file, **columns)


def _write_parquet(columns: Columns, file: IO[bytes]) -> None:
    arrow, pq = library("pyarrow", "writing Parquet"), library("pyarrow.parquet", "writing Parquet")
    made = {title: arrow.array(column.tolist()) for title, column in columns.items()}
    pq.write_table(arrow.table(made), file)


FORMS = {".csv": _write_csv, ".npz": _write_npz, ".parquet": _write_parquet}
"""By suffix."""


def form_of(path: Path) -> Callable[[Columns, IO[bytes]], None]:
    """The writer for the suffix of a file.

    Raises:
        InputError: there is none.
    """
    if path.suffix not in FORMS:
        raise InputError(
            f"{path}: unknown suffix {quote(path.suffix)}; scores are saved as {', '.join(FORMS)}"
        )
    return FORMS[path.suffix]
