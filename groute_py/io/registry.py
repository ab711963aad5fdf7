"""Read and write graph files; the format of a file is told by its content, never by its name alone.

`FORMATS` lists what there is; a new format is one file in `formats` and one line here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from groute_py.arguments import check_kind, file_path
from groute_py.errors import FormatError, InputError
from groute_py.graph.csr import Graph
from groute_py.graph.size import Size
from groute_py.io import foreign_formats
from groute_py.io.compression import SUFFIXES, bare_name
from groute_py.io.file_head import Head
from groute_py.io.formats import (
    dense_matrix,
    dimacs,
    galois,
    gapbs,
    matrix_market,
    metis,
    native,
    pace,
    parquet,
    prepared,
    scipy_npz,
    tntp,
)
from groute_py.io.formats.edge_list import edge_list
from groute_py.io.formats.osm import osm
from groute_py.io.rank_piece import Piece
from groute_py.io.tables.columns import Columns
from groute_py.io.text.lines import Progress
from groute_py.system.atomic_file import translating_errors


class Format(NamedTuple):
    """How to know a format by the beginning of a file, and how to read and write it."""

    sniff: Callable[[Head], bool]
    read: Callable[[Path, Progress | None], Graph]
    write: Callable[[Graph, Path], None] | None = None
    suffixes: tuple[str, ...] = ()
    """The names of files that are written in this format."""
    read_piece: Callable[[Path, range, Progress | None], Piece | None] | None = None
    """For several ranks that read a plain file: what begins at these bytes, if it is usual."""
    compressible: bool = True
    """Whether files may be compressed as well, and the graph is worth a cache."""
    first_id: int | None = None
    """The id that such files give to vertex 0, whatever it was; None where they keep all ids."""
    by_title: Callable[[Path, Progress | None, Columns], Graph] | None = None
    """How to read a table whose columns may be named."""
    size: Callable[[Head], Size | None] | None = None
    """How large the graph is, where the beginning of a file tells."""
    keeps_columns: bool = False
    """Whether graphs may have several weights, of which one is chosen after reading."""
    rules: int = 1
    """To be increased when `read` makes another graph of some file: older copies are not used."""
    has_profiles: bool = False
    """Whether it is read for a kind of traveller."""

    def kept(self, asked: Columns) -> Columns:
        """The columns that a copy of a file depends on."""
        return asked._replace(weight=None) if self.keeps_columns else asked


FORMATS = {
    "native CSR": Format(
        *(native.sniff, native.read, native.write, (".csr",)),
        compressible=False,
        keeps_columns=True,
    ),
    "Matrix Market": Format(
        matrix_market.sniff,
        matrix_market.read,
        matrix_market.write,
        (".mtx",),
        first_id=1,
        size=matrix_market.size,
    ),
    "Parquet": Format(
        parquet.sniff,
        parquet.read,
        parquet.write,
        (".parquet",),
        compressible=False,
        by_title=parquet.read,
    ),
    "SciPy sparse array": Format(
        scipy_npz.sniff, scipy_npz.read, scipy_npz.write, (".npz",), compressible=False
    ),
    "prepared graph": Format(
        *(prepared.sniff, prepared.read, prepared.write, (prepared.SUFFIX,)),
        compressible=False,
        size=prepared.size,
        keeps_columns=True,
    ),
    "OpenStreetMap": Format(
        *(osm.sniff, osm.read),
        by_title=osm.read,
        keeps_columns=True,
        rules=osm.RULES,
        has_profiles=True,
    ),
    "TNTP": Format(tntp.sniff, tntp.read, first_id=1, keeps_columns=True),
    "GAPBS binary": Format(
        gapbs.sniff, gapbs.read, gapbs.write, (".sg", ".wsg"), first_id=0, size=gapbs.size
    ),
    "Galois binary": Format(
        galois.sniff, galois.read, galois.write, (".galois",), first_id=0, size=galois.size
    ),
    "PACE text": Format(pace.sniff, pace.read),
    "DIMACS text": Format(
        dimacs.sniff,
        dimacs.read,
        dimacs.write,
        (".gr",),
        dimacs.read_piece,
        first_id=1,
        size=dimacs.size,
    ),
    "dense matrix": Format(
        dense_matrix.sniff, dense_matrix.read, dense_matrix.write, (".mat",), first_id=0
    ),
    "METIS": Format(
        metis.sniff, metis.read, metis.write, metis.SUFFIXES, first_id=1, size=metis.size
    ),
    "edge list": Format(
        edge_list.sniff,
        edge_list.read,
        edge_list.write,
        edge_list.SUFFIX_OF_NAMES,
        edge_list.read_piece,
        by_title=edge_list.read,
    ),
}
"""The formats, by the name that messages give them, in the order in which they are looked for."""


MAPPED = (FORMATS["native CSR"], FORMATS["prepared graph"])
"""Those that are mapped into memory instead of read."""


def write_graph(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write a graph in the format that the suffix names; ``.gz .xz .zst .bz2`` may follow it.

    Args:
        graph: the graph.
        path: the file; it is complete or absent.

    Raises:
        InputError: the suffix is unknown, the format cannot hold the graph, or no file can be
            written there.
        RunError: the disk is full, or fails.
        SetupError: the format needs a library that is not installed.
    """
    check_kind("graph", graph, Graph, "a Graph")
    path = file_path("path", path)
    write = written_form(path).write
    assert write is not None
    with translating_errors(path):
        write(graph, path)


def written_form(path: Path) -> Format:
    """The format for the suffix of a file to write."""
    for form in FORMATS.values():
        if form.write is not None and bare_name(path).endswith(form.suffixes):
            if path.suffix in SUFFIXES and not form.compressible:
                raise InputError(f"{path}: {form.suffixes[0]} is not compressed further")
            return form
    known = ", ".join(suffix for form in FORMATS.values() for suffix in form.suffixes)
    raise InputError(f"{path}: unknown suffix; a graph is written as {known}")


def format_of(head: Head) -> Format:
    """The format of a file."""
    path = head.path
    if (problem := foreign_formats.problem_of(head)) is not None:
        raise FormatError(path, problem)
    for name, form in FORMATS.items():
        if form.sniff(head):
            if head.compression is not None and not form.compressible:
                problem = f"is {name} within {head.compression}; decompress it first"
                raise FormatError(path, problem)
            if form.by_title is None or form.keeps_columns:
                form.kept(head.asked).refuse(f"{path}: {name}")
            if not form.has_profiles:
                head.asked.refuse_profile(f"{path}: {name}")
            return form
    raise FormatError(path, f"is not a graph file; the known formats are {', '.join(FORMATS)}")
