"""Detection of titles in the first row of an edge list, and of the columns' roles."""

from __future__ import annotations

import re
from typing import NamedTuple

from groute_py.errors import FormatError, GraphError
from groute_py.io.file_head import Head
from groute_py.io.formats.edge_list.fields import (
    QUOTE,
    TAB,
    Records,
    SampleLines,
    as_integer,
    is_comment,
)
from groute_py.io.tables.columns import Roles, roles_of
from groute_py.io.tables.titles import ends_in
from groute_py.io.text.arc_reader import DECIMAL

WORD = re.compile(r"[^\W\d](?:[\w ().:/-]*\w)?[ )]*")
NUMBER = re.compile(rb"[-+]?\.?\d.*")
NO_TITLES = ("nan", "inf", "infinity", "null", "none", "na")
"""Words that a third field may hold instead of a number."""
MOST_COMMENTS = 100
"""Lines above the first row in which titles are looked for."""
NARROW = 3
"""Columns of an edge list that needs no titles."""


class Titled(NamedTuple):
    """A row of titles."""

    separator: bytes
    line: int  # its number
    titles: list[str]
    roles: Roles
    in_comment: bool = False  # it stands behind the mark of a comment

    @property
    def places(self) -> dict[str, int]:
        """The field of each role, from 0."""
        return {role: self.titles.index(title) for role, title in self.roles.titles.items()}


def titled(head: Head, data: SampleLines) -> Titled | None:
    """The first line as titles, if it has a pair of titles of tails and heads, or those asked for.

    A tab parts fields where it parts all lines alike, else any blanks do.
    """
    candidates = _candidates(head, data)
    if not candidates:
        return None
    best = max(candidates, key=lambda row: row[:2])  # the first of those that fit as well
    return described(head, best[2], best[3])


def titled_in_comment(head: Head, data: SampleLines) -> Titled | None:
    """The last comment above the first line that names ends and has as many fields as all lines."""
    above = list(enumerate(head.lines[: data.lines[0][0] - 1], 1))
    for number, line in reversed(above[-MOST_COMMENTS:]):
        if is_comment(line):
            sample = SampleLines([(number, line.lstrip()[1:]), *data.lines])
            for alike, _, separator, rows in _candidates(head, sample):
                if alike:
                    return described(head, separator, rows)._replace(in_comment=True)
    return None


def _candidates(head: Head, data: SampleLines) -> list[tuple[bool, int, bytes, Records]]:
    """The ways to part lines by which the first is a row of titles."""
    candidates = []
    widths = data.widths(TAB)
    blanks = () if len(widths) == 1 and min(widths) > 1 else (b"",)
    for separator in (*data.separators, *blanks):
        rows = data.records(separator)
        if rows and _are_known(head, rows, separator):
            width = len(rows[0][1])
            alike = sum(len(fields) == width for _, fields in rows)
            candidates.append((alike == len(rows), alike, separator, rows))
    return candidates


def described(head: Head, separator: bytes, rows: Records) -> Titled:
    """The first of these rows as titles."""
    line, titles = rows[0][0], [field.decode(errors="replace") for field in rows[0][1]]
    whole = [fields for _, fields in rows[1:] if len(fields) == len(titles)]

    def values(title: str) -> list[bytes]:
        return [fields[titles.index(title)] for fields in whole]

    def is_numeric(title: str) -> bool:
        return all(DECIMAL.fullmatch(value) for value in values(title))

    try:
        return Titled(separator, line, titles, roles_of(titles, is_numeric, values, head.columns))
    except GraphError as error:
        raise FormatError(head.path, str(error), line=line) from error


def are_titles(rows: Records) -> bool:
    """Return True if the first row is words above integers."""
    first = [field.decode(errors="replace") for field in rows[0][1]]
    if not all(map(WORD.fullmatch, first)) or (first[2:] and first[2].lower() in NO_TITLES):
        return False
    return bool(rows[1:]) and _have_integers(rows[1:])


def refuse_wide_table(head: Head, data: SampleLines) -> None:
    """Raise `FormatError` for a table of four or more columns whose ends are not clear."""
    for separator in data.separators:
        rows, widths = data.records(separator), data.widths(separator)
        is_wide = len(rows) > 1 and len(widths) == 1 and min(widths) > NARROW
        if is_wide and not any(map(NUMBER.fullmatch, rows[0][1])):
            described(head, separator, rows)


def _are_known(head: Head, rows: Records, separator: bytes) -> bool:
    first, later = rows[0][1], rows[1:]
    titles = [field.decode(errors="replace") for field in first]
    others = {b",", b";", b"|", TAB} - {separator}
    quoted = any(QUOTE in field for field in first)
    if len(first) < 2 or any(map(NUMBER.fullmatch, first)):
        return False
    if not quoted and any(other in field for other in others for field in first):
        return False
    if any(title in titles for title in head.columns.named):
        return True
    pairs = ends_in(titles)
    if not pairs or (len(first) == NARROW and titles[2].lower() in NO_TITLES):
        return False
    return len(first) > 2 or _have_integers(later) or not _has_names_like(first, later)


def _have_integers(rows: Records) -> bool:
    return all(as_integer(end) is not None for _, fields in rows for end in fields[:2])


def _has_names_like(titles: list[bytes], rows: Records) -> bool:
    """Return True if ends are called as the titles are, perhaps with other numbers."""
    shapes = [re.escape(title.rstrip(b"0123456789")) for title in titles]
    numbered = [
        shape + rb"\d+" for shape, title in zip(shapes, titles, strict=True) if title[-1:].isdigit()
    ]
    alike = re.compile(b"|".join([*map(re.escape, titles), *numbered]))
    return any(alike.fullmatch(end) for _, fields in rows for end in fields[:2])
