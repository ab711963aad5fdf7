"""The dialect of an edge list, from its first lines."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from groute_py.errors import FormatError
from groute_py.io.file_head import Head
from groute_py.io.formats.edge_list.fields import (
    NO_TITLES,
    NUMBER,
    WORD,
    Lines,
    Records,
    SampleLines,
    Titled,
    are_titles,
    as_integer,
    described,
    is_comment,
    parted_counts,
    refuse_wide_table,
    separator_of,
    titled,
    titled_in_comment,
)
from groute_py.io.tables.columns import CHOOSE_ENDS, Roles
from groute_py.io.tables.titles import is_kind, is_other_title
from groute_py.io.text.arc_reader import DECIMAL
from groute_py.io.text.lines import shown

COMMENTS = b"#%"
ROLES = ("tail", "head", "weight")
ENDS = ROLES[:2]
FOREIGN_COMMENT = b"//"
NO_COMMENT = "a line that begins with // is no comment in an edge list; begin comments with #"
VERTICES = re.compile(rb"# vertices (-?\d{1,18})\.\.(-?\d{1,18})\s*")
KONECT = re.compile(rb"%\s*(sym|asym|bip)\s+\w+\s*")
"""The first line of a file of KONECT's: ``sym`` for edges, ``bip`` for two kinds of vertices."""
KONECT_COLUMNS = [*ROLES, "time"]
UNDIRECTED = re.compile(rb"#\s*undirected(\s+graph\b.*)?", re.I)
"""A comment of SNAP's."""
COMMENT_ON_NAMES = "# ids are names"
IDS_ARE_NAMES = f"{COMMENT_ON_NAMES}\n".encode()
"""We write this where ids that look like integers are names."""
TEXT = re.compile(rb"[^\x00-\x08\x0e-\x1f]*")
UNSURE = ("start", "end", "departure", "arrival")
"""Titles that are names of vertices as well."""
SAMPLE = 100
RARE = 10
"""One of so many ids may be a mistake."""
ONE_LINE = (
    "one line of two words may be an edge or a sentence; for an edge write a line `tail head` "
    "above, a weight behind, or a comma between"
)


class Dialect(NamedTuple):
    """The dialect of an edge list."""

    separator: bytes  # besides blanks and tabs, or nothing
    columns: int  # 2, or 3 with weights
    names: bool  # some of the first ids are no integers, or a comment says so
    skipped: frozenset[int]  # lines of titles or counts
    vertex_count: int | None = None
    arc_count: int | None = None
    vertices: range | None = None  # where a comment of ours says so
    titled: Titled | None = None
    undirected: str = ""  # the comment that says so

    @property
    def places(self) -> dict[str, int]:
        """The field of each role, from 0."""
        if self.titled is not None:
            return self.titled.places
        return {"tail": 0, "head": 1, "weight": 2} if self.columns == 3 else {"tail": 0, "head": 1}

    @property
    def width(self) -> int:
        """The number of fields of a line."""
        return self.columns if self.titled is None else len(self.titled.titles)

    @property
    def is_plain(self) -> bool:
        """Return True if lines are `TAIL HEAD` or `TAIL HEAD WEIGHT`."""
        usual = list(zip(ROLES, range(self.columns), strict=False))
        return self.width == self.columns and list(self.places.items()) == usual

    @property
    def has_marked_rows(self) -> bool:
        """Return True if a line with ``#`` or ``%`` in front may be a row: below titles."""
        return self.titled is not None and not self.titled.in_comment and self.separator != b""


@lru_cache(maxsize=1)  # who reads a file asks again
def dialect_of(head: Head) -> Dialect | None:
    """Find the dialect of a file that begins like this; None if it is no edge list."""
    if not TEXT.fullmatch(head.text):
        return None
    comments, data = _sample(head)
    dialect = _dialect_of(head, comments, data)
    undirected = next(filter(_says_undirected, comments), b"").decode(errors="replace")
    return dialect and dialect._replace(undirected=undirected)


def _says_undirected(comment: bytes) -> bool:
    if (konect := KONECT.fullmatch(comment)) is not None:
        return konect[1] == b"sym"
    return UNDIRECTED.fullmatch(comment) is not None


