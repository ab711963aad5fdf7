"""Pairs of vertices from files: DIMACS ``.p2p``, or ``.csv`` with a source and a target a line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quote
from groute_py.graph.ids import Numbering
from groute_py.io.problems import read_pairs
from groute_py.io.text.csv_rows import csv_rows

SUFFIX = re.compile(r"\.(p2p|csv)(\.\w+)?$")
"""Of files of pairs, which may be compressed."""

TITLES = ["source", "target"]
"""What the first line of a ``.csv`` may say."""

PAIR_BYTES = 160
"""Of a pair of ids in memory, at least."""


def check_pairs_file(path: Path) -> None:
    """Raise `InputError` if a file of pairs cannot be one, by its name."""
    if not SUFFIX.search(path.name):
        raise InputError(
            f"{path}: unknown suffix {quote(path.suffix)}; pairs are read from .p2p .csv"
        )


def read_pairs_in(path: Path, numbering: Numbering, graph: str) -> NDArray[np.int64]:
    """Pairs of vertices, int64, shape (k, 2), from 0.

    Args:
        path: of the file; its suffix says what it is.
        numbering: between the file's ids and vertices.
        graph: what the graph is called in messages.

    Raises:
        FormatError: with the line and what was expected there.
        InputError: an id that is not a vertex's, or no pair at all.
    """
    check_pairs_file(path)
    found = SUFFIX.search(path.name)
    if found is not None and found[1] == "p2p":
        pairs: list[list[str]] = [list(map(str, pair)) for pair in read_pairs(path).tolist()]
    else:
        pairs = _read_csv(path)
    if not pairs:
        raise InputError(f"{path}: has no pairs")
    ends = zip(TITLES, zip(*pairs, strict=True), strict=True)
    return np.stack([numbering.indices_of(ids, role, graph) for role, ids in ends], axis=1)


def _read_csv(path: Path) -> list[list[str]]:
    pairs: list[list[str]] = []
    for line, fields in csv_rows(path, "pairs", PAIR_BYTES):
        if not fields or (line == 1 and fields == TITLES):
            continue
        if len(fields) != 2 or not all(fields):
            problem = f"expected a source and a target, got {quote(','.join(fields))}"
            raise FormatError(path, problem, line=line)
        pairs.append([field.strip() for field in fields])
    return pairs
