"""DIMACS shortest-path text, ``.gr``, of the 9th Implementation Challenge.

c a comment
p sp 3 2          vertices and arcs; before the first arc
a 1 2 803         tail, head, weight; ids from 1, arcs in any order
"""

from __future__ import annotations

import re
from pathlib import Path

from groute_py.errors import FormatError
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Size
from groute_py.io.file_head import Head
from groute_py.io.text.arc_reader import ArcLines, Piece
from groute_py.io.text.arc_writer import attributed, write_arcs
from groute_py.io.text.lines import COUNT, Progress, shown

BEGINS = re.compile(rb"\s*[cpa]")
FIRST = re.compile(rb"\s*(p\s+sp\s+\S+\s+\S+|a\s+\d+\s+\d+\s+[-+.\deE]+)\s*")


def sniff(head: Head) -> bool:
    """Return True if the first line but for comments is a ``p sp`` or an arc, by all its fields.

    In a ``.gr`` its letter is enough, so that a mistake there is told.
    """
    named = head.name.endswith(".gr")
    for line in head.lines:
        if line.strip() and not line.lstrip().startswith(b"c"):
            letter = line.split(maxsplit=1)[0]
            return bool(FIRST.fullmatch(line)) or (named and letter in (b"p", b"a"))
    # comments only; in names of an edge list, all rows would have as many fields
    widths = {len(line.split()) for line in head.lines if line.strip()}
    return head.text.lstrip().startswith(b"c") and (named or not widths <= {2, 3})


def size(head: Head) -> Size | None:
    """The size that the problem line states, if it is near the start of the file."""
    for line in head.lines:
        fields = line.split()
        if (
            fields[:2] == [b"p", b"sp"]
            and len(fields) == 4
            and all(map(COUNT.fullmatch, fields[2:]))
        ):
            return Size(int(fields[2]), int(fields[3]))
    return None


def read(head: Head, progress: Progress | None = None) -> Graph:
    """Read a DIMACS text file, compressed or not.

    Weights are int32 if all fit, else int64; float64 if any is a decimal (`1.5`, `2e3`), the
    integers then rounded to the nearest float64.
    """
    lines = _Lines(head)
    lines.read(progress)
    if lines.promised is None:
        raise FormatError(head.path, "no `p sp VERTICES ARCS` line in the whole file")
    return lines.graph(lines.ids[1], name=head.name.removesuffix(".gr"))


def read_piece(head: Head, span: range, progress: Progress | None = None) -> Piece | None:
    """Read the lines that begin at these bytes of a plain file, if its header comes early."""
    header = next((line for line in head.lines if line.startswith(b"p")), None)
    if header is None:
        return None
    lines = _Lines(head)
    if span.start:
        lines.take_line(header)
    lines.read(progress, span)
    if lines.promised is None:
        return None
    vertices, name = range(1, lines.ids[1] + 1), head.name.removesuffix(".gr")
    return Piece(name, *lines.arcs.columns(), 1, vertices, arc_count=lines.promised)


class _Lines(ArcLines):
    def __init__(self, head: Head) -> None:
        super().__init__(head, b"c", letter=b"a")
        self.ids = (1, 0)

    def take_line(self, line: bytes) -> None:
        fields = line.split()
        if not fields or fields[0].startswith(b"c"):
            return
        if fields[0] == b"p":
            self._take_header(fields)
        elif fields[0] == b"a":
            self._take_arc(fields)
        else:
            self.refuse(f"unknown line type {shown(fields[0])}; expected `c`, `p sp` or `a`")

    def _take_header(self, fields: list[bytes]) -> None:
        if self.promised is not None:
            self.refuse("a second p line")
        if len(fields) != 4 or fields[1] != b"sp":
            self.refuse(f"expected `p sp VERTICES ARCS`, got {shown(b' '.join(fields))}")
        for count in fields[2:]:
            if not COUNT.fullmatch(count):
                self.refuse(f"expected `p sp VERTICES ARCS` with two counts, got {shown(count)}")
        self.promise(int(fields[2]), int(fields[3]))

    def _take_arc(self, fields: list[bytes]) -> None:
        if self.promised is None:
            self.refuse("an arc before the `p sp VERTICES ARCS` line")
        if len(fields) != 4:
            self.refuse(f"expected `a TAIL HEAD WEIGHT`, got {shown(b' '.join(fields))}")
        self.add_arc(*fields[1:])


def write(graph: Graph, path: Path) -> None:
    """Write a DIMACS text file atomically, compressed as the suffix says.

    Ids are written from 1. Floating-point weights are written so that reading gives them back.
    """
    header = attributed(graph, b"c") + b"p sp %d %d\n" % (graph.vertex_count, graph.arc_count)
    write_arcs(graph, path, header, letter=b"a")
