"""Edge lists: a tail, a head and maybe a weight in each line.

    # SNAP: a comment; so is a line that begins with %
    1,2,803           parted by blanks, tabs, commas, semicolons or bars
    home,work,1.5     ids are any integers, or else any names
    "a, b",work,2     in quotes where they hold a separator; a quote within is doubled

Ids are integers where all of the first lines' are: 007 is then 7. A comment ``# ids are names``
makes names of all; we write it where names look like integers.

Below titles, columns stand in any order and number (`groute_py.io.tables.columns`), and where the
file has a separator a line that begins with ``#`` or ``%`` is a row if it has as many fields.

A comment of KONECT's or SNAP's (``% sym``, ``# Undirected graph``) is obeyed.

This is what SNAP, LDBC Graphalytics (``.e``, with the vertices in ``.v`` beside it), GAPBS
(``.el``, ``.wel``) and spreadsheets (``.csv``, with or without titles) have. Missing weights are 1.
A first line of two counts, ``n m``, in front of arcs with weights says which vertices there are,
and so does a comment ``# vertices 1..n``, which we write where some have no arcs.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError, quote
from groute_py.graph.builder import INT32, INT64
from groute_py.graph.csr import Graph
from groute_py.graph.ids import numbered
from groute_py.graph.read_report import Reading
from groute_py.graph.symmetrize import is_symmetric, mirrored
from groute_py.io.compression import bare_name
from groute_py.io.file_head import Head
from groute_py.io.formats.edge_list.careful import CarefulLines
from groute_py.io.formats.edge_list.dialect import IDS_ARE_NAMES, Dialect, dialect_of
from groute_py.io.formats.edge_list.fields import as_integer, quoted
from groute_py.io.formats.edge_list.ldbc_vertices import vertices_beside, vertices_written
from groute_py.io.formats.edge_list.rows import NamedLines, read_rows
from groute_py.io.tables.columns import Roles
from groute_py.io.tables.directions import graph_of_rows
from groute_py.io.tables.titles import PAIRS
from groute_py.io.text.arc_reader import Piece
from groute_py.io.text.arc_writer import attributed, write_arcs
from groute_py.io.text.lines import Progress
from groute_py.system.memory_limits import check_vertex_count

BEGINS = re.compile(b"")
SUFFIX_OF_NAMES = (".csv", ".wel", ".el", ".txt", ".tsv", ".e")
UNPRINTABLE = re.compile(r"[\x00-\x08\n-\x1f]")
SMALL_IDS, USUAL_IDS = (0, 2**31), (0, 10**18)
"""Ids that the compiled loop takes, first in 32 bits."""


def sniff(head: Head) -> bool:
    """Return True if it is text whose first line that is no comment has two or three fields."""
    return dialect_of(head) is not None


def read(head: Head, progress: Progress | None = None) -> Graph:
    """Read an edge list, compressed or not.

    Where the ids count upwards from some number, that is the graph's `first_id`; else the ids are
    kept in `ids`, integers ascending, names in the order in which they come.
    """
    dialect = dialect_of(head)
    if dialect is None:
        raise FormatError(head.path, "is not an edge list: no line of two or three fields")
    if dialect.is_plain and not dialect.names:
        lines = _Lines(head, dialect)
        try:
            lines.read(progress)
        except _LargeIdError:
            pass  # an integer beyond 64 bits, so all ids are names
        else:
            return _mirrored(lines.numbered_graph(), head, dialect)
    rows = read_rows(head, dialect, progress)
    return _mirrored(_graph_of_rows(head, dialect, rows), head, dialect)


def _mirrored(graph: Graph, head: Head, dialect: Dialect) -> Graph:
    """Add arcs back where a comment says that edges are undirected.

    Some such files have both directions of each edge already.
    """
    if dialect.undirected and not head.columns.undirected and not is_symmetric(graph):
        return mirrored(graph)
    return graph


def read_piece(head: Head, span: range, progress: Progress | None = None) -> Piece | None:
    """Read the lines that begin at these bytes of a plain file, if all ids are integers in it."""
    dialect = dialect_of(head)
    if dialect is None or dialect.names or not dialect.is_plain or dialect.undirected:
        return None
    if vertices_beside(head.path) is not None:
        return None
    lines = _Lines(head, dialect._replace(skipped=frozenset()) if span.start else dialect)
    try:
        lines.read(progress, span)
    except _LargeIdError:
        return None
    promises = dialect.vertices, dialect.vertex_count, dialect.arc_count
    reading = _reading(dialect, lines.comments)
    return Piece(_name(head), *lines.arcs.columns(), 0, *promises, reading)


class _LargeIdError(Exception):
    """An id is an integer beyond 64 bits, so all ids are names."""


class _Lines(CarefulLines):
    """Arcs whose ids are integers; `arcs` has the ids as they are."""

    def __init__(self, head: Head, dialect: Dialect) -> None:
        super().__init__(head, dialect)
        self._name = _name(head)
        self.promised, self.ids = dialect.arc_count, SMALL_IDS

    def take_line(self, line: bytes) -> None:
        if fields := self.row(line):
            self.add_arc(fields[0], fields[1], fields[2] if self.columns == 3 else None)
        if self.arcs.tails.dtype == np.int64:
            self.ids = USUAL_IDS

    def _index(self, field: bytes) -> int:
        number = int(field)
        if not INT64.min <= number <= INT64.max:
            raise _LargeIdError
        return number

    def numbered_graph(self) -> Graph:
        """The graph, with indices in the place of ids."""
        ends = self.arcs.columns()[:2]
        first, ids, count, tails, heads = _numbered(self.path, self._dialect, *ends)
        self.arcs.tails, self.arcs.heads = tails, heads
        self.ids = (first if ids is None else 0, count)
        reading = _reading(self._dialect, self.comments)
        return self.graph(count, name=self._name, ids=ids, reading=reading)


def _numbered(
    path: Path, dialect: Dialect, tails: NDArray[Any], heads: NDArray[Any]
) -> tuple[int, NDArray[np.int64] | None, int, NDArray[Any], NDArray[Any]]:
    """Number ids as `groute_py.graph.ids.numbered`, or as the file itself says."""
    span = dialect.vertices
    if span is None and dialect.vertex_count is not None:
        least = int(min(tails.min(), heads.min())) if len(tails) else 1
        span = range(min(1, least), min(1, least) + dialect.vertex_count)
    if span is None:
        more = vertices_beside(path) if ".e" in path.suffixes else None
        return numbered(tails, heads, more)
    for ends in (tails, heads):
        if len(ends) and not (span.start <= ends.min() and ends.max() < span.stop):
            wrong = int(ends.min()) if ends.min() < span.start else int(ends.max())
            bounds = f"{span.start}..{span.stop - 1}"
            raise FormatError(path, f"vertex {wrong} is outside the range {bounds}")
    if not INT32.min <= span.start <= span.stop <= INT32.max:
        tails, heads = tails.astype(np.int64, copy=False), heads.astype(np.int64, copy=False)
    return span.start, None, len(span), tails - span.start, heads - span.start


def _graph_of_rows(head: Head, dialect: Dialect, rows: NamedLines) -> Graph:
    """The graph of rows between names, or between integers that no compiled loop has read."""
    path, tails, heads = head.path, rows.tails, rows.heads
    numbers = None if dialect.names else rows.integers()
    first, count = 0, rows.names.count
    ids: NDArray[Any] | None = None
    if numbers is not None:
        first, ids, count, tails, heads = _numbered(path, dialect, numbers[tails], numbers[heads])
        check_vertex_count(path, count, rows.text_bytes)
    else:
        ids = rows.name_ids()
    columns = tails, heads, rows.weights, rows.ways, rows.back, _read_arc_ids(head, dialect)
    carry = _read_more(head, dialect)
    reading = _reading(dialect, rows.comments)
    first = first if ids is None else 0
    more: dict[str, Any] = {"first_id": first, "ids": ids, "reading": reading, "carry": carry}
    return graph_of_rows(_name(head), count, *columns, **more)


def _read_arc_ids(head: Head, dialect: Dialect) -> NDArray[Any] | None:
    """The id of each row, shape (rows,): int64, or strings where some vertices or arcs have names.

    None where they are not wanted. The column is read in a second pass, as if it were of tails.
    """
    titled = dialect.titled
    if titled is None or titled.roles.arc is None:
        return None
    roles = Roles(titled.roles.arc, titled.roles.head)
    of_ids = dialect._replace(titled=titled._replace(roles=roles))
    numbers = None
    try:
        rows = read_rows(head, of_ids, None)
        numbers = None if dialect.names else rows.integers()
    except FormatError:
        if dialect.names:
            raise
        rows = read_rows(head, of_ids._replace(names=True), None)  # names of arcs, not of vertices
    return (rows.name_ids() if numbers is None else numbers)[rows.tails]


def _read_more(head: Head, dialect: Dialect) -> dict[str, NDArray[Any]]:
    """More columns of the rows by title, each read in a pass of its own, as if it had weights."""
    if (titled := dialect.titled) is None:
        return {}
    roles, carry = titled.roles, {}
    for title in roles.carry:
        of_title = titled._replace(roles=Roles(roles.tail, roles.head, title))
        try:
            rows = read_rows(head, dialect._replace(titled=of_title, columns=3), None)
        except FormatError as error:
            error.args = (f"{error}, in column {quote(title)}",)
            raise
        carry[title] = rows.weights
    return carry


def _reading(dialect: Dialect, comments: int) -> Reading:
    titles = {} if dialect.titled is None else dialect.titled.roles.titles
    if dialect.undirected:
        titles["direction"] = dialect.undirected
    return Reading({role: str(title) for role, title in titles.items()}, comments)


def _name(head: Head) -> str:
    stem, dot, suffix = head.name.rpartition(".")
    return stem if dot + suffix in SUFFIX_OF_NAMES else head.name


def write(graph: Graph, path: Path) -> None:
    """Write an edge list atomically, with commas for ``.csv``, tabs for ``.tsv``, else blanks.

    An ``.el`` has no weights, as GAPBS has it. Names have titles above them, as a ``.csv`` always.
    """
    name = bare_name(path)
    separator = b"," if name.endswith(".csv") else b"\t" if name.endswith(".tsv") else b" "
    columns = 2 if name.endswith(".el") else 3
    if columns == 2 and (graph.weights != 1).any():
        raise InputError(f"{path}: an .el file has no weights; write .wel")
    names = graph.ids if graph.ids is not None and graph.ids.dtype.kind == "U" else None
    beside: AbstractContextManager[None] = nullcontext()
    if name.endswith(".e") and names is None:
        beside = vertices_written(graph, path)
        header = b"" if graph.arc_count else b"# no edges\n"
    else:
        header = _comment_on_vertices(graph, path)
    ids = graph.ids
    if names is not None:
        ids = np.array(_written(names, path), dtype=np.str_)
        header += (
            IDS_ARE_NAMES
            if any(as_integer(n.encode()) is not None for n in names.tolist())
            else b""
        )
    header += attributed(graph, b"#")
    if names is not None or separator == b",":
        titles = (*_titles(set() if names is None else set(names.tolist())), "weight")
        header += separator.join(title.encode() for title in titles[:columns]) + b"\n"
    with beside:
        write_arcs(
            graph,
            path,
            header,
            separator=separator,
            columns=columns,
            first_id=graph.first_id,
            ids=ids,
        )


def _titles(names: set[str]) -> tuple[str, str]:
    """Titles of tails and heads, if possible such that are no names of vertices."""
    return next((pair for pair in PAIRS if names.isdisjoint(pair)), PAIRS[0])


def _comment_on_vertices(graph: Graph, path: Path) -> bytes:
    has_arcs = np.diff(graph.offsets) > 0
    has_arcs[graph.heads] = True
    if has_arcs.all() and (graph.vertex_count or graph.ids is not None):
        return b""
    if graph.ids is not None:
        lonely = graph.numbering.id_of(int(np.argmin(has_arcs)))
        problem = f"vertex {lonely} has no arcs, so an edge list loses it; write .csr, .e or .mtx"
        raise InputError(f"{path}: {problem}")
    return f"# vertices {graph.numbering}\n".encode()


def _written(names: NDArray[np.str_], path: Path) -> list[str]:
    """Names as fields; those that no line can hold are refused."""
    for name in names.tolist():
        if not name or UNPRINTABLE.search(name):
            problem = f"vertex {quote(name)} cannot stand in an edge list; write .parquet or .csr"
            raise InputError(f"{path}: {problem}")
    return [quoted(name) for name in names.tolist()]
