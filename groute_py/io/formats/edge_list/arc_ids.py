"""The ids of arcs in an edge list with titles, by a second pass over its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from groute_py.errors import FormatError
from groute_py.io.formats.edge_list.dialect import Dialect
from groute_py.io.formats.edge_list.rows import read_rows
from groute_py.io.tables.columns import Roles


def read_arc_ids(path: Path, dialect: Dialect) -> NDArray[Any] | None:
    """The id of each row, shape (rows,): int64, or strings where some vertices or arcs have names.

    None where the file has no titles, or nobody asked for a column of ids. The readers of rows take
    the column for that of tails.

    Raises:
        FormatError: with the line and what was expected there.
    """
    titled = dialect.titled
    if titled is None or titled.roles.arc is None:
        return None
    roles = Roles(titled.roles.arc, titled.roles.head)
    of_ids = dialect._replace(titled=titled._replace(roles=roles))
    numbers = None
    try:
        rows = read_rows(path, of_ids, None)
        numbers = None if dialect.names else rows.integers()
    except FormatError:
        if dialect.names:
            raise
        rows = read_rows(path, of_ids._replace(names=True), None)  # names of arcs, not of vertices
    return (rows.ids(path) if numbers is None else numbers)[rows.tails]
