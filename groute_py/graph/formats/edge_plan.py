"""What the first lines of an edge list say of the others."""

from __future__ import annotations

import re
from typing import NamedTuple

from groute_py.graph.arc_lines import DECIMAL, INTEGER
from groute_py.graph.head import Head

SEPARATORS = (b",", b";", b"|")
"""Those that are looked for, in this order, besides blanks and tabs."""
COMMENTS = b"#%"
VERTICES = re.compile(rb"# vertices (-?\d{1,18})\.\.(-?\d{1,18})\s*")
TITLES = re.compile(rb"\"?(source|src|tail|from|u|start|node1|id1|vertex1|i)\"?", re.IGNORECASE)
TEXT = re.compile(rb"[^\x00-\x08\x0e-\x1f]*")
SAMPLE = 100


class Plan(NamedTuple):
    """How to read an edge list.

    Attributes:
        separator: what parts fields besides blanks and tabs, or nothing.
        columns: 2, or 3 with weights.
        names: whether some of the first ids are no integers.
        skipped: the numbers of lines that have titles or counts.
        vertex_count, arc_count: what a line of counts says.
        vertices: the ids that there are, where a comment of ours says so.
    """

    separator: bytes
    columns: int
    names: bool
    skipped: frozenset[int]
    vertex_count: int | None = None
    arc_count: int | None = None
    vertices: range | None = None


def as_integer(field: bytes) -> int | None:
    """The integer that a field is, if it is one."""
    return int(field) if INTEGER.fullmatch(field) else None


def fields_of(line: bytes, separator: bytes) -> list[bytes]:
    """The fields of a line, without the blanks and quotes around them."""
    parts = line.split(separator) if separator else line.split()
    return [part.strip().removeprefix(b'"').removesuffix(b'"') for part in parts]


def plan_of(head: Head) -> Plan | None:
    """How to read a file that begins like this, or None if it is no edge list."""
    if not TEXT.fullmatch(head.text):
        return None
    comments, data = _sample(head)
    vertices = _vertices(comments)
    if not data:
        return Plan(b"", 3, False, frozenset(), vertices=vertices) if comments else None
    separator = next((s for s in SEPARATORS if s in data[0][1]), b"")
    rows = [(number, fields_of(line, separator)) for number, line in data]
    counts, rows = _parted(rows)
    columns = len(rows[0][1]) if rows else 3
    if columns not in (2, 3) or not _plausible(rows, columns, separator):
        return None
    skipped = {number for number, _ in counts}
    if rows and _are_titles(rows):
        skipped.add(rows[0][0])
        rows = rows[1:]
    numbers = [int(field) for _, fields in counts for field in fields]
    return Plan(
        separator,
        columns,
        any(as_integer(end) is None for _, fields in rows for end in fields[:2]),
        frozenset(skipped),
        numbers[0] if numbers else None,
        numbers[1] if numbers else None,
        vertices,
    )


def _sample(head: Head) -> tuple[list[bytes], list[tuple[int, bytes]]]:
    """The comments, and some other lines with their numbers."""
    comments, data = [], []
    for number, line in enumerate(head.lines, 1):
        if line.lstrip()[:1] in (b"#", b"%"):
            comments.append(line.lstrip())
        elif line.strip():
            data.append((number, line))
        if len(data) == SAMPLE:
            break
    return comments, data


def _vertices(comments: list[bytes]) -> range | None:
    for found in map(VERTICES.fullmatch, comments):
        if found:
            return range(int(found[1]), int(found[2]) + 1)
    return None


Rows = list[tuple[int, list[bytes]]]


def _parted(rows: Rows) -> tuple[Rows, Rows]:
    """The lines of counts, ``n m`` or ``n`` and ``m``, and the others."""
    widths = [len(fields) for _, fields in rows[:3]]
    lines = 1 if widths[:2] == [2, 3] else 2 if widths == [1, 1, 3] else 0
    counts = [field for _, fields in rows[:lines] for field in fields]
    if all(re.fullmatch(rb"\d{1,18}", field) for field in counts):
        return rows[:lines], rows[lines:]
    return [], rows


def _plausible(rows: Rows, columns: int, separator: bytes) -> bool:
    """Whether this is more than two words of prose: numbers somewhere, or a separator."""
    if not rows or separator:
        return True
    if columns == 3:
        return any(len(fields) == 3 and DECIMAL.fullmatch(fields[2]) for _, fields in rows)
    fields = [field for _, fields in rows for field in fields]
    integers = sum(as_integer(field) is not None for field in fields)
    named = integers == 0 and not any(map(DECIMAL.fullmatch, fields)) and len(rows) > 1
    return integers >= max(1, len(fields) - 2) or named


def _are_titles(rows: Rows) -> bool:
    """Whether the first line names the columns."""
    first = rows[0][1]
    if TITLES.fullmatch(first[0]) or (len(first) == 3 and not _is_number(first[2])):
        return as_integer(first[0]) is None
    if len(rows) == 1:
        return False
    second = rows[1][1]
    return as_integer(first[0]) is None and as_integer(second[0]) is not None


def _is_number(field: bytes) -> bool:
    return bool(DECIMAL.fullmatch(field)) or field.lower().lstrip(b"+-") in (b"nan", b"inf")
