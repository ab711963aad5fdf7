"""Undirected graphs without weights of the PACE and DIMACS colouring challenges.

    c a comment
    p tw 3 2          a name for the problem, vertices, edges
    1 2               an edge; in colouring files, `p edge` or `p col`, `e 1 2`

Every edge becomes two arcs of weight 1.
"""

from __future__ import annotations

import re

from groute_py.errors import FormatError
from groute_py.graph.csr import Graph
from groute_py.graph.symmetrize import mirrored
from groute_py.io.file_head import Head
from groute_py.io.text.arc_reader import ArcLines
from groute_py.io.text.lines import Progress, shown

HEADER = re.compile(rb"\s*p\s+(tw|edge|col)\s+(\d{1,18})\s+(\d{1,18})\s*")
BEGINS = re.compile(
    rb"(?:c[^\n]*\n|\s)*+p[ \t]+(tw|edge|col)[ \t]+\d{1,18}[ \t]+\d{1,18}\s*$", re.M
)
LETTERS = {b"tw": b"", b"edge": b"e", b"col": b"e"}


def read(head: Head, progress: Progress | None = None) -> Graph:
    """Read such a file, compressed or not."""
    header = BEGINS.match(head.text)
    if header is None:
        raise FormatError(head.path, "no line `p tw VERTICES EDGES` in front of the edges")
    lines = _Lines(head, LETTERS[header[1]])
    lines.read(progress)
    name = head.name.removesuffix(".gr").removesuffix(".col")
    return mirrored(lines.graph(lines.ids[1], name=name))


class _Lines(ArcLines):
    def __init__(self, head: Head, letter: bytes) -> None:
        super().__init__(head, b"c", letter=letter)
        self._prefix = [letter] if letter else []
        self.columns = 2
        self.ids = (1, 0)

    def take_line(self, line: bytes) -> None:
        header = HEADER.fullmatch(line)
        fields = line.split()
        if not fields or fields[0].startswith(b"c"):
            return
        if header and self.promised is None:
            self.promise(int(header[2]), int(header[3]))
        elif fields[:-2] == self._prefix and len(fields) > 1:
            self.add_arc(fields[-2], fields[-1], None)
        else:
            form = f"`{'e ' * len(self._prefix)}U V`"
            self.refuse(f"expected an edge {form}, got {shown(b' '.join(fields))}")
