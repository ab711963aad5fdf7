"""Pairs of vertices from files: DIMACS ``.p2p``, or ``.csv`` and ``.tsv``.

source,target,trips         any titles of tails and heads, and other columns, which are ignored;
17,4,25                     without titles a source and a target in each line
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quote, quoted
from groute_py.graph.ids import Numbering
from groute_py.io.problems import read_pairs
from groute_py.io.tables.titles import ends_in
from groute_py.io.text.lines import csv_rows

SUFFIX = re.compile(r"\.(p2p|csv|tsv)(\.\w+)?$")  # of files of pairs, which may be compressed

ROLES = ("source", "target")

PAIR_BYTES = 160  # of a pair of ids in memory, at least


def check_pairs_file(path: Path) -> None:
    """Raise `InputError` if a file of pairs cannot be one, by its name."""
    if not SUFFIX.search(path.name):
        raise InputError(
            f"{path}: unknown suffix {quote(path.suffix)}; pairs are read from .p2p .csv .tsv"
        )


def read_pairs_in(path: Path, numbering: Numbering, graph: str) -> NDArray[np.int64]:
    """Read pairs of vertices, int64, shape (k, 2), from 0."""
    check_pairs_file(path)
    suffix = SUFFIX.search(path.name)
    if suffix is not None and suffix[1] == "p2p":
        pairs: list[list[str]] = [list(map(str, pair)) for pair in read_pairs(path).tolist()]
    else:
        pairs = _read_table(path, numbering)
    if not pairs:
        raise InputError(f"{path}: has no pairs")
    ends = zip(ROLES, zip(*pairs, strict=True), strict=True)
    return np.stack([numbering.indices_of(ids, role, graph) for role, ids in ends], axis=1)


def _read_table(path: Path, numbering: Numbering) -> list[list[str]]:
    delimiters = "\t" if ".tsv" in path.suffixes else ",;"
    pairs: list[list[str]] = []
    columns, width = [0, 1], 2
    for line, row in csv_rows(path, "pairs", PAIR_BYTES, delimiters):
        fields = [field.strip() for field in row]
        if not fields:
            continue
        if line == 1 and (ends := _titles(path, fields, numbering)) is not None:
            columns, width = [fields.index(title) for title in ends], len(fields)
            continue
        if len(fields) != width or not all(fields[column] for column in columns):
            problem = f"expected a source and a target, got {quote(','.join(fields))}"
            hint = "" if width > 2 else "; write titles above other columns: source,target,trips"
            raise FormatError(path, f"{problem}{hint}", line=line)
        pairs.append([fields[column] for column in columns])
    return pairs


def _titles(path: Path, fields: list[str], numbering: Numbering) -> tuple[str, str] | None:
    """The titles of sources and targets; None for a line that is a pair of vertices."""
    pairs = ends_in(fields)
    if len(pairs) > 1:
        several = ", or ".join(f"{tail} and {head}" for tail, head in pairs)
        raise FormatError(path, f"sources and targets may be {quoted(several)}", line=1)
    if not pairs or (len(fields) == 2 and all(_is_vertex(field, numbering) for field in fields)):
        return None
    return pairs[0]


def _is_vertex(name: str, numbering: Numbering) -> bool:
    try:
        numbering.index_of(name)
    except InputError:
        return False
    return name not in ROLES