def _dialect_of(head: Head, comments: list[bytes], lines: Lines) -> Dialect | None:
    vertices = _vertices(comments)
    if not lines:
        if any(b"\r" in comment for comment in comments):
            problem = "lines end with a carriage return alone; end them with a line feed"
            raise FormatError(head.path, problem, line=1)
        return Dialect(b"", 3, False, frozenset(), vertices=vertices) if comments else None
    _check_comments(head, lines[:1])
    data = SampleLines(lines)
    if (row := titled(head, data)) is not None:
        return _by_titles(head, row, comments, data)
    _check_comments(head, lines)
    if (row := titled_in_comment(head, data)) is not None:
        return _by_titles(head, row, comments, data)
    if head.columns.named:
        names = ", ".join(map(repr, head.columns.named))
        problem = f"its first line is no row of titles with {names}, so no column can be named"
        raise FormatError(head.path, problem, line=lines[0][0])
    if (konect := next(filter(None, map(KONECT.fullmatch, comments[:1])), None)) is not None:
        if konect[1] == b"bip":
            problem = (
                "its first line says that it is bipartite (KONECT): vertex 1 of the first column "
                "is another than vertex 1 of the second; write ids that differ, and no such line"
            )
            raise FormatError(head.path, problem, line=lines[0][0])
        if data.widths(b"") == {len(KONECT_COLUMNS)}:
            row = Titled(b"", 0, KONECT_COLUMNS, Roles(*ROLES), in_comment=True)
            return _by_titles(head, row, comments, data)
    refuse_wide_table(head, data)
    separator = separator_of(head, data)
    if separator is None:
        return None
    counts, rows = parted_counts(data.records(separator))
    skipped = {number for number, _ in counts}
    columns = len(rows[0][1]) if rows else 3
    if rows and are_titles(rows):
        return _by_titles(head, described(head, separator, rows), comments, data)
    if not _plausible(rows, columns, separator):
        if len(rows) == 1 and columns == 2:
            raise FormatError(head.path, ONE_LINE, line=rows[0][0])
        return None
    numbers = [int(field) for _, fields in counts for field in fields]
    named = IDS_ARE_NAMES.strip() in comments
    if not named:
        named = _have_names(head, rows)
        _check_titles(head, rows)
    return Dialect(
        separator,
        columns,
        named,
        frozenset(skipped),
        numbers[0] if numbers else None,
        numbers[1] if numbers else None,
        vertices,
    )


def _by_titles(head: Head, named: Titled, comments: list[bytes], data: SampleLines) -> Dialect:
    """The dialect of a file with this row of titles."""
    rows = [row for row in data.records(named.separator) if row[0] != named.line]
    places = named.places
    ends = [
        (number, [fields[places["tail"]], fields[places["head"]]])
        for number, fields in rows
        if len(fields) == len(named.titles)
    ]
    return Dialect(
        named.separator,
        3 if "weight" in places else 2,
        IDS_ARE_NAMES.strip() in comments or _have_names(head, ends),
        frozenset({named.line}),
        vertices=_vertices(comments),
        titled=named,
    )


def _check_comments(head: Head, data: Lines) -> None:
    for number, line in data:
        if line.lstrip().startswith(FOREIGN_COMMENT):
            raise FormatError(head.path, NO_COMMENT, line=number)


def _sample(head: Head) -> tuple[list[bytes], Lines]:
    """The comments, and some other lines with their numbers."""
    comments, data = [], []
    for number, line in enumerate(head.lines, 1):
        if is_comment(line):
            comments.append(line.strip())
        elif line.strip():
            data.append((number, line))
        if len(data) == SAMPLE:
            break
    return comments, data


def _vertices(comments: list[bytes]) -> range | None:
    for match in map(VERTICES.fullmatch, comments):
        if match:
            return range(int(match[1]), int(match[2]) + 1)
    return None


def _plausible(rows: Records, columns: int, separator: bytes) -> bool:
    """Return True if this is more than two words of prose: numbers somewhere, or a separator."""
    if not rows or separator:
        return True
    if columns == 3:
        return any(NUMBER.match(fields[2]) for _, fields in rows if len(fields) == 3)
    fields = [field for _, fields in rows for field in fields]
    integers = sum(as_integer(field) is not None for field in fields)
    named = integers == 0 and not any(map(DECIMAL.fullmatch, fields)) and len(rows) > 1
    return integers >= max(1, len(fields) - 2) or named


def _have_names(head: Head, rows: Records) -> bool:
    """Return True if some ids are no integers.

    Ids with a point as ``1.0`` are refused, and one among integers that begins as an integer and
    goes on otherwise, like ``1O``.
    """
    ends = [(number, end) for number, fields in rows for end in fields[:2]]
    names = [(number, end) for number, end in ends if as_integer(end) is None]
    is_rare = RARE * len(names) <= len(ends) and all(end[:1].isdigit() for _, end in names)
    if not names or not (is_rare or all(DECIMAL.fullmatch(end) for _, end in ends)):
        return bool(names)
    number, end = names[0]
    others = " as in the other lines" if is_rare else ""
    problem = f"expected an integer id{others}, got {shown(end)}"
    hint = f"where ids are names, begin the file with `{COMMENT_ON_NAMES}`"
    raise FormatError(head.path, f"{problem}; {hint}", line=number)


def _check_titles(head: Head, rows: Records) -> None:
    """Refuse a first row above names that may be titles or an edge: ``person,friend``.

    So may be ``fan,idol,score`` above rows that end with a number.
    """
    if not rows:
        return
    number, fields = rows[0]
    words = [field.decode(errors="replace") for field in fields]
    above_numbers = len(rows) > 1 and all(DECIMAL.fullmatch(row[-1]) for _, row in rows[1:])
    is_word = WORD.fullmatch(words[-1]) is not None and words[-1].lower() not in NO_TITLES
    may_be_titles = (
        any(
            is_kind(word) or is_other_title(word)
            for word in words
            if not re.search(r"\d", word) and word not in UNSURE
        )
        if len(fields) == len(ENDS)
        else above_numbers and is_word
    )
    if may_be_titles:
        problem = f"{shown(b', '.join(fields))} may be titles or an edge"
        hint = f"for titles {CHOOSE_ENDS}; for an edge begin the file with `{COMMENT_ON_NAMES}`"
        raise FormatError(head.path, f"{problem}; {hint}", line=number)
