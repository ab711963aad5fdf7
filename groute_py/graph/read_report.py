"""A report of how a table was read."""

from __future__ import annotations

from typing import NamedTuple


class Reading(NamedTuple):
    """The decisions of the reader of edge tables.

    Attributes:
        columns: the title of each role that a column has: ``tail``, ``head``, ``weight``, ``back``,
            ``direction``; empty for a file without titles.
        comments: lines of comments that were skipped.
    """

    columns: dict[str, str]
    comments: int = 0
