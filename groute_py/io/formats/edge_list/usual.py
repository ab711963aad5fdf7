"""Rows of edge lists with a separator, where their lines are usual.

A compiled loop (`groute_py.kernels.cpu.usual_rows`) reads these and leaves the others to
`careful`. Both read a usual line alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.io.formats.edge_list.dialect import Dialect
from groute_py.io.formats.edge_list.names import SEED, Block, Names, Texts, narrowed
from groute_py.io.tables.directions import Rule
from groute_py.kernels.cpu.usual_rows import ANY, INTEGER, NAME, NUMBER, TEXT, scan_rows

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
