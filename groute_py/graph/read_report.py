"""A report of how a table was read."""

from __future__ import annotations

from typing import Any, NamedTuple

LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf")
"""Libraries of tables that are read and made; frames of GeoPandas are those of pandas."""


class Reading(NamedTuple):
    """The decisions of the reader of edge tables, and facts of the file that no array holds."""

    columns: dict[str, str]  # the title of each role; empty for a file without titles
    comments: int = 0  # lines that were skipped
    first_through: int | None = None  # the first vertex that is no zone, of a TNTP network
    library: str = ""  # one of `LIBRARIES`, of a table in memory


def library_of(table: Any) -> str:
    """Return which of `LIBRARIES` a table in memory is of, "" for others, such as a dict."""
    roots = (kind.__module__.partition(".")[0] for kind in type(table).__mro__)
    return next((root for root in roots if root in LIBRARIES), "")


def of_other_weights(reading: Reading | None) -> Reading | None:
    """Return a report without the title of weights, which may say their unit."""
    if reading is None:
        return None
    roles = reading.columns.items()
    return reading._replace(columns={role: name for role, name in roles if role != "weight"})


def title_of_weights(reading: Reading | None) -> str:
    """Return the title of the weights of a table, "" where it is not known."""
    return "" if reading is None else reading.columns.get("weight", "")
