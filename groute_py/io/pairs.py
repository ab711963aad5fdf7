"""Sources and pairs of vertices from files: DIMACS ``.ss`` and ``.p2p``, or ``.csv`` and ``.tsv``.

source,target,trips         any titles of tails and heads, and other columns, which are ignored;
17,4,25                     without titles a source and a target in each line
"""

from __future__ import annotations

import os
import re
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quote, quoted
from groute_py.graph.ids import Numbering
from groute_py.io.tables.titles import ends_in
from groute_py.io.text.lines import csv_rows, shown, whole_lines
from groute_py.system.memory_limits import check_room

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


ID = re.compile(rb"\d{1,18}")


def read_sources(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Read the sources of a ``.ss`` file."""
    return _read(Path(path), b"ss", b"s", 1)[:, 0]


def read_pairs(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Read the pairs of a ``.p2p`` file."""
    return _read(Path(path), b"p2p", b"q", 2)


def _read(path: Path, kind: bytes, letter: bytes, width: int) -> NDArray[np.int64]:
    promised, ids, number = None, array("q"), 0
    for text, _ in whole_lines(path):
        check_room(ids.itemsize * len(ids), f"{path}: more than {len(ids):,} ids")
        for line in text.split(b"\n")[:-1]:
            number += 1
            fields = line.split()
            if not fields or fields[0].startswith(b"c"):
                continue
            if fields[0] == b"p" and promised is None:
                promised = _promised(path, fields, kind, number)
            elif fields[0] == letter and promised is not None and len(fields) == 1 + width:
                ids.extend(_id(path, field, number) for field in fields[1:])
            else:
                form = f"`{letter.decode()}{' ID' * width}` behind `p aux sp {kind.decode()} N`"
                raise FormatError(path, f"expected {form}, got {shown(line)}", line=number)
    count = len(ids) // width
    if promised != count:
        problem = f"promises {promised or 0:,} lines `{letter.decode()}`, but has {count:,}"
        raise FormatError(path, problem)
    return np.array(ids, np.int64).reshape(-1, width)


def _promised(path: Path, fields: list[bytes], kind: bytes, line: int) -> int:
    if fields[:4] != [b"p", b"aux", b"sp", kind] or len(fields) != 5 or not ID.fullmatch(fields[4]):
        problem = f"expected `p aux sp {kind.decode()} N`, got {shown(b' '.join(fields))}"
        raise FormatError(path, problem, line=line)
    return int(fields[4])


def _id(path: Path, field: bytes, line: int) -> int:
    if not ID.fullmatch(field):
        raise FormatError(path, f"expected a vertex id, got {shown(field)}", line=line)
    return int(field)
