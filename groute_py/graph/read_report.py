"""A report of how a table was read."""

from __future__ import annotations

from typing import NamedTuple


class Reading(NamedTuple):
    """The decisions of the reader of edge tables, and facts of the file that no array holds.

    Attributes:
        columns: the title of each role that a column has: ``tail``, ``head``, ``weight``, ``back``,
            ``direction``; empty for a file without titles.
        comments: lines of comments that were skipped.
        first_through: the id of the first vertex that is no zone, of a TNTP network: paths of
            traffic begin and end at vertices below, and do not pass through them.
    """

    columns: dict[str, str]
    comments: int = 0
    first_through: int | None = None
