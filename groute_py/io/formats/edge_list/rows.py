"""Rows of edge lists that the compiled loop does not read: names, quotes, and columns by title.

Threads read blocks of whole lines by a compiled loop (`groute_py.kernels.cpu.usual_rows`), where
there is a separator and the lines are usual. The others are read line by line (`careful`); both
read a usual line alike. Names are numbered in the order in which they come, the tail of a row
before its head.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError
from groute_py.graph.builder import INT64
from groute_py.io.file_head import Head
from groute_py.io.formats.edge_list.careful import CarefulLines
from groute_py.io.formats.edge_list.dialect import Dialect
from groute_py.io.formats.edge_list.names import SEED, Block, Names, Texts, joined, narrowed
from groute_py.io.tables.directions import Rule
from groute_py.io.text.lines import Progress, shown, whole_lines
from groute_py.kernels.cpu.usual_rows import ANY, INTEGER, NAME, NUMBER, TEXT, scan_rows
from groute_py.system.memory_limits import check_name_lengths
from groute_py.system.threads import thread_count


class FileRows(NamedTuple):
    """All rows of a file."""

    names: bytes  # as they stand in the file, a newline behind each
    name_count: int
    tails: NDArray[np.int32]  # places in `names`, shape (rows,)
    heads: NDArray[np.int32]
    weights: NDArray[Any]  # int32, int64 or float64
    back: NDArray[Any] | None  # of the arcs back
    ways: NDArray[np.int8] | None  # as `groute_py.io.tables.directions` has them
    comments: int  # lines that were skipped
    text_bytes: int

    def integers(self) -> NDArray[np.int64] | None:
        """The names as int64, or None where one does not fit."""
        numbers = [int(name) for name in self.names.split()]
        if numbers and not (INT64.min <= min(numbers) and max(numbers) <= INT64.max):
            return None
        return np.array(numbers, np.int64)

    def ids(self, path: Path) -> NDArray[np.str_]:
        """The names as strings."""
        try:
            names = self.names.decode().split("\n")[:-1]
            check_name_lengths(len(names), max(map(len, names), default=0))
        except UnicodeDecodeError as error:
            start = self.names.rfind(b"\n", 0, error.start) + 1
            name = self.names[start : self.names.index(b"\n", start)]
            raise FormatError(path, f"a vertex is named {shown(name)}: no UTF-8") from error
        if b"\0" in self.names:
            raise FormatError(path, "a vertex has a null character in its name")
        return np.array(names, dtype=np.str_)


def read_rows(head: Head, dialect: Dialect, progress: Progress | None) -> FileRows:
    """Read all rows of a file."""
    path, lines, text_bytes = head.path, CarefulLines(head, dialect), 0
    names = Names()
    numbers: list[tuple[Any, Any, Any]] = []
    ends: list[NDArray[np.int32]] = []
    for text, done, parts in _parted(path, dialect):
        text_bytes += len(text)
        for span, count, block in parts:
            if block is None:
                block = lines.block(text[span.start : span.stop])
            else:
                lines.line += count
            ends.append(names.numbers(block.ends))
            numbers.append(block[1:])
        if progress:
            progress(done, head.source.size)
    none, roles = np.zeros(0, np.int32), dialect.places
    tails, heads = (np.concatenate([none, *(block[end::2] for block in ends)]) for end in (0, 1))
    weights, back, ways = zip(*numbers, strict=True) if numbers else ((), (), ())
    return FileRows(
        names.text(),
        names.count,
        tails,
        heads,
        joined(path, weights) if "weight" in roles else np.ones(len(tails), np.int32),
        joined(path, back) if "back" in roles else None,
        np.concatenate([np.zeros(0, np.int8), *ways]) if "direction" in roles else None,
        lines.comments,
        text_bytes,
    )


def _parted(path: Path, dialect: Dialect) -> Iterator[tuple[bytes, int, list[TextPart]]]:
    """The text in blocks, with the file's bytes done, and the parts of each."""
    if not dialect.separator:
        for text, done in whole_lines(path):
            yield text, done, [TextPart(range(len(text)), 0, None)]
        return
    usual, threads, skipped = UsualLines(dialect), thread_count(), max(dialect.skipped, default=0)
    under_way: deque[tuple[bytes, int, Future[list[TextPart]]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for text, done in whole_lines(path):
            start, skipped = _behind(text, skipped)
            under_way.append((text, done, pool.submit(usual.parts, text, start)))
            while len(under_way) > 2 * threads:
                first, at, coming = under_way.popleft()
                yield first, at, coming.result()
        for first, at, coming in under_way:
            yield first, at, coming.result()


def _behind(text: bytes, lines: int) -> tuple[int, int]:
    """The byte behind so many lines of a text, and how many of them are in later texts."""
    end = 0
    while lines and end < len(text):
        end = text.index(b"\n", end) + 1
        lines -= 1
    return end, lines


MOST_UNUSUAL = 64
"""Lines of one text that are tried in vain; all lines behind them need care."""
TEXT_ROLES, NUMBER_ROLES = ("tail", "head", "direction"), ("weight", "back")


class TextPart(NamedTuple):
    """Consecutive lines of a text."""

    span: range  # their bytes
    lines: int  # not counted without a block
    block: Block | None  # None for lines that need care


class UsualLines:
    """Reads texts of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        places = dialect.places
        self._dialect = dialect
        self._texts = [role for role in TEXT_ROLES if role in places]
        self._numbers = [role for role in NUMBER_ROLES if role in places]
        self._kinds = np.full(dialect.width, ANY, np.uint8)
        self._columns = np.zeros(dialect.width, np.uint64)
        end = NAME if dialect.names else INTEGER
        kinds = {"tail": end, "head": end, "direction": TEXT, "weight": NUMBER, "back": NUMBER}
        for roles in (self._texts, self._numbers):
            for column, role in enumerate(roles):
                self._kinds[places[role]] = kinds[role]
                self._columns[places[role]] = column
        self._shortest = dialect.width + len(("tail", "head")) + len(self._numbers)
        self._number_type: type[np.generic] = np.int64

    def parts(self, text: bytes, first_row: int = 0) -> list[TextPart]:
        """The rows of a text, in order; the lines before `first_row` need care."""
        parts, at, careful, unusual = list[TextPart](), first_row, 0, 0
        while at < len(text) and unusual < MOST_UNUSUAL:
            part = self._rows(text, at)
            if part is None:
                at = text.index(b"\n", at) + 1
                unusual += 1
                continue
            if careful < at:
                parts.append(TextPart(range(careful, at), 0, None))
            parts.append(part)
            at = careful = part.span.stop
        if careful < len(text):
            parts.append(TextPart(range(careful, len(text)), 0, None))
        return parts

    def _rows(self, text: bytes, start: int) -> TextPart | None:
        """The rows of the usual lines from `start` on, or None where the first is not usual.

        Numbers are taken for integers until one is a decimal, which ends these rows.
        """
        for kind in dict.fromkeys((self._number_type, np.float64 if self._numbers else np.int64)):
            if (part := self._scanned(kind, text, start)) is not None:
                self._number_type = kind
                return part
        return None

    def _scanned(self, number_type: type[np.generic], text: bytes, start: int) -> TextPart | None:
        letters = np.frombuffer(text, np.uint8)
        size = (len(text) - start) // self._shortest + 1
        texts = np.empty((size, len(self._texts), 3), np.uint32)
        numbers = np.empty((size, len(self._numbers)), number_type)
        stop, lines, count = scan_rows(
            letters,
            start,
            self._dialect.separator[0],
            self._kinds,
            self._columns,
            not self._dialect.has_marked_rows,
            number_type is np.float64,
            SEED,
            texts,
            numbers,
        )
        if stop == start:
            return None
        values = {role: narrowed(numbers[:count, k]) for k, role in enumerate(self._numbers)}
        block = Block(
            Texts(letters, texts[:count, :2].reshape(-1, 3)),
            values.get("weight"),
            values.get("back"),
            None,
        )
        if "direction" in self._texts:
            ways = self._ways(Texts(letters, texts[:count, 2].copy()))
            if ways is None:
                return TextPart(range(start, stop), 0, None)
            block = block._replace(ways=ways)
        return TextPart(range(start, stop), lines, block)

    def _ways(self, values: Texts) -> NDArray[np.int8] | None:
        """None where a value says nothing."""
        titled = self._dialect.titled
        rule: Rule | None = titled.roles.rule if titled is not None else None
        names = Names()
        numbers = names.numbers(values)
        ways = [rule.way(value) if rule else None for value in names.text().split(b"\n")[:-1]]
        if None in ways:
            return None
        result: NDArray[np.int8] = np.array(ways, np.int8)[numbers]
        return result
