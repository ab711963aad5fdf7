"""DIMACS shortest-path text, ``.gr`` and ``.gr.gz``, of the 9th Implementation Challenge.

    c a comment
    p sp 3 2          vertices and arcs; before the first arc
    a 1 2 803         tail, head, weight; ids from 1, arcs in any order

Bytes are decompressed in a second thread while the ones before are scanned by a compiled loop;
this file takes the lines that the loop leaves: the ``p`` line, numbers that need care, mistakes.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError
from groute_py.graph.atomic import replacing
from groute_py.graph.csr import Graph
from groute_py.kernels.cpu.build import csr_from_arcs, index_type
from groute_py.kernels.cpu.scan import LONGEST_LINE, format_arcs, scan_arcs

Progress = Callable[[int, int], None]
"""Called with the bytes of the file that are done, and all."""

GZIP_MAGIC = b"\x1f\x8b"
CHUNK = 1 << 20
"""Bytes of text scanned at once: few enough for the cache, and for decompression to run ahead."""
LONGEST_TEXT_LINE = 1 << 24
SHORTEST_ARC = len("a 1 1 1\n")
BEST_GZIP_RATIO = 1032
"""No deflate stream expands more; with it, an absurd arc count is seen before memory is asked."""
COUNT = re.compile(rb"\d{1,19}")
INTEGER = re.compile(rb"[+-]?\d{1,400}")
DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
INT64 = np.iinfo(np.int64)


def sniff(head: bytes) -> bool:
    """Whether the first line that is no comment is a ``p`` or an arc line."""
    for line in head.split(b"\n"):
        fields = line.split(maxsplit=1)
        if fields and not fields[0].startswith(b"c"):
            return fields[0] in (b"p", b"a")
    return head.lstrip().startswith(b"c")


def read(path: Path, progress: Progress | None = None) -> Graph:
    """Read a DIMACS text file, compressed or not.

    Weights are int32 if all fit, else int64; float64 if any is a decimal (`1.5`, `2e3`), the
    integers then rounded to the nearest float64.

    Args:
        path: the file.
        progress: called with bytes done and bytes in all.

    Raises:
        FormatError: with the line and what was expected there.
    """
    reading = _Reading(path)
    total = path.stat().st_size
    left = b""
    with ThreadPoolExecutor(1) as ahead:
        chunks = _chunks(path)
        coming = ahead.submit(next, chunks, None)
        while (chunk := coming.result()) is not None:
            coming = ahead.submit(next, chunks, None)
            text, done = chunk
            whole = text.rfind(b"\n") + 1
            if whole:
                reading.take(left + text[:whole])
            left = text[whole:] if whole else left + text
            if len(left) > LONGEST_TEXT_LINE:
                reading.refuse(f"a line of more than {LONGEST_TEXT_LINE:,} bytes")
            if progress:
                progress(done, total)
    if left:
        reading.take(left + b"\n")
    return reading.graph()


class _Reading:
    """A file half read: the arcs so far, and the number of the next line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 1
        self.vertex_count = -1
        self.filled = 0
        self._allocate(0, 0)

    def take(self, text: bytes) -> None:
        """Take whole lines."""
        position = np.int64(0)
        codes = np.frombuffer(text, np.uint8)
        while True:
            position, self.line, self.filled = scan_arcs(
                codes,
                position,
                self.line,
                self.vertex_count,
                self._limits,
                self.weights.dtype.kind == "f",
                self.tails,
                self.heads,
                self.weights,
                self.filled,
            )
            if position == len(text):
                return
            end = text.index(b"\n", position)
            self._take_line(text[position:end])
            position = np.int64(end + 1)
            self.line += 1

    def graph(self) -> Graph:
        """The graph, once all lines are taken."""
        if self.vertex_count < 0:
            raise FormatError(self.path, "no `p sp VERTICES ARCS` line in the whole file")
        if self.filled < len(self.tails):
            raise FormatError(
                self.path,
                f"the p line promises {len(self.tails):,} arcs, but there are only {self.filled:,}",
            )
        arrays = csr_from_arcs(self.vertex_count, self.tails, self.heads, self.weights)
        return Graph(*arrays, first_id=1, name=_name(self.path))

    def refuse(self, problem: str) -> NoReturn:
        """Say what is wrong with the line at hand."""
        raise FormatError(self.path, problem, line=self.line)

    def _take_line(self, line: bytes) -> None:
        fields = line.split()
        if not fields or fields[0].startswith(b"c"):
            return
        if fields[0] == b"p":
            self._take_header(fields)
        elif fields[0] == b"a":
            self._take_arc(fields)
        else:
            self.refuse(f"unknown line type {_shown(fields[0])}; expected `c`, `p sp` or `a`")

    def _take_header(self, fields: list[bytes]) -> None:
        if self.vertex_count >= 0:
            self.refuse("a second p line")
        if len(fields) != 4 or fields[1] != b"sp":
            self.refuse(f"expected `p sp VERTICES ARCS`, got {_shown(b' '.join(fields))}")
        for count in fields[2:]:
            if not COUNT.fullmatch(count):
                self.refuse(f"expected `p sp VERTICES ARCS` with two counts, got {_shown(count)}")
        arc_count = int(fields[3])
        if arc_count > _most_arcs(self.path):
            self.refuse(f"the p line promises {arc_count:,} arcs, more than the file can hold")
        self.vertex_count = int(fields[2])
        try:
            self._allocate(self.vertex_count, arc_count)
        except (MemoryError, ValueError):
            self.refuse(f"no memory for {self.vertex_count:,} vertices and {arc_count:,} arcs")

    def _allocate(self, vertex_count: int, arc_count: int) -> None:
        if vertex_count >= np.iinfo(np.intp).max // 8:
            raise MemoryError
        self.tails: NDArray[Any] = np.empty(arc_count, index_type(vertex_count))
        self.heads: NDArray[Any] = np.empty(arc_count, index_type(vertex_count))
        self._store_as(np.empty(arc_count, np.int32))

    def _store_as(self, weights: NDArray[Any]) -> None:
        self.weights = weights
        limits = np.iinfo(np.int32) if weights.dtype == np.int32 else INT64
        self._limits = (int(limits.min), int(limits.max))

    def _take_arc(self, fields: list[bytes]) -> None:
        if self.vertex_count < 0:
            self.refuse("an arc before the `p sp VERTICES ARCS` line")
        if len(fields) != 4:
            self.refuse(f"expected `a TAIL HEAD WEIGHT`, got {_shown(b' '.join(fields))}")
        if self.filled == len(self.tails):
            self.refuse(f"more arcs than the {self.filled:,} that the p line promises")
        self.tails[self.filled] = self._id(fields[1])
        self.heads[self.filled] = self._id(fields[2])
        self._store(self._weight(fields[3]))
        self.filled += 1

    def _id(self, field: bytes) -> int:
        if not COUNT.fullmatch(field):
            self.refuse(f"expected a vertex id in 1..{self.vertex_count}, got {_shown(field)}")
        if not 1 <= int(field) <= self.vertex_count:
            self.refuse(f"vertex {int(field)} is outside the range 1..{self.vertex_count}")
        return int(field) - 1

    def _weight(self, field: bytes) -> int | float:
        if INTEGER.fullmatch(field):
            if not INT64.min <= int(field) <= INT64.max:
                self.refuse(f"weight {_shown(field)} does not fit in 64-bit integers")
            return int(field)
        if not DECIMAL.fullmatch(field):
            self.refuse(f"expected a finite number as weight, got {_shown(field)}")
        if abs(value := float(field)) == float("inf"):
            self.refuse(f"weight {_shown(field)} does not fit in 64-bit floating point")
        return value

    def _store(self, weight: int | float) -> None:
        """Store a weight in the next place, in a wider type where it needs one."""
        kind = self.weights.dtype.kind
        if isinstance(weight, float) and kind != "f":
            self._store_as(self.weights.astype(np.float64))
        elif kind == "i" and not self._limits[0] <= weight <= self._limits[1]:
            self._store_as(self.weights.astype(np.int64))
        self.weights[self.filled] = weight


