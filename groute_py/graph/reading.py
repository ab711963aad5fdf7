"""How a table was read, for those who want to check it."""

from __future__ import annotations

from typing import NamedTuple


class Reading(NamedTuple):
    """What a reader of edge tables decided.

    Attributes:
        columns: the title of each role that a column has: ``tail``, ``head``, ``weight``, ``back``,
            ``direction``; empty for a file without titles.
        comments: lines of comments that were skipped.
    """

    columns: dict[str, str]
    comments: int = 0
