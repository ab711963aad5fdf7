"""METIS text, ``.graph``: undirected graphs, one line for each vertex.

    % a comment
    3 2 001           vertices, edges, and what there is besides heads
    2 803             the heads of vertex 1, each with its weight
    1 803 3 5         an edge stands in the lines of both its ends
    2 5

The third number has three digits: vertex sizes, vertex weights, edge weights; a fourth says how
many weights a vertex has (METIS 5.1 manual, 4.1). Sizes and weights of vertices are passed over.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError, InputError
from groute_py.graph.builder import INT32, ArcArrays
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Size
from groute_py.graph.symmetrize import is_symmetric
from groute_py.io.compression import packing
from groute_py.io.file_head import Head
from groute_py.io.text.arc_reader import INTEGER
from groute_py.io.text.arc_writer import attributed
from groute_py.io.text.lines import COUNT, Progress
from groute_py.io.text.number_rows import NumberRows, number_rows
from groute_py.system.atomic_file import replacing

BEGINS = re.compile(
    rb"(?:[ \t]*%[^\n]*\n)*+[ \t]*\d+[ \t]+\d+([ \t]+0*[01]{1,3}([ \t]+\d+)?)?\s*$", re.M
)
SUFFIXES = (".graph", ".metis")
FORMS = (0, 1, 10, 11, 100, 101, 110, 111)
"""The values that the third number of the header may have."""
BLOCK = 1 << 14
"""Vertices whose lines are written at once."""


class MetisHeader(NamedTuple):
    """The first line: n, edges, how many numbers stand before the heads, and whether weights do."""

    vertex_count: int
    edge_count: int
    skipped: int
    weighted: bool


def sniff(head: Head) -> bool:
    """Return True if all is integers and, behind the header, no edge list.

    Lines of two or three numbers may be either; then the suffix decides.
    """
    lines = [line for line in head.lines if line.lstrip()[:1] != b"%"]
    fields = [line.split() for line in lines]
    if not fields or not all(INTEGER.fullmatch(field) for row in fields for field in row):
        return False
    if head.name.endswith(SUFFIXES):
        return True
    if not head.whole:
        return len({len(row) for row in fields[1:]}) > 2
    while len(fields) - 1 > int(fields[0][0]) and not fields[-1]:
        fields.pop()
    widths = {len(row) for row in fields[1:] if row}
    return len(fields) - 1 == int(fields[0][0]) and not widths <= {2, 3}


def size(head: Head) -> Size | None:
    """The size that the header states; every edge is two arcs."""
    lines = (line.split() for line in head.lines if line.lstrip()[:1] != b"%")
    counts = next(lines, [])[:2]
    if len(counts) < 2 or not all(map(COUNT.fullmatch, counts)):
        return None
    return Size(int(counts[0]), 2 * int(counts[1]))


def read(head: Head, progress: Progress | None = None) -> Graph:
    """Read a METIS file, compressed or not."""
    path = head.path
    arcs, header, vertex = ArcArrays(), None, 0
    for rows in number_rows(path, b"%", progress):
        if header is None and len(rows.ends):
            header = _header(path, rows)
            vertex = _take(path, _without_first(rows), header, vertex, arcs)
        elif header is not None:
            vertex = _take(path, rows, header, vertex, arcs)
    if header is None:
        raise FormatError(path, "no line `VERTICES EDGES` in the whole file")
    if vertex < header.vertex_count:
        problem = f"promises {header.vertex_count:,} vertices, but has lines for only {vertex:,}"
        raise FormatError(path, problem)
    if arcs.count != 2 * header.edge_count:
        problem = f"promises {header.edge_count:,} edges, but the lines have {arcs.count:,} heads"
        raise FormatError(path, f"{problem}, not twice as many")
    name = head.name
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    graph = arcs.graph(header.vertex_count, first_id=1, name=name)
    if not is_symmetric(graph):
        problem = "is not symmetric: an edge stands in one line only, or has two weights"
        raise FormatError(path, f"{problem}; a directed graph goes into an edge list")
    return graph


def _without_first(rows: NumberRows) -> NumberRows:
    first = rows.ends[0]
    return NumberRows(rows.numbers[first:], rows.ends[1:] - first, rows.lines[1:])


def _header(path: Path, rows: NumberRows) -> MetisHeader:
    numbers, line = rows.numbers[: rows.ends[0]].tolist(), int(rows.lines[0])
    if not 2 <= len(numbers) <= 4 or min(numbers) < 0:
        raise FormatError(path, "expected `VERTICES EDGES [FORMAT [WEIGHTS]]`", line=line)
    form = numbers[2] if len(numbers) > 2 else 0
    if form not in FORMS:
        raise FormatError(path, f"expected a format of three digits 0 or 1, got {form}", line=line)
    weights = numbers[3] if len(numbers) > 3 else 1
    if weights > INT32.max:
        raise FormatError(path, f"promises {weights:,} weights for each vertex", line=line)
    skipped = form // 100 + (weights if form // 10 % 10 else 0)
    return MetisHeader(numbers[0], numbers[1], skipped, form % 10 == 1)


def _take(path: Path, rows: NumberRows, header: MetisHeader, vertex: int, arcs: ArcArrays) -> int:
    """Take the lines of the vertices from `vertex` on; returns the one after the last."""
    room = header.vertex_count - vertex
    if len(rows.ends) > room:
        extra = np.flatnonzero(np.diff(rows.ends, prepend=0)[room:]) + room
        if len(extra):
            problem = f"a line more than for the {header.vertex_count:,} vertices"
            raise FormatError(path, problem, line=int(rows.lines[extra[0]]))
        rows = NumberRows(rows.numbers, rows.ends[:room], rows.lines[:room])
    sizes = np.diff(rows.ends, prepend=0)
    step = 2 if header.weighted else 1
    odd = (sizes < header.skipped) | ((sizes - header.skipped) % step != 0)
    if odd.any():
        what = "pairs `HEAD WEIGHT`" if header.weighted else "heads"
        raise FormatError(
            path,
            f"expected {header.skipped} numbers and then {what}, got {sizes[np.argmax(odd)]}",
            line=int(rows.lines[np.argmax(odd)]),
        )
    heads, weights = _columns(rows, sizes, header, step)
    wrong = (heads < 1) | (heads > header.vertex_count)
    degrees = (sizes - header.skipped) // step
    if wrong.any():
        row = np.searchsorted(np.cumsum(degrees), np.argmax(wrong), side="right")
        problem = f"vertex {heads[np.argmax(wrong)]} is outside the range 1..{header.vertex_count}"
        raise FormatError(path, problem, line=int(rows.lines[row]))
    tails = np.repeat(np.arange(vertex, vertex + len(sizes)), degrees)
    arcs.widen(header.vertex_count, weights)
    arcs.extend(tails, heads - 1, weights)
    return vertex + len(sizes)


def _columns(
    rows: NumberRows, sizes: NDArray[np.int64], header: MetisHeader, step: int
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Heads and weights of all rows, without what stands before them."""
    numbers = rows.numbers[: rows.ends[-1]] if len(rows.ends) else rows.numbers[:0]
    if header.skipped:
        starts = np.repeat(rows.ends - sizes, sizes)
        numbers = numbers[np.arange(len(numbers)) - starts >= header.skipped]
    return (numbers[::2], numbers[1::2]) if header.weighted else (numbers, None)


