"""Fields of the rows of an edge list, titles in the first, and the columns' roles."""

from __future__ import annotations

import re
from typing import NamedTuple

from groute_py.errors import FormatError, GraphError
from groute_py.io.file_head import Head
from groute_py.io.tables.columns import Roles, roles_of
from groute_py.io.tables.titles import ends_in
from groute_py.io.text.arc_reader import DECIMAL, INTEGER
from groute_py.io.text.lines import shown

SEPARATORS = (b",", b";", b"|")  # what may part fields besides blanks and tabs
TAB = b"\t"
QUOTE = b'"'
QUOTED = re.compile(rb'((?:"[^"]*")+)')
HINT = "; a quoted field begins and ends with a quote in its line, and doubles those within"

Lines = list[tuple[int, bytes]]
Records = list[tuple[int, list[bytes]]]
"""Lines, or their fields, with their numbers."""


class SampleLines:
    """Lines of a file, and their fields by each separator."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        text = b"\n".join([line for _, line in lines])
        self.separators = [sign for sign in (TAB, *SEPARATORS) if sign in text]
        """The signs that may part the fields of some line."""
        self._records: dict[bytes, Records] = {}

    def records(self, separator: bytes) -> Records:
        """The fields of the lines, without rows of empty fields."""
        if separator not in self._records:
            rows = [(number, fields_of(line, separator)) for number, line in self.lines]
            self._records[separator] = [(number, row) for number, row in rows if any(row)]
        return self._records[separator]

    def widths(self, separator: bytes) -> set[int]:
        """The numbers of fields of the lines."""
        return {len(fields) for _, fields in self.records(separator)}


def as_integer(field: bytes) -> int | None:
    """The integer that a field is, if it is one."""
    return int(field) if INTEGER.fullmatch(field) else None


def is_comment(line: bytes) -> bool:
    """Return True if a line begins as comments do; a name in quotes may begin so too."""
    return line.lstrip()[:1] in (b"#", b"%")


def fields_of(line: bytes, separator: bytes) -> list[bytes]:
    """The fields of a line, without the blanks and quotes around them.

    Quotes are as RFC 4180 has them: around a whole field, and doubled within. Where they are not,
    the line is one field.

    >>> fields_of(b'"Paris, Texas", Rome, 5', b","), fields_of(b'5" pipe,Rome,5', b",")
    ([b'Paris, Texas', b'Rome', b'5'], [b'5" pipe,Rome,5'])
    """
    pieces = QUOTED.split(line) if QUOTE in line else [line]
    outside, inside = pieces[::2], iter(pieces[1::2])
    text = QUOTE.join(outside)  # in which each quote stands for what was in a pair
    fields = [part.strip() for part in text.split(separator)] if separator else text.split()
    if len(pieces) == 1 and QUOTE not in line:
        return fields
    if any(QUOTE in piece for piece in outside) or any(
        QUOTE in field and field != QUOTE for field in fields
    ):
        return [line.strip()]
    return [next(inside)[1:-1].replace(b'""', QUOTE) if f == QUOTE else f for f in fields]


def quoted(name: str) -> str:
    """A name as a field, in quotes where it needs them."""
    parted = name.split() != [name] or any(other.decode() in name for other in SEPARATORS)
    if parted or name[0] in "#%" or '"' in name:
        return '"' + name.replace('"', '""') + '"'
    return name


def separator_of(head: Head, data: SampleLines) -> bytes | None:
    """Find the separator of all lines into the same two or three fields, or else of the first.

    Tabs alone part the lines where any blanks do not: titles and names may have blanks there.
    """
    for count in (len(data.lines), 3, 1):
        sample = data if count == len(data.lines) else SampleLines(data.lines[:count])
        likely = [sign for sign in (b"", *sample.separators) if sign != TAB]
        separators = [separator for separator in likely if _parts(sample, separator)]
        sure = separators
        if len(separators) > 1:
            sure = [one for one in separators if _leaves_none(sample, one, separators)]
        if len(sure) == 1:
            return sure[0]
        if separators:
            names = " or by ".join(repr(s.decode()) if s else "blanks" for s in sure or separators)
            problem = f"fields may be parted by {names} in {shown(data.lines[0][1])}"
            hint = "use one of them, and points in decimals"
            raise FormatError(head.path, f"{problem}; {hint}", line=data.lines[0][0])
        if len(sample.lines) > 1 and _parts(sample, TAB):
            return TAB
    _check_columns(head, *data.lines[0])
    return None


def parted_counts(rows: Records) -> tuple[Records, Records]:
    """The lines of counts, ``n m`` or ``n`` and ``m``, and the others."""
    widths = [len(fields) for _, fields in rows[:3]]
    lines = 1 if widths[:2] == [2, 3] else 2 if widths == [1, 1, 3] else 0
    counts = [field for _, fields in rows[:lines] for field in fields]
    if all(re.fullmatch(rb"\d{1,18}", field) for field in counts):
        return rows[:lines], rows[lines:]
    return [], rows


def hint_of(line: bytes) -> str:
    """The hint about quotes behind a message about a line."""
    return HINT if QUOTE in line else ""


def _parts(sample: SampleLines, separator: bytes) -> bool:
    _, rows = parted_counts(sample.records(separator))
    widths = {len(fields) for _, fields in rows}
    return len(widths) == 1 and widths <= {2, 3}


def _leaves_none(sample: SampleLines, separator: bytes, separators: list[bytes]) -> bool:
    """Return True if the ids hold none of the other separators that would do."""
    others = [other for other in separators if other and other != separator]
    _, rows = parted_counts(sample.records(separator))
    ends = [end for _, fields in rows for end in fields[:2]]
    return not any(other in end for other in others for end in ends)


def _check_columns(head: Head, number: int, line: bytes) -> None:
    if line.count(QUOTE) % 2:
        problem = f"a quote is not closed in {shown(line)}{HINT}"
        raise FormatError(head.path, problem, line=number)
    for separator in (*SEPARATORS, b""):
        fields = fields_of(line, separator)
        if len(fields) > 1 and as_integer(fields[0]) is not None:
            problem = f"expected `TAIL HEAD` or `TAIL HEAD WEIGHT`, got {len(fields)} fields"
            hint = "say what they are by titles above, such as tail, head, weight and time"
            raise FormatError(head.path, f"{problem} in {shown(line)}; {hint}", line=number)


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