def _shown(field: bytes) -> str:
    text = field.decode(errors="backslashreplace")
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _name(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".gr")


def _most_arcs(path: Path) -> int:
    with open(path, "rb") as file:
        ratio = BEST_GZIP_RATIO if file.read(2) == GZIP_MAGIC else 1
    return (path.stat().st_size * ratio + 1) // SHORTEST_ARC


def _chunks(path: Path) -> Iterator[tuple[bytes, int]]:
    """The text of a file in pieces, decompressed where it is gzip, with the bytes done so far."""
    with open(path, "rb") as file:
        compressed = file.read(2) == GZIP_MAGIC
        file.seek(0)
        pieces = _inflated(path, file) if compressed else iter(lambda: file.read(CHUNK), b"")
        for piece in pieces:
            yield piece, file.tell()


def _inflated(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """The members of a gzip file, one after another; zeros may follow the last one."""
    data = file.read(CHUNK)
    while data:
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            try:
                piece = member.decompress(data, CHUNK)
            except zlib.error as error:
                raise FormatError(path, f"damaged gzip data: {error}") from error
            if piece:
                yield piece
            data = member.unconsumed_tail or member.unused_data or file.read(CHUNK)
            if not (data or piece or member.eof):
                raise FormatError(path, "truncated: the gzip data ends before its end mark")
        while data and not data.strip(b"\0"):
            data = file.read(CHUNK)


def write(graph: Graph, path: Path) -> None:
    """Write a DIMACS text file atomically, compressed where the suffix is ``.gz``.

    Ids are written from 1. Floating-point weights are written so that reading gives them back.
    """
    with replacing(path) as file:
        if path.suffix == ".gz":
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                _write_lines(graph, packed)
        else:
            _write_lines(graph, file)


def _write_lines(graph: Graph, file: BinaryIO | gzip.GzipFile) -> None:
    file.write(b"p sp %d %d\n" % (graph.vertex_count, graph.arc_count))
    lines = _decimal_lines if graph.weights.dtype.kind == "f" else _integer_lines
    for text in lines(graph):
        file.write(text)


def _integer_lines(graph: Graph) -> Iterator[bytes]:
    text = np.empty(max(CHUNK, LONGEST_LINE), np.uint8)
    arc = vertex = 0
    while arc < graph.arc_count:
        arc, vertex, size = format_arcs(
            graph.offsets, graph.heads, graph.weights, vertex, text, arc
        )
        yield text[:size].tobytes()


def _decimal_lines(graph: Graph) -> Iterator[bytes]:
    block = 1 << 16
    for start in range(0, graph.arc_count, block):
        arcs = slice(start, min(start + block, graph.arc_count))
        rows = np.searchsorted(graph.offsets, np.arange(arcs.start, arcs.stop), side="right")
        heads = (graph.heads[arcs].astype(np.int64) + 1).tolist()
        fields = zip(rows.tolist(), heads, graph.weights[arcs].tolist(), strict=True)
        yield "".join(f"a {tail} {head} {weight!r}\n" for tail, head, weight in fields).encode()
