"""Read and write graph files; the format of a file is told by its content, never by its name alone.

`FORMATS` lists what there is; a new format is one file in `formats` and one line here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from groute_py.arguments import check_kind, file_path
from groute_py.errors import FormatError, GraphError, InputError
from groute_py.graph.csr import Graph
from groute_py.graph.size import Size
from groute_py.graph.symmetrize import mirrored
from groute_py.io import cache as cached
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
)
from groute_py.io.formats.edge_list import edge_list
from groute_py.io.formats.osm import osm
from groute_py.io.prepared_cache import PreparedCopy, prepared_copy
from groute_py.io.rank_piece import Piece
from groute_py.io.steady_reading import read_steady
from groute_py.io.tables.columns import BY_TITLE, Columns
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
    has_profiles: bool = False
    """Whether it is read for a kind of traveller."""

    def kept(self, asked: Columns) -> Columns:
        """What a copy of a file depends on."""
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
        osm.sniff, osm.read, by_title=osm.read, keeps_columns=True, has_profiles=True
    ),
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


def read_graph(
    path: str | os.PathLike[str],
    *,
    undirected: bool = False,
    cache: bool | str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    tail: str | None = None,
    head: str | None = None,
    weight: str | None = None,
    profile: str | None = None,
) -> Graph:
    """Read a graph from a file of any known format.

    Args:
        path: the file, plain or compressed with gzip, xz, bzip2 or zstd, or the only member of an
            archive (zip or tar).
        undirected: add the reverse of each arc; a column of directions is ignored then.
        cache: whether to keep a binary copy of a text file's graph for the next time. None: if the
            text is large (8 MB compressed, 32 MB plain). True: always. False: never, and ignore
            existing copies. A folder: always, in that folder.
        progress: called repeatedly with the bytes read so far and the bytes of the file.
        tail, head, weight: titles of the columns of a table (text with titles, or Parquet);
            ``docs/tables.md`` lists the defaults. ``weight`` also of the weights by name in a
            ``.csr`` or ``.prepared`` file or an extract of OpenStreetMap.
        profile: who travels, of an extract of OpenStreetMap: ``car`` (default), ``bike``, ``foot``.

    Returns:
        A `Graph`: int64 offsets of shape (n + 1,), int32 or int64 heads and weights of shape (m,);
        weights are int32, uint32, int64, float32 or float64.

    Raises:
        FormatError: the file is missing, cannot be opened, is not a graph, or changed while it was
            read; the message says why, with the line if there is one.
        InputError: a column is named, but the format has no named columns, or not this one; or
            a profile, but the file is no extract of OpenStreetMap.
        SetupError: the format needs a library that is not installed.
    """
    path = file_path("path", path)
    graph = read_table(path, Columns(tail, head, weight, undirected, profile), cache, progress)
    return mirrored(graph) if undirected else graph


def read_table(
    path: str | os.PathLike[str],
    asked: Columns,
    cache: bool | str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Graph:
    """As `read_graph`; edges of which ``asked`` says that they are undirected are not mirrored."""
    path = Path(path)
    head = Head(path, asked)
    form = _format(path, head)
    compressed = head.compression is not None
    # a copy has no ids of arcs
    is_kept = form.compressible and asked.arc is None
    folder = cached.folder_for(path, cache, compressed) if is_kept else None
    kept = form.kept(asked)

    def read() -> Graph:
        read = partial(_read_once, form, path, progress, kept)
        return read_steady(path, read, is_mapped=form in MAPPED)

    graph = read() if folder is None else cached.read_through(path, folder, read, kept)
    return graph.with_column(asked.weight) if kept.weight != asked.weight else graph


def is_mapped(path: str | os.PathLike[str]) -> bool:
    """Whether `read_graph` maps this file itself, and so nobody may write to it meanwhile.

    Raises:
        FormatError: it cannot be read.
    """
    head = Head(Path(path))
    return head.compression is None and any(form.sniff(head) for form in MAPPED)


def native_file(
    path: str | os.PathLike[str],
    cache: bool | str | os.PathLike[str] | None = None,
    asked: Columns = BY_TITLE,
) -> Path | None:
    """The native file that `read_graph` would map: the file itself, or a fresh copy; else None.

    Raises:
        FormatError: as `read_graph`, where the file is looked at.
    """
    path = Path(path)
    head = Head(path, asked)
    form = _format(path, head)
    if form is FORMATS["native CSR"]:
        return path
    folder = cached.folder_for(path, cache, head.compression is not None)
    if folder is None or not form.compressible:
        return None
    return cached.fresh_copy(path, folder, form.kept(asked))


def column_in_copy(path: str | os.PathLike[str], asked: Columns) -> str | None:
    """Which column of `native_file` has the weights; None for the weights that it has.

    Raises:
        FormatError: as `read_graph`, where the file is looked at.
    """
    path = Path(path)
    return asked.weight if _format(path, Head(path, asked)).keeps_columns else None


def prepared_place(
    path: str | os.PathLike[str],
    cache: bool | str | os.PathLike[str] | None,
    asked: Columns,
) -> PreparedCopy | None:
    """Where the cache keeps what a file becomes once it is prepared; None where it does not.

    Raises:
        FormatError: as `read_graph`, where the file is looked at.
    """
    path = Path(path)
    if _format(path, Head(path, asked)) is FORMATS["prepared graph"]:
        return None
    return prepared_copy(path, cache, asked)


def size_of_file(
    path: str | os.PathLike[str],
    cache: bool | str | os.PathLike[str] | None = None,
    asked: Columns = BY_TITLE,
) -> Size | None:
    """What a file, or a copy of it, tells of its size before it is read; None where it does not.

    Raises:
        FormatError: as `read_graph`, where the file is looked at.
    """
    if (copy := native_file(path, cache, asked)) is not None:
        contents = native.map_file(copy)
        return Size(len(contents.offsets) - 1, len(contents.heads))
    head = Head(Path(path), asked)
    tell = _format(Path(path), head).size
    return None if tell is None else tell(head)


def is_for_pieces(path: str | os.PathLike[str]) -> bool:
    """Whether several ranks may read pieces of a file: a large plain text."""
    path = Path(path)
    head = Head(path)
    large = head.size >= cached.LARGE_PLAIN and head.compression is None
    return large and _format(path, head).read_piece is not None


def copy_for(
    path: str | os.PathLike[str], cache: bool | str | os.PathLike[str] | None = None
) -> Path | None:
    """Where `read_graph` would leave a copy of a plain text file, or None where it would not."""
    path = Path(path)
    folder = cached.folder_for(path, cache, compressed=False)
    return None if folder is None else folder / cached.copy_name(path)


def read_piece(path: Path, span: range, progress: Progress | None = None) -> Piece | None:
    """The arcs in the lines that begin at these bytes of a plain file.

    None where that cannot be said without the rest of the file, which includes all mistakes.
    """
    try:
        read = _format(path, Head(path)).read_piece
        return None if read is None else read(path, span, progress)
    except (OSError, FormatError, GraphError):
        return None


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
    """The format for the suffix of a file to write.

    Raises:
        InputError: there is none.
    """
    for form in FORMATS.values():
        if form.write is not None and bare_name(path).endswith(form.suffixes):
            if path.suffix in SUFFIXES and not form.compressible:
                raise InputError(f"{path}: {form.suffixes[0]} is not compressed further")
            return form
    known = ", ".join(suffix for form in FORMATS.values() for suffix in form.suffixes)
    raise InputError(f"{path}: unknown suffix; a graph is written as {known}")


def _read_once(form: Format, path: Path, progress: Progress | None, asked: Columns) -> Graph:
    if form.by_title is not None:
        return form.by_title(path, progress, asked)
    return form.read(path, progress)


def _format(path: Path, head: Head) -> Format:
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