def write(graph: Graph, path: Path) -> None:
    """Write a METIS file with edge weights atomically, compressed as the suffix says."""
    if graph.weights.dtype.kind == "f":
        raise InputError(f"{path}: METIS files have integer weights, not {graph.weights.dtype}")
    if not is_symmetric(graph):
        problem = "METIS files hold undirected graphs; give --undirected, or write another format"
        raise InputError(f"{path}: {problem}")
    tails = graph.tails()
    if (tails == graph.heads).any():
        raise InputError(f"{path}: METIS files have no self-loops; write another format")
    with replacing(path) as file, packing(path, file) as packed:
        packed.write(attributed(graph, b"%"))
        packed.write(b"%d %d 001\n" % (graph.vertex_count, graph.arc_count // 2))
        for first in range(0, graph.vertex_count, BLOCK):
            packed.write(_lines(graph, first, min(first + BLOCK, graph.vertex_count)).encode())


def _lines(graph: Graph, first: int, last: int) -> str:
    begin, end = int(graph.offsets[first]), int(graph.offsets[last])
    heads = (graph.heads[begin:end].astype(np.int64) + 1).tolist()
    fields = [
        f"{head} {weight}"
        for head, weight in zip(heads, graph.weights[begin:end].tolist(), strict=True)
    ]
    offsets = (graph.offsets[first : last + 1] - begin).tolist()
    rows = pairwise(offsets)
    return "".join(" ".join(fields[low:high]) + "\n" for low, high in rows)
