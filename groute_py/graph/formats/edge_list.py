"""Edge lists: a tail, a head and maybe a weight in each line.

    # SNAP: a comment; so is a line that begins with %
    1,2,803           parted by blanks, tabs, commas, semicolons or bars
    home,work,1.5     ids are any integers, or else any names
    "a, b",work,2     in quotes where they hold a separator; a quote within is doubled

Ids are integers where all of the first lines' are: 007 is then 7. A comment ``# ids are names``
makes names of all; we write it where names look like integers.

This is what SNAP, LDBC Graphalytics (``.e``, with the vertices in ``.v`` beside it), GAPBS
(``.el``, ``.wel``) and spreadsheets (``.csv``, with or without titles) have. Missing weights are 1.
A first line of two counts, ``n m``, in front of arcs with weights says which vertices there are,
and so does a comment ``# vertices 1..n``, which we write where some have no arcs.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, GraphError, InputError
from groute_py.graph.arc_lines import ArcLines
from groute_py.graph.arc_text import write_arcs
from groute_py.graph.arcs import INT32, INT64
from groute_py.graph.columns import PAIRS
from groute_py.graph.compression import bare_name
from groute_py.graph.csr import Graph
from groute_py.graph.formats.edge_dialect import COMMENTS, IDS_ARE_NAMES, Dialect, dialect_of
from groute_py.graph.formats.edge_fields import as_integer, fields_of, hint_of, is_comment, quoted
from groute_py.graph.formats.ldbc_vertices import vertices_beside, vertices_written
from groute_py.graph.head import Head
from groute_py.graph.ids import numbered
from groute_py.graph.lines import Progress, shown, whole_lines
from groute_py.graph.memory import check_name_lengths
from groute_py.graph.piece import Piece

SUFFIX_OF_NAMES = (".csv", ".wel", ".el", ".txt", ".tsv", ".e")
UNPRINTABLE = re.compile(r"[\x00-\x08\n-\x1f]")
SMALL_IDS, USUAL_IDS = (0, 2**31), (0, 10**18)
"""Ids that the compiled loop takes, first in 32 bits."""


def sniff(head: Head) -> bool:
    """Whether it is text whose first line that is no comment has two or three fields."""
    return dialect_of(head) is not None


def read(path: Path, progress: Progress | None = None) -> Graph:
    """Read an edge list, compressed or not.

    Where the ids count upwards from some number, that is the graph's `first_id`; else the ids are
    kept in `ids`, integers ascending, names in the order in which they come.

    Raises:
        FormatError: with the line and what was expected there.
    """
    dialect = dialect_of(Head(path))
    if dialect is None:
        raise FormatError(path, "is not an edge list: no line of two or three fields")
    if dialect.names:
        return _read_names(path, dialect, progress)
    lines = _Lines(path, dialect)
    try:
        lines.read(progress)
    except _LargeIdError:
        return _read_names(path, dialect, progress)
    return lines.numbered_graph()


def read_piece(path: Path, span: range, progress: Progress | None = None) -> Piece | None:
    """Read the lines that begin at these bytes of a plain file, if all ids are integers in it.

    Raises:
        FormatError: something is wrong; the line that it names is not that of the file.
    """
    dialect = dialect_of(Head(path))
    if dialect is None or dialect.names or vertices_beside(path) is not None:
        return None
    lines = _Lines(path, dialect._replace(skipped=frozenset()) if span.start else dialect)
    try:
        lines.read(progress, span)
    except _LargeIdError:
        return None
    known = dialect.vertices, dialect.vertex_count, dialect.arc_count
    return Piece(_name(path), *lines.arcs.columns(), 0, *known)


class _LargeIdError(Exception):
    """An id is an integer beyond 64 bits, so all ids are names."""


class _Lines(ArcLines):
    """Arcs whose ids are integers; `arcs` has the ids as they are."""

    def __init__(self, path: Path, dialect: Dialect) -> None:
        super().__init__(path, COMMENTS, separator=dialect.separator)
        self._dialect = dialect
        self.columns, self.promised, self.ids = dialect.columns, dialect.arc_count, SMALL_IDS

    def take_line(self, line: bytes) -> None:
        fields = fields_of(line, self._dialect.separator)
        if not any(fields) or self.line in self._dialect.skipped or is_comment(line):
            return
        if len(fields) != self.columns:
            refuse_line(self, line)
        self.add_arc(fields[0], fields[1], fields[2] if self.columns == 3 else None)
        if self.arcs.tails.dtype == np.int64:
            self.ids = USUAL_IDS

    def _index(self, field: bytes) -> int:
        number = as_integer(field)
        if number is None:
            refuse_name(self, field)
        if not INT64.min <= number <= INT64.max:
            raise _LargeIdError
        return number

    def numbered_graph(self) -> Graph:
        """The graph, with indices in the place of ids."""
        first, ids, count, tails, heads = self._numbered()
        self.arcs.tails, self.arcs.heads = tails, heads
        self.ids = (first, count)
        graph = self.graph(count, name=_name(self.path))
        return graph if ids is None else _with_ids(graph, ids)

    def _numbered(
        self,
    ) -> tuple[int, NDArray[np.int64] | None, int, NDArray[np.int64], NDArray[np.int64]]:
        tails, heads, _ = self.arcs.columns()
        span = self._dialect.vertices
        if span is None and self._dialect.vertex_count is not None:
            least = int(min(tails.min(), heads.min())) if len(tails) else 1
            span = range(min(1, least), min(1, least) + self._dialect.vertex_count)
        if span is None:
            return numbered(tails, heads, vertices_beside(self.path))
        for ends in (tails, heads):
            if len(ends) and not (span.start <= ends.min() and ends.max() < span.stop):
                wrong = int(ends.min()) if ends.min() < span.start else int(ends.max())
                known = f"{span.start}..{span.stop - 1}"
                raise FormatError(self.path, f"vertex {wrong} is outside the range {known}")
        if not INT32.min <= span.start <= span.stop <= INT32.max:
            tails, heads = tails.astype(np.int64, copy=False), heads.astype(np.int64, copy=False)
        return span.start, None, len(span), tails - span.start, heads - span.start


def _read_names(path: Path, dialect: Dialect, progress: Progress | None) -> Graph:
    """Read arcs between names, line by line."""
    lines, number, total = _Lines(path, dialect), dict[bytes, int](), path.stat().st_size
    for text, done in whole_lines(path):
        for line in text.split(b"\n")[:-1]:
            fields = fields_of(line, dialect.separator)
            if any(fields) and not is_comment(line) and lines.line not in dialect.skipped:
                if len(fields) != dialect.columns or not (fields[0] and fields[1]):
                    refuse_line(lines, line)
                if not dialect.names:
                    for end in fields[:2]:
                        if as_integer(end) is None:
                            refuse_name(lines, end)
                tail, head = (number.setdefault(end, len(number)) for end in fields[:2])
                weight = lines.weight(fields[2]) if dialect.columns == 3 else 1
                lines.arcs.append(tail, head, weight)
            lines.line += 1
        if progress:
            progress(done, total)
    try:
        names = [name.decode() for name in number]
        check_name_lengths(len(names), max(map(len, names), default=0))
    except UnicodeDecodeError as error:
        raise FormatError(path, f"a vertex is named {shown(error.object)}: no UTF-8") from error
    except GraphError as error:
        raise FormatError(path, str(error)) from error
    if any("\0" in name for name in names):
        raise FormatError(path, "a vertex has a null character in its name")
    ids = np.array(names, dtype=np.str_)
    return _with_ids(lines.arcs.graph(len(ids), first_id=0, name=_name(path)), ids)


def refuse_line(lines: ArcLines, line: bytes) -> NoReturn:
    """Say that a line does not have the fields of the others."""
    wanted = "`TAIL HEAD WEIGHT`" if lines.columns == 3 else "`TAIL HEAD`"
    lines.refuse(f"expected {wanted} as in the lines before, got {shown(line)}{hint_of(line)}")


def refuse_name(lines: ArcLines, field: bytes) -> NoReturn:
    """Say that an id is a name in a file that began with integers."""
    problem = f"expected an integer id as in the first lines, got {shown(field)}"
    lines.refuse(
        f"{problem}; where ids are names, begin the file with `{IDS_ARE_NAMES.decode().strip()}`"
    )


def _with_ids(graph: Graph, ids: NDArray[np.int64] | NDArray[np.str_]) -> Graph:
    return Graph(graph.offsets, graph.heads, graph.weights, name=graph.name, ids=ids)


def _name(path: Path) -> str:
    name = bare_name(path)
    return next((name.removesuffix(s) for s in SUFFIX_OF_NAMES if name.endswith(s)), name)


def write(graph: Graph, path: Path) -> None:
    """Write an edge list atomically, with commas for ``.csv``, tabs for ``.tsv``, else blanks.

    An ``.el`` has no weights, as GAPBS has it. Names have titles above them, as a ``.csv`` always.

    Raises:
        InputError: the weights of an ``.el`` are not all 1; a name cannot stand in such a file; or
            a vertex that is in no range has no arc.
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
            problem = f"vertex {name!r} cannot stand in an edge list; write .parquet or .csr"
            raise InputError(f"{path}: {problem}")
    return [quoted(name) for name in names.tolist()]
