"""Dense matrices as text: N, then N x N integers, row v, column w the weight of the arc v → w.

    3
    0 803 1000000     1000000 stands for no arc
    1000000 0 5
    7 1000000 0

A 0 on the diagonal is no arc either. The answer that goes with it has one distance a line, 1000000
where no path leads, or says `FOUND NEGATIVE CYCLE!`; see `groute_py.results.files`.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError
from groute_py.graph.builder import ArcArrays
from groute_py.graph.csr import Graph
from groute_py.io.compression import packing
from groute_py.io.file_head import Head
from groute_py.io.formats.edge_list.dialect import dialect_of
from groute_py.io.formats.edge_list.edge_list import SUFFIX_OF_NAMES
from groute_py.io.text.lines import Progress
from groute_py.io.text.number_rows import number_rows
from groute_py.system.atomic_file import replacing

BEGINS = re.compile(rb"\s*\d{1,18}[^\S\n]*(?:\n|\Z)")
"""One number alone in a line."""
NO_ARC = 1_000_000
MOST_VERTICES = 1 << 20
"""A file with more would be larger than two terabytes."""


def sniff(head: Head) -> bool:
    """Return True if more numbers follow than an edge list has in a line.

    Where both would do, as for a single vertex, the suffix of an edge list decides.
    """
    if head.name.endswith(SUFFIX_OF_NAMES) and dialect_of(head) is not None:
        return False
    fields = [line.split() for line in head.text.split(b"\n") if line.strip()][:2]
    if len(fields) == 1:
        return head.text.endswith(b"\n") or head.whole
    return len(fields[1]) == int(fields[0][0]) or len(fields[1]) > 4


def read(head: Head, progress: Progress | None = None) -> Graph:
    """Read a dense matrix, compressed or not; lines may be broken anywhere."""
    path = head.path
    count, seen, line, arcs = None, 0, 1, ArcArrays()
    for rows in number_rows(path, b"", progress):
        numbers = rows.numbers
        line = int(rows.lines[-1]) if len(rows.lines) else line
        if count is None and len(numbers):
            count, numbers = int(numbers[0]), numbers[1:]
            if not 0 <= count <= MOST_VERTICES:
                row = int(rows.lines[np.argmax(rows.ends > 0)])
                raise FormatError(path, f"expected the number of vertices, got {count}", line=row)
        if count is not None:
            if seen + len(numbers) > count * count:
                problem = f"more than the {count:,} x {count:,} numbers of the matrix"
                raise FormatError(path, problem, line=line)
            _take(numbers, seen, count, arcs)
            seen += len(numbers)
    if count is None:
        raise FormatError(path, "no number of vertices in the whole file")
    if seen < count * count:
        problem = f"promises {count:,} x {count:,} numbers, but there are only {seen:,}"
        raise FormatError(path, problem, line=line)
    return arcs.graph(count, first_id=0, name=head.name.rpartition(".")[0] or path.name)


def _take(numbers: NDArray[np.int64], seen: int, count: int, arcs: ArcArrays) -> None:
    places = np.arange(seen, seen + len(numbers))
    tails, heads = np.divmod(places, max(count, 1))
    there = (numbers != NO_ARC) & ((tails != heads) | (numbers < 0))
    arcs.widen(count, numbers[there])
    arcs.extend(tails[there], heads[there], numbers[there])


def write(graph: Graph, path: Path) -> None:
    """Write a dense matrix atomically; of parallel arcs the lightest."""
    if graph.weights.dtype.kind == "f":
        raise InputError(f"{path}: a dense matrix has integer weights, not {graph.weights.dtype}")
    if graph.vertex_count > MOST_VERTICES:
        raise InputError(f"{path}: {graph.vertex_count:,} vertices are too many for a matrix")
    if (graph.weights == NO_ARC).any():
        raise InputError(f"{path}: a weight is {NO_ARC}, which stands for no arc; write .csr")
    with replacing(path) as file, packing(path, file) as packed:
        packed.write(b"%d\n" % graph.vertex_count)
        for vertex in range(graph.vertex_count):
            packed.write(" ".join(map(str, _row(graph, vertex).tolist())).encode() + b"\n")


def _row(graph: Graph, vertex: int) -> NDArray[np.int64]:
    arcs = slice(graph.offsets[vertex], graph.offsets[vertex + 1])
    row = np.full(graph.vertex_count, np.iinfo(np.int64).max)
    row[vertex] = 0
    np.minimum.at(row, graph.heads[arcs], graph.weights[arcs].astype(np.int64))
    row[row == np.iinfo(np.int64).max] = NO_ARC
    return row
