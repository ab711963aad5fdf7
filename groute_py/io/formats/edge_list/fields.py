"""Fields of the rows of an edge list."""

from __future__ import annotations

import re

from groute_py.errors import FormatError
from groute_py.io.file_head import Head
from groute_py.io.text.arc_reader import INTEGER
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
