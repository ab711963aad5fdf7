"""A reader of edge lists line by line, with a message for each kind of error."""

from __future__ import annotations

from typing import NoReturn

from groute_py.io.file_head import Head
from groute_py.io.formats.edge_list.dialect import (
    COMMENTS,
    FOREIGN_COMMENT,
    IDS_ARE_NAMES,
    NO_COMMENT,
    Dialect,
)
from groute_py.io.formats.edge_list.fields import as_integer, fields_of, hint_of, is_comment
from groute_py.io.text.arc_reader import DECIMAL, ArcLines
from groute_py.io.text.lines import shown

MAY_BE_ROW = (
    "{} may be a row or a comment; put quotes around the name for a row, or a blank behind the "
    "mark for a comment"
)


class CarefulLines(ArcLines):
    """A file half read; `line` is the number of the next one."""

    def __init__(self, head: Head, dialect: Dialect) -> None:
        marks = b"" if dialect.has_marked_rows else COMMENTS
        super().__init__(head, marks, separator=dialect.separator)
        self._dialect = dialect
        self.columns = dialect.columns

    def row(self, line: bytes) -> list[bytes]:
        """The fields of a line; none for one that is no row."""
        fields = fields_of(line, self._dialect.separator)
        if not any(fields) or self.line in self._dialect.skipped:
            return []
        if is_skipped_comment(line, fields, self.line, self._dialect):
            if self._dialect.names and self._may_be_row(fields):
                self.refuse(MAY_BE_ROW.format(shown(line)))
            self.comments += 1
            return []
        places = self._dialect.places
        if len(fields) != self._dialect.width:
            refuse_line(self, line, self._dialect)
        ends = fields[places["tail"]], fields[places["head"]]
        if not all(ends):
            refuse_line(self, line, self._dialect)
        if line.lstrip().startswith(FOREIGN_COMMENT) and not self._dialect.has_marked_rows:
            self.refuse(NO_COMMENT)
        if not self._dialect.names:
            for end in ends:
                if as_integer(end) is None:
                    refuse_name(self, end)
        return fields

    def _may_be_row(self, fields: list[bytes]) -> bool:
        """Return True if a comment looks like an arc from a name that begins with its mark."""
        first = fields[0]
        if len(fields) != self._dialect.width or len(first) == 1 or first[1:2].isspace():
            return False
        weight = self._dialect.places.get("weight")
        return weight is None or DECIMAL.fullmatch(fields[weight]) is not None


def is_skipped_comment(line: bytes, fields: list[bytes], number: int, dialect: Dialect) -> bool:
    """Return True if a line that begins with ``#`` or ``%`` is no row.

    Below titles with a separator it is a row if it has as many fields, and where ids are names it
    is a comment only if it is one field: what lies between is refused as a row.
    """
    if not is_comment(line):
        return False
    if not dialect.has_marked_rows or number < min(dialect.skipped):
        return True
    return len(fields) != dialect.width and (len(fields) == 1 or not dialect.names)


def refuse_line(lines: ArcLines, line: bytes, dialect: Dialect) -> NoReturn:
    """Say that a line does not have the fields of the others."""
    if dialect.is_plain:
        form = "`TAIL HEAD WEIGHT`" if dialect.columns == 3 else "`TAIL HEAD`"
        form = f"{form} as in the lines before"
    else:
        form = f"{dialect.width} fields below {dialect.width} titles, tail and head not empty"
    hint = "; begin comments above the titles" if is_comment(line) else hint_of(line)
    lines.refuse(f"expected {form}, got {shown(line)}{hint}")


def refuse_name(lines: ArcLines, field: bytes) -> NoReturn:
    """Say that an id is a name in a file that began with integers."""
    problem = f"expected an integer id as in the first lines, got {shown(field)}"
    lines.refuse(
        f"{problem}; where ids are names, begin the file with `{IDS_ARE_NAMES.decode().strip()}`"
    )
