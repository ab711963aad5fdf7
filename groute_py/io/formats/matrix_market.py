"""Matrix Market coordinate text, ``.mtx``: entry (u, v) is the weight of the arc u → v.

    %%MatrixMarket matrix coordinate integer general
    % a comment
    3 3 2             rows, columns, entries
    1 2 803           row, column, value; from 1

Values are real, integer or, in a pattern, absent (unit weights). Of a symmetric matrix the file has
one half; a skew-symmetric one has the other half negated. (Boisvert, Pozo, Remington, 1996.)
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from groute_py.errors import FormatError, quoted
from groute_py.graph.builder import INT64
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Size
from groute_py.graph.symmetrize import mirrored
from groute_py.io.compression import bare_name
from groute_py.io.file_head import Head
from groute_py.io.text.arc_reader import ArcLines
from groute_py.io.text.arc_writer import attributed, write_arcs
from groute_py.io.text.lines import COUNT, Progress, shown

BANNER = b"%%MatrixMarket"
BEGINS = re.compile(BANNER, re.I)
FIELDS = ("real", "double", "integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric")


def sniff(head: Head) -> bool:
    """Return True for text, also if its banner lacks: the line of counts would be an arc."""
    return BEGINS.match(head.text) is not None or b"\0" not in head.text


def size(head: Head) -> Size | None:
    """The size by the line of counts; an upper bound where entries stand for two."""
    twice = b"general" not in head.lines[0].lower()
    for line in head.lines[1:]:
        if line.strip() and not line.startswith(b"%"):
            fields = line.split()
            if len(fields) != 3 or not all(map(COUNT.fullmatch, fields)):
                return None
            return Size(int(fields[0]), int(fields[2]) << twice)
    return None


def read(head: Head, progress: Progress | None = None) -> Graph:
    """Read a Matrix Market file, compressed or not."""
    path, lines = head.path, _Lines(head)
    lines.read(progress)
    if lines.promised is None:
        raise FormatError(path, "no line `ROWS COLUMNS ENTRIES` in the whole file")
    graph = lines.graph(lines.ids[1], name=bare_name(path).removesuffix(".mtx"))
    if lines.symmetry == "general":
        return graph
    if lines.symmetry == "symmetric":
        return mirrored(graph)
    if graph.weights.dtype == np.int64 and (graph.weights == INT64.min).any():
        raise FormatError(path, f"the negative of {INT64.min} does not fit in 64-bit integers")
    return mirrored(graph, sign=-1)


class _Lines(ArcLines):
    symmetry: str | None = None  # before the banner

    def __init__(self, head: Head) -> None:
        super().__init__(head, b"")  # the banner would look like a comment

    def take_line(self, line: bytes) -> None:
        fields = line.split()
        if self.symmetry is None and fields:
            self._take_banner(line)
        elif not fields or fields[0].startswith(b"%"):
            return
        elif self.promised is None:
            self._take_size(fields)
        elif len(fields) != self.columns:
            form = "ROW COLUMN VALUE" if self.columns == 3 else "ROW COLUMN"
            self.refuse(f"expected `{form}`, got {shown(line)}")
        else:
            self.add_arc(fields[0], fields[1], fields[2] if self.columns == 3 else None)

    def _take_banner(self, line: bytes) -> None:
        words = line.decode(errors="replace").lower().split()
        if len(words) != 5 or words[0].lstrip("%") != "matrixmarket" or words[1] != "matrix":
            self.refuse(f"expected `{BANNER.decode()} matrix coordinate FIELD SYMMETRY`")
        form, field, self.symmetry = words[2:]
        if form != "coordinate":
            self.refuse(f"a matrix in {quoted(form)} form; only coordinate form is read")
        if field not in FIELDS:
            self.refuse(f"values are {quoted(field)}; only {', '.join(FIELDS)} are read")
        if self.symmetry not in SYMMETRIES or (field, self.symmetry) == ("pattern", SYMMETRIES[2]):
            self.refuse(
                f"a {field} {quoted(self.symmetry)} matrix; only {', '.join(SYMMETRIES)} are read"
            )
        self.columns = 2 if field == "pattern" else 3
        if field in ("real", "double"):
            self.arcs.weights = np.empty(0, np.float64)

    def _take_size(self, fields: list[bytes]) -> None:
        if len(fields) != 3 or not all(map(COUNT.fullmatch, fields)):
            self.refuse(f"expected `ROWS COLUMNS ENTRIES`, got {shown(b' '.join(fields))}")
        rows, columns, entries = map(int, fields)
        if rows != columns:
            self.refuse(f"a graph needs a square matrix, not {rows} x {columns}")
        self.promise(rows, entries)


def write(graph: Graph, path: Path) -> None:
    """Write a general coordinate matrix atomically, compressed as the suffix says."""
    field = "real" if graph.weights.dtype.kind == "f" else "integer"
    size = f"{graph.vertex_count} {graph.vertex_count} {graph.arc_count}"
    header = f"%%MatrixMarket matrix coordinate {field} general\n".encode()
    write_arcs(graph, path, header + attributed(graph, b"%") + f"{size}\n".encode())
