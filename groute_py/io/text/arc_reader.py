"""Text files of arc lines, read by several threads in the order of the file.

Threads scan blocks of whole lines by a compiled loop, and the caller's thread puts together what
they find. Of a plain file each thread reads its blocks itself; else one more decompresses ahead.
Where the loop leaves a line to us, the format takes that line by `ArcLines.take_line`, and the rest
of the block is scanned again with what the line has changed. The CSV readers of Arrow and Polars
take neither the letter before an arc nor runs of blanks, read no range of bytes of their own for
each rank, and do not name the line of an error.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError
from groute_py.graph.builder import INT32, INT64, ArcArrays
from groute_py.graph.csr import Graph
from groute_py.graph.read_report import Reading
from groute_py.io.file_head import Head
from groute_py.io.text import lines
from groute_py.io.text.lines import TOO_LONG, Progress, TextBlock, lines_within, shown, whole_lines
from groute_py.kernels.cpu.kernel import load_compiler
from groute_py.kernels.cpu.scan import NO_LETTER, kinds_of, scan_arcs
from groute_py.system.memory_limits import check_vertex_count
from groute_py.system.threads import thread_count

SHORTEST_ARC = len("1 2\n")
BLANKS = b" \t\r"
INTEGER = re.compile(rb"[+-]?\d{1,400}")
DECIMAL = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")

EXACT = 2**53
"""Integers up to it are float64 as they are."""
ROUNDED = (
    "weight {} stands beside decimals, and 64-bit floating point would round it; write integers "
    "up to 2^53 there, or no decimals"
)

SPAN_BYTES = 1 << 21  # of a plain file that a thread reads and scans at a time


def first_rounded(weights: NDArray[Any]) -> int | None:
    """The first integer that float64 may not hold, if there is one."""
    wrong = (weights > EXACT) | (weights < -EXACT) if weights.dtype == np.int64 else np.zeros(0)
    return int(weights[int(np.argmax(wrong))]) if wrong.any() else None


def check_beside_decimals(path: Path, weights: NDArray[Any]) -> None:
    """Raise `FormatError` for an integer weight that float64 may not hold, with its line."""
    if (number := first_rounded(weights)) is not None:
        line = lines.line_of(path, re.compile(rb"(?<![\w.+-])\+?%d(?![\w.])" % number))
        raise FormatError(path, ROUNDED.format(number), line=line)


class _Terms(NamedTuple):
    """The terms of a scan, as they are when it begins."""

    ids: tuple[int, int]
    columns: int
    index_type: np.dtype[Any]
    weight_type: np.dtype[Any]


class _Scanned(NamedTuple):
    position: int
    lines: int
    tails: NDArray[Any]
    heads: NDArray[Any]
    weights: NDArray[Any] | None


_Begun = tuple[int, Future[tuple[TextBlock, Any]]]
"""Bytes done once a block is taken, and that block, which is being scanned."""


class ArcLines:
    """A file half read: the arcs so far, and the number of the next line."""

    def __init__(
        self, head: Head, comments: bytes, *, separator: bytes = b"", letter: bytes = b""
    ) -> None:
        self.path, self._is_plain = head.path, head.compression is None
        self.line = 1
        self.arcs = ArcArrays()
        self.ids = (0, 0)
        """The least id and how many there are; no arc is usual before this is known."""
        self.columns = 3
        self.header = 1
        """The line up to which each block is taken before the next is scanned."""
        self.comments = 0
        """Lines of comments that were skipped."""
        self.promised: int | None = None
        """Number of arcs that the file says it has."""
        self.text_bytes = 0
        self._kinds = kinds_of(BLANKS, comments, separator)
        self._comment = (
            re.compile(rb"(?m)^[ \t\r]*[%s]" % re.escape(comments)) if comments else None
        )
        self._letter = letter[0] if letter else NO_LETTER

    def take_line(self, line: bytes) -> None:
        """Take a line that the compiled loop leaves; formats say how."""
        raise NotImplementedError

    def read(self, progress: Progress | None = None, span: range | None = None) -> None:
        """Take all lines, or those that begin at the bytes of `span`.

        Progress is called with bytes done and bytes in all.
        """
        span = range(self.path.stat().st_size) if span is None else span
        threads = thread_count()
        under_way: deque[Future[tuple[TextBlock, Any]]] = deque()
        with ThreadPoolExecutor(threads + 1) as pool:
            begin = self._begin_spans if self._is_plain else self._begin_streamed
            for done, coming in begin(pool, span):
                under_way.append(coming)
                # The first blocks have the header, which the others depend on.
                while len(under_way) > (threads + 1 if self.line > self.header else 0):
                    self._take(under_way.popleft())
                if progress:
                    progress(done, len(span))
            while under_way:
                self._take(under_way.popleft())

    def graph(self, vertex_count: int, *, name: str, **more: Any) -> Graph:
        """The graph, once all lines are taken."""
        if self.promised is not None and self.arcs.count < self.promised:
            problem = f"promises {self.promised:,} arcs, but there are only {self.arcs.count:,}"
            raise FormatError(self.path, problem)
        check_vertex_count(self.path, vertex_count, self.text_bytes)
        return self.arcs.graph(vertex_count, first_id=self.ids[0], name=name, **more)

    def promise(self, vertex_count: int, arc_count: int) -> None:
        """Take the header's counts; ids are from 1."""
        self.ids, self.promised = (1, vertex_count), arc_count
        self.arcs.widen(vertex_count, None)
        if arc_count <= self.path.stat().st_size // SHORTEST_ARC:
            self.arcs.reserve(arc_count)  # what a compressed file promises is seen as it comes

    def refuse(self, problem: str) -> NoReturn:
        """Say what is wrong with the line at hand."""
        raise FormatError(self.path, problem, line=self.line)

    def add_arc(self, tail: bytes, head: bytes, weight: bytes | None) -> None:
        """Take an arc field by field, or say what is wrong with it."""
        if self.promised is not None and self.arcs.count >= self.promised:
            self.refuse(f"more arcs than the {self.promised:,} that are promised")
        ends = self._index(tail), self._index(head)
        number = 1 if weight is None else self.weight(weight)
        if isinstance(number, float):
            check_beside_decimals(self.path, self.arcs.weights[: self.arcs.count])
        elif abs(number) > EXACT and self.arcs.weights.dtype.kind == "f":
            self.refuse(ROUNDED.format(number))
        self.arcs.append(*ends, number)

    def weight(self, field: bytes) -> int | float:
        """The number that a field is."""
        if INTEGER.fullmatch(field):
            if not INT64.min <= int(field) <= INT64.max:
                self.refuse(f"weight {shown(field)} does not fit in 64-bit integers")
            return int(field)
        if not DECIMAL.fullmatch(field):
            self.refuse(f"expected a finite number as weight, got {shown(field)}")
        if abs(value := float(field)) == float("inf"):
            self.refuse(f"weight {shown(field)} does not fit in 64-bit floating point")
        return value

    def _index(self, field: bytes) -> int:
        first, last = self.ids[0], sum(self.ids) - 1
        if not re.fullmatch(rb"\d{1,19}", field):
            self.refuse(f"expected a vertex id in {first}..{last}, got {shown(field)}")
        if not first <= int(field) <= last:
            self.refuse(f"vertex {int(field)} is outside the range {first}..{last}")
        return int(field) - first

    def _terms(self) -> _Terms:
        return _Terms(self.ids, self.columns, self.arcs.tails.dtype, self.arcs.weights.dtype)

    def _begin_streamed(self, pool: ThreadPoolExecutor, _span: range) -> Iterator[_Begun]:
        """Begin to scan block by block, while one thread decompresses ahead.

        What goes wrong there comes in the place of a block: a line before it may be wrong too.
        """
        blocks, done = whole_lines(self.path), 0
        coming: Future[Any] = pool.submit(next, blocks, None)
        load_compiler()  # while the file is decompressed
        while coming.exception() is None and (block := coming.result()) is not None:
            coming = pool.submit(next, blocks, None)
            text, done = block
            yield done, pool.submit(self._scanned, TextBlock(text, 0, len(text)), self._terms())
        if coming.exception() is not None:
            yield done, coming

    def _begin_spans(self, pool: ThreadPoolExecutor, span: range) -> Iterator[_Begun]:
        """Begin to read and scan spans of a plain file, each in a thread."""
        load_compiler()
        for first in range(span.start, span.stop, SPAN_BYTES):
            part = range(first, min(first + SPAN_BYTES, span.stop))
            yield part.stop - span.start, pool.submit(self._read_span, part, self._terms())

    def _read_span(self, span: range, terms: _Terms) -> tuple[TextBlock, Any]:
        return self._scanned(lines_within(self.path, span), terms)

    def _scanned(self, block: TextBlock, terms: _Terms) -> tuple[TextBlock, Any]:
        return block, self._scan(block, block.start, terms, None)

    def _take(self, coming: Future[tuple[TextBlock, Any]]) -> None:
        """Take a block of whole lines, scanned already as far as was possible."""
        block, scanned = coming.result()
        self._take_lines(block, scanned)
        if block.leaves_last:
            self.refuse(TOO_LONG.format(lines.LONGEST_TEXT_LINE))

    def _take_lines(self, block: TextBlock, scanned: Any) -> None:
        data, start, stop, _ = block
        self.text_bytes += stop - start
        while True:
            room = None if self.promised is None else self.promised - self.arcs.count
            if room is not None and len(scanned.tails) > room:
                scanned = self._scan(block, start, self._terms(), room)
            if self.arcs.weights.dtype.kind == "f" and scanned.weights is not None:
                check_beside_decimals(self.path, scanned.weights)  # a scan that began before
            self.arcs.extend(scanned.tails, scanned.heads, scanned.weights)
            self.line += scanned.lines
            if self._comment is not None and scanned.lines > len(scanned.tails):
                skipped = self._comment.findall(data[start : scanned.position])
                self.comments += len(skipped)
            if scanned.position == stop:
                return
            end = data.index(b"\n", scanned.position)
            self.take_line(data[scanned.position : end])
            self.line += 1
            start = end + 1
            scanned = self._scan(block, start, self._terms(), None)

    def _scan(self, block: TextBlock, start: int, terms: _Terms, room: int | None) -> Any:
        """Scan from `start` on, for at most `room` arcs; changes nothing."""
        shortest = 2 * terms.columns + (self._letter != NO_LETTER) * 2
        size = (block.stop - start) // shortest + 1 if room is None else room
        tails, heads = np.empty((2, size), terms.index_type)
        weights = np.empty(size, terms.weight_type)
        limits = {"int32": (INT32.min, INT32.max), "float64": (-EXACT, EXACT)}.get(
            weights.dtype.name, (INT64.min, INT64.max)
        )
        position, line_count, filled = scan_arcs(
            np.frombuffer(block.data, np.uint8, block.stop),
            np.int64(start),
            self._kinds,
            self._letter,
            terms.ids,
            terms.columns,
            limits,
            weights.dtype.kind == "f",
            (tails, heads, weights),
        )
        column = weights[:filled] if terms.columns == 3 else None
        return _Scanned(int(position), line_count, tails[:filled], heads[:filled], column)


class Piece(NamedTuple):
    """Arcs between ids, from consecutive lines, of shape (m,); in ids less ``least``."""

    name: str
    tails: NDArray[Any]
    heads: NDArray[Any]
    weights: NDArray[Any]
    least: int = 0
    vertices: range | None = None  # where the file says so
    vertex_count: int | None = None  # where it says that alone
    arc_count: int | None = None  # that the file says it has in all
    reading: Reading | None = None
