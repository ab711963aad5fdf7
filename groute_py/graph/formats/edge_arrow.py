"""Rows of edge lists by PyArrow's reader of CSV, where lines are usual.

A compiled loop looks at each line first (`groute_py.kernels.cpu.usual_rows`): those that PyArrow
might read in another way, or that are wrong, are left to `edge_careful`. So both have one meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GrouteError
from groute_py.graph.directions import Rule
from groute_py.graph.formats.edge_block import Block
from groute_py.graph.formats.edge_dialect import Dialect
from groute_py.graph.formats.edge_names import Texts
from groute_py.graph.libraries import library_if_there
from groute_py.kernels.cpu.usual_rows import (
    ANY,
    BLANKS,
    DECIMALS,
    INTEGER,
    NAME,
    NUMBER,
    QUOTED_BLANKS,
    unusual_lines,
)

Parts = list[tuple[range, Block | None]]
"""The bytes of a text in order: with the rows of usual lines, or None for lines that need care."""
MOST_UNUSUAL = 64
"""Lines of one text that are left out; with more, all the rest is."""


class ArrowReader:
    """Reads texts of one dialect.

    Args:
        dialect: with a separator of one byte.
        arrow, csv, compute: PyArrow and two of its modules.
    """

    def __init__(self, dialect: Dialect, arrow: Any, csv: Any, compute: Any) -> None:
        self._arrow, self._csv, self._compute = arrow, csv, compute
        self._dialect = dialect
        self._fields = np.full(dialect.width, ANY, np.uint8)
        end = NAME if dialect.names else INTEGER
        for role, place in dialect.places.items():
            if role != "direction":
                self._fields[place] = end if role in ("tail", "head") else NUMBER

    @classmethod
    def of(cls, dialect: Dialect) -> ArrowReader | None:
        """A reader, where PyArrow is there and the dialect has a separator."""
        names = "pyarrow", "pyarrow.csv", "pyarrow.compute"
        modules = [library_if_there(name) for name in names]
        if len(dialect.separator) != 1 or None in modules:
            return None
        return cls(dialect, *modules)

    def parts(self, text: bytes, first_row: int = 0) -> Parts:
        """What can be read of a text of whole lines; those before `first_row` need care.

        Args:
            text: the last byte is a newline.
            first_row: a byte where a line begins.
        """
        spans = np.zeros((MOST_UNUSUAL, 2), np.int64)
        found, flags = unusual_lines(
            np.frombuffer(text, np.uint8)[first_row:],
            self._dialect.separator[0],
            self._fields,
            not self._dialect.has_marked_rows,
            spans,
        )
        unusual = [range(0, first_row)]
        unusual += [range(first_row + a, first_row + b) for a, b in spans[:found].tolist()]
        parts: Parts = []
        at = 0
        for span in [*unusual, range(len(text), len(text))]:
            if at < span.start:
                whole = range(at, span.start)
                parts.append((whole, self._block(text[at : span.start], flags)))
            if span:
                parts.append((span, None))
            at = span.stop
        return parts

    def _block(self, text: bytes, flags: int) -> Block | None:
        """The rows of usual lines; None where they need care after all."""
        blanks = flags & BLANKS
        if blanks and flags & QUOTED_BLANKS:  # of which the ones are stripped, the others kept
            return None
        try:
            return self._read(text, bool(blanks), bool(flags & DECIMALS))
        except GrouteError:  # of a signal handler
            raise
        except (self._arrow.ArrowException, OverflowError):
            return None

    def _read(self, text: bytes, blanks: bool, decimals: bool) -> Block | None:
        places, words = self._dialect.places, self._arrow.binary()
        number = self._arrow.float64() if decimals else self._arrow.int64()
        types = {
            str(place): number if role in ("weight", "back") else words
            for role, place in places.items()
        }
        table = self._csv.read_csv(
            self._arrow.BufferReader(text),
            self._csv.ReadOptions(
                use_threads=False,
                block_size=len(text) + 1,
                column_names=list(map(str, range(self._dialect.width))),
            ),
            self._csv.ParseOptions(delimiter=self._dialect.separator.decode()),
            self._csv.ConvertOptions(column_types=types, include_columns=list(types)),
        )
        columns = {
            role: table.column(str(place)).combine_chunks() for role, place in places.items()
        }
        numbers = {role: columns[role].to_numpy() for role in ("weight", "back") if role in columns}
        if not all(np.isfinite(values).all() for values in numbers.values()):
            return None
        ways = None
        if "direction" in columns and (ways := self._ways(columns["direction"])) is None:
            return None
        ends = Texts.of_columns(*(self._texts(columns[end], blanks) for end in ("tail", "head")))
        return Block(ends, numbers.get("weight"), numbers.get("back"), ways)

    def _texts(self, column: Any, blanks: bool) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
        """The letters of the names in a column, and where each name begins."""
        if blanks:
            trimmed = self._compute.ascii_trim_whitespace(column.cast(self._arrow.string()))
            column = trimmed.cast(self._arrow.binary())
        _, offsets, letters = column.buffers()
        starts = np.frombuffer(offsets, np.int32)[column.offset :][: len(column) + 1]
        return np.frombuffer(letters or b"", np.uint8), starts

    def _ways(self, column: Any) -> NDArray[np.int8] | None:
        """None where a value says nothing."""
        titled = self._dialect.titled
        rule: Rule | None = titled.roles.rule if titled is not None else None
        encoded = column.dictionary_encode()
        ways = [rule.way(value) if rule else None for value in encoded.dictionary.to_pylist()]
        if None in ways:
            return None
        found: NDArray[np.int8] = np.array(ways, np.int8)[encoded.indices.to_numpy()]
        return found
