"""Undirected graphs without weights of the PACE and DIMACS colouring challenges.

    c a comment
    p tw 3 2          a name for the problem, vertices, edges
    1 2               an edge; in colouring files, `p edge` or `p col`, `e 1 2`

Every edge becomes two arcs of weight 1.
"""

from __future__ import annotations

import re
from pathlib import Path

from groute_py.errors import FormatError
from groute_py.graph.csr import Graph
from groute_py.graph.symmetrize import mirrored
from groute_py.io.compression import bare_name
from groute_py.io.file_head import Head
from groute_py.io.text.arc_reader import ArcLines
from groute_py.io.text.lines import Progress, shown

HEADER = re.compile(rb"\s*p\s+(tw|edge|col)\s+(\d{1,18})\s+(\d{1,18})\s*")
LETTERS = {b"tw": b"", b"edge": b"e", b"col": b"e"}


def sniff(head: Head) -> bool:
    """Return True if the first line that is no comment is such a ``p`` line."""
    return _header(head) is not None


def read(path: Path, progress: Progress | None = None) -> Graph:
    """Read such a file, compressed or not."""
    header = _header(Head(path))
    if header is None:
        raise FormatError(path, "no line `p tw VERTICES EDGES` in front of the edges")
    lines = _Lines(path, LETTERS[header[1]])
    lines.read(progress)
    name = bare_name(path).removesuffix(".gr").removesuffix(".col")
    return mirrored(lines.graph(lines.ids[1], name=name))


def _header(head: Head) -> re.Match[bytes] | None:
    for line in head.lines:
        if line.strip() and not line.startswith(b"c"):
            return HEADER.fullmatch(line)
    return None


class _Lines(ArcLines):
    def __init__(self, path: Path, letter: bytes) -> None:
        super().__init__(path, b"c", letter=letter)
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
