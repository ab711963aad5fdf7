"""Rows of edge lists that no loop for integers reads: names, quotes, and columns by title.

Threads read blocks of whole lines by a compiled loop (`groute_py.kernels.cpu.usual_rows`), where
there is a separator and the lines are usual. The others are taken line by line (`careful`); both
read a usual line alike. Names are numbered in the order in which they come, the tail of a row
before its head.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import FormatError
from groute_py.graph.builder import INT64
from groute_py.io.file_head import Head
from groute_py.io.formats.edge_list.careful import CarefulLines
from groute_py.io.formats.edge_list.dialect import Dialect
from groute_py.io.formats.edge_list.names import SEED, Block, Names, Texts, joined, narrowed
from groute_py.io.tables.directions import Rule, is_needed, problem_of
from groute_py.io.text.arc_reader import check_beside_decimals
from groute_py.io.text.lines import Progress, TextBlock, shown
from groute_py.kernels.cpu.usual_rows import ANY, INTEGER, NAME, NUMBER, TEXT, scan_rows
from groute_py.system.memory_limits import check_name_lengths

MOST_UNUSUAL = 64
"""Lines of one text that are scanned in vain; all lines behind them are taken one by one."""

TEXT_ROLES, NUMBER_ROLES = ("tail", "head", "direction"), ("weight", "back")


class _Scanned(NamedTuple):
    """Usual lines up to a position, and their rows; None without any."""

    position: int
    lines: int = 0
    rows: tuple[Texts, Block] | None = None


class NamedLines(CarefulLines):
    """A file whose rows are between names, or have more columns than an arc.

    Once it is read, ``tails`` and ``heads`` (int32, shape (rows,)) are numbers of ``names``;
    ``weights`` and those of arcs ``back`` are int32, int64 or float64, ``ways`` as
    `groute_py.io.tables.directions` has them.
    """

    tails: NDArray[np.int32]
    heads: NDArray[np.int32]

    def __init__(self, head: Head, dialect: Dialect) -> None:
        super().__init__(head, dialect)
        self._places = dialect.places
        self.header = max(dialect.skipped, default=1)
        self._texts = [role for role in TEXT_ROLES if role in self._places]
        self._numbers = [role for role in NUMBER_ROLES if role in self._places]
        self._rule: Rule | None = None if dialect.titled is None else dialect.titled.roles.rule
        self._kinds = np.full(dialect.width, ANY, np.uint8)
        self._columns = np.zeros(dialect.width, np.uint64)
        end = NAME if dialect.names else INTEGER
        kinds = {"tail": end, "head": end, "direction": TEXT, "weight": NUMBER, "back": NUMBER}
        for roles in (self._texts, self._numbers):
            for column, role in enumerate(roles):
                self._kinds[self._places[role]] = kinds[role]
                self._columns[self._places[role]] = column
        self._shortest = dialect.width + len(("tail", "head")) + len(self._numbers)
        self._number_type: type[np.generic] = np.int64
        self.names, self._ends, self._blocks = Names(), list[NDArray[np.int32]](), list[Block]()
        self._rows = self._no_rows()

    def take_line(self, line: bytes) -> None:
        if not (fields := self.row(line)):
            return
        places, (ends, ways, numbers) = self._places, self._rows
        ends += fields[places["tail"]], fields[places["head"]]
        if "direction" in places:
            ways.append(self._way(fields[places["direction"]]))
        for role, values in numbers.items():
            field = fields[places[role]]
            needed = field or not ways or is_needed(role, ways[-1], has_back="back" in places)
            values.append(self.weight(field) if needed else 0)

    def read(self, progress: Progress | None = None, span: range | None = None) -> None:
        super().read(progress, span)
        self._append_rows()
        ends, roles = [np.zeros(0, np.int32), *self._ends], self._places
        self.tails, self.heads = (np.concatenate([some[k::2] for some in ends]) for k in (0, 1))
        weights, back, ways = (
            [column for block in self._blocks if (column := block[place]) is not None]
            for place in range(3)
        )
        ones = np.ones(len(self.tails), np.int32)
        self.weights = joined(self.path, weights) if "weight" in roles else ones
        self.back = joined(self.path, back) if "back" in roles else None
        has_ways = "direction" in roles
        self.ways = np.concatenate([np.zeros(0, np.int8), *ways]) if has_ways else None

    def integers(self) -> NDArray[np.int64] | None:
        """The names as int64, or None where one does not fit."""
        numbers = [int(name) for name in self.names.text().split()]
        if numbers and not (INT64.min <= min(numbers) and max(numbers) <= INT64.max):
            return None
        return np.array(numbers, np.int64)

    def name_ids(self) -> NDArray[np.str_]:
        """The names as strings."""
        text = self.names.text()
        try:
            names = text.decode().split("\n")[:-1]
            check_name_lengths(len(names), max(map(len, names), default=0))
        except UnicodeDecodeError as error:
            start = text.rfind(b"\n", 0, error.start) + 1
            name = text[start : text.index(b"\n", start)]
            raise FormatError(self.path, f"a vertex is named {shown(name)}: no UTF-8") from error
        if b"\0" in text:
            raise FormatError(self.path, "a vertex has a null character in its name")
        return np.array(names, dtype=np.str_)

    def _take_lines(self, block: TextBlock, scanned: _Scanned) -> None:
        data, start, stop, _ = block
        self.text_bytes += stop - start
        unusual = 0 if self._dialect.separator else MOST_UNUSUAL
        while scanned.rows is not None or scanned.position < stop:
            position = scanned.position
            if scanned.rows is not None:
                self._append_rows()
                self._append(*scanned.rows)
                self.line += scanned.lines
            else:
                last = stop if unusual == MOST_UNUSUAL else data.index(b"\n", position) + 1
                for line in data[position:last].split(b"\n")[:-1]:
                    self.take_line(line)
                    self.line += 1
                unusual += self.line > self.header + 1
                position = last
            scanned = self._scan(block, position)

    def _append(self, ends: Texts, block: Block) -> None:
        """Take rows; the tail and the head of each stand one after another in ``ends``."""
        self._ends.append(self.names.numbers(ends))
        self._blocks.append(block)

    def _no_rows(self) -> tuple[list[bytes], list[int], dict[str, list[int | float]]]:
        """Ends, ways and numbers of rows that are taken one by one."""
        return [], [], {role: [] for role in self._numbers}

    def _append_rows(self) -> None:
        """Make a block of the rows that were taken one by one."""
        (ends, ways, numbers), self._rows = self._rows, self._no_rows()
        if ends:
            columns = {role: self._array(values) for role, values in numbers.items()}
            there = np.array(ways, np.int8) if "direction" in self._places else None
            self._append(Texts.of(ends), Block(columns.get("weight"), columns.get("back"), there))

    def _array(self, numbers: list[int | float]) -> NDArray[Any]:
        decimals = any(isinstance(number, float) for number in numbers)
        if decimals:
            integers = [number for number in numbers if isinstance(number, int)]
            check_beside_decimals(self.path, np.array(integers, np.int64))
        return narrowed(np.array(numbers, np.float64 if decimals else np.int64))

    def _way(self, value: bytes) -> int:
        assert self._rule is not None
        way = self._rule.way(value)
        if way is None:
            title = None if self._dialect.titled is None else self._dialect.titled.roles.direction
            self.refuse(problem_of(value.decode(errors="replace"), title, self._rule))
        return way

    def _scan(self, block: TextBlock, start: int, *_: Any) -> _Scanned:
        """Scan the usual lines from `start` on, behind the header; changes nothing else.

        Numbers are taken for integers until one is a decimal, which ends these rows.
        """
        if self.line <= self.header or not self._dialect.separator or start == block.stop:
            return _Scanned(start)
        for kind in dict.fromkeys((self._number_type, np.float64 if self._numbers else np.int64)):
            scanned = self._scanned_as(kind, block, start)
            if scanned.position > start:
                self._number_type = kind
                return scanned
        return _Scanned(start)

    def _scanned_as(self, kind: type[np.generic], block: TextBlock, start: int) -> _Scanned:
        letters = np.frombuffer(block.data, np.uint8, block.stop)
        size = (block.stop - start) // self._shortest + 1
        texts = np.empty((size, len(self._texts), 3), np.uint32)
        numbers = np.empty((size, len(self._numbers)), kind)
        stop, lines, count = scan_rows(
            letters,
            start,
            self._dialect.separator[0],
            self._kinds,
            self._columns,
            not self._dialect.has_marked_rows,
            kind is np.float64,
            SEED,
            texts,
            (numbers.view(np.int64), numbers.view(np.float64)),
        )
        if stop == start:
            return _Scanned(start)
        values = {role: narrowed(numbers[:count, k]) for k, role in enumerate(self._numbers)}
        ways = None
        if "direction" in self._texts:
            ways = self._ways(Texts(letters, texts[:count, 2].copy()))
            if ways is None:
                return _Scanned(start)
        ends = Texts(letters, texts[:count, :2].reshape(-1, 3))
        return _Scanned(stop, lines, (ends, Block(values.get("weight"), values.get("back"), ways)))

    def _ways(self, values: Texts) -> NDArray[np.int8] | None:
        """None where a value says nothing."""
        names = Names()
        numbers = names.numbers(values)
        rule, words = self._rule, names.text().split(b"\n")[:-1]
        ways = [rule.way(value) if rule else None for value in words]
        if None in ways:
            return None
        result: NDArray[np.int8] = np.array(ways, np.int8)[numbers]
        return result


def read_rows(head: Head, dialect: Dialect, progress: Progress | None) -> NamedLines:
    """Read all rows of a file."""
    lines = NamedLines(head, dialect)
    lines.read(progress)
    return lines
