"""A graph from a table with a row for each arc: pandas, Arrow, Polars, or a dict of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, GrouteError, check_truth, quote
from groute_py.graph.arrays import as_int64, host_array
from groute_py.graph.csr import Graph
from groute_py.graph.ids import numbered
from groute_py.graph.read_report import Reading, library_of
from groute_py.graph.symmetrize import mirrored
from groute_py.io.optional_libraries import library
from groute_py.io.tables.columns import Columns, Roles, roles_of
from groute_py.io.tables.directions import graph_of_rows, known_rule, ways_of
from groute_py.io.tables.titles import ends_in
from groute_py.io.text.arc_reader import EXACT
from groute_py.system.memory_limits import FEWEST_VERTICES, check_name_lengths

NAME = "edge table"
SPARSEST = 64  # vertices for each row; a table with more has ids, not vertices


def is_table(table: Any) -> bool:
    """Find out whether it is a dict, or has columns by name."""
    if isinstance(table, dict) or _is_lazy(table):
        return True
    named = hasattr(table, "columns") or hasattr(table, "column_names")
    return named and hasattr(table, "__getitem__")


def table_in(values: Any) -> Any:
    """Return what has ``__arrow_c_stream__`` as Arrow's table; a known frame and all else as is."""
    is_known = bool(library_of(values)) and is_table(values)
    if is_known or not hasattr(values, "__arrow_c_stream__"):
        return values
    return library("pyarrow", "a stream of Arrow's").table(values)


def graph_from_table(
    table: Any,
    *,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    ignore_columns: Sequence[Any] = (),
    directed: bool = True,
    renumber: bool = True,
) -> Graph:
    """A graph with an arc for each row of the table.

    Args:
        table: a frame of pandas, Modin, cuDF or Polars (also lazy), a table or stream of Arrow's,
            or a dict of columns.
        tail, head, weight: names of columns; by default those whose titles say so, as in
            `groute_py.io.tables.columns`. A column of directions is obeyed.
        ignore_columns: names of columns that count as absent.
        directed: otherwise each row is an arc backwards as well, whatever such a column says.
        renumber: integers are ids, as in a file of such rows. False: they are the vertices
            themselves, which count from 0 to the greatest.

    Returns:
        The graph. Integers that count upwards give its ``first_id``; all others stand in ``ids``,
        ascending, int64 or strings.

    Raises:
        GraphError: a column is missing, is not clear, or holds what it cannot.

    >>> graph = graph_from_table({"from": ["b", "a"], "to": ["a", "c"], "km": [4, 7]})
    >>> graph.ids.tolist(), graph.heads.tolist(), graph.weights.tolist()
    (['a', 'b', 'c'], [2, 0], [7, 4])
    """
    check_truth("directed", directed)
    check_truth("renumber", renumber)
    if not is_table(table := table_in(table)):
        raise GraphError(
            f"a {type(table).__name__} is no edge table; give a pandas or Polars frame, an Arrow "
            "table or a dict of columns"
        )
    columns = Columns(tail, head, weight, undirected=not directed, ignore=ignore_columns)
    graph = table_graph(table, columns, renumber)
    return graph if directed else mirrored(graph)


def table_graph(table: Any, columns: Columns, renumber: bool = True) -> Graph:
    """Make a graph like `graph_from_table`; undirected edges are not mirrored."""
    came_in = library_of(table)
    table = _with_index(table.to_pandas() if came_in == "cudf" else table, columns)
    table, roles = (
        _collected(table, columns) if _is_lazy(table) else (table, _roles(table, columns))
    )
    tails, heads = _ids(table, roles.tail, "vertex"), _ids(table, roles.head, "vertex")
    if tails.dtype.kind != heads.dtype.kind and len(tails):
        raise GraphError(f"tails are {tails.dtype} and heads {heads.dtype}; they must be alike")
    if len(tails) != len(heads):
        raise GraphError(f"columns of {len(tails)} and {len(heads)} rows")
    if renumber or tails.dtype.kind == "U":
        first, ids, count, tails, heads = numbered(tails, heads)
    else:
        first, ids, count = 0, None, _count(tails, heads)
    weights, ways, back = _values(table, roles, len(tails))
    arc_ids = None if roles.arc is None else _ids(table, roles.arc, "arc")
    titles = {role: str(title) for role, title in roles.titles.items()}
    reading = Reading(titles, library=came_in)
    carry = {str(title): _weights(table, title) for title in roles.carry}
    rows = tails, heads, weights, ways, back, arc_ids, carry
    first = first if ids is None else 0
    return graph_of_rows(NAME, count, *rows, first_id=first, ids=ids, reading=reading)


def _is_lazy(table: Any) -> bool:
    """Find out whether it is a Polars LazyFrame."""
    return hasattr(table, "collect_schema") and hasattr(table, "collect")


def _collected(table: Any, columns: Columns) -> tuple[Any, Roles]:
    """The columns of a LazyFrame that are read, and those whose values say whether they are."""
    schema = table.collect_schema()
    titles = list(schema.names())
    telling = [title for title in titles if known_rule(title) is not None]
    values = table.select(telling).collect() if telling else {}
    roles = roles_of(
        titles, lambda title: schema[title].is_numeric(), lambda title: values[title], columns
    )
    return table.select(list({*roles.titles.values(), *roles.carry})).collect(), roles


def _with_index(table: Any, columns: Columns) -> Any:
    """The table with the index of a pandas frame as columns, if that has the ends (OSMnx)."""
    index = [name for name in getattr(getattr(table, "index", None), "names", ()) if name]
    if not index or not hasattr(table, "reset_index") or set(index) & set(table.columns):
        return table
    is_named = not set(index).isdisjoint([*columns.named, *columns.carry])
    return table.reset_index() if is_named or ends_in(index) else table


def _roles(table: Any, columns: Columns) -> Roles:
    def is_numeric(name: Any) -> bool:
        return column_of(table, name).dtype.kind in "iuf"

    return roles_of(
        titles_of(table), is_numeric, lambda name: column_of(table, name).tolist(), columns
    )


def titles_of(table: Any) -> list[Any]:
    """Return the titles of the columns of a table."""
    if isinstance(table, dict):
        return list(table)
    return list(table.column_names if hasattr(table, "column_names") else table.columns)


def _values(
    table: Any, roles: Roles, rows: int
) -> tuple[NDArray[Any], NDArray[np.int8] | None, NDArray[Any] | None]:
    """Weights, ways and weights of arcs back."""
    ways, back = None, None
    weights = np.ones(rows, np.int32) if roles.weight is None else _weights(table, roles.weight)
    if roles.back is not None:
        back = _weights(table, roles.back)
    if roles.direction is not None and roles.rule is not None:
        values = column_of(table, roles.direction).tolist()
        ways = ways_of(values, roles.direction, roles.rule)
    for more in (weights, ways, back):
        if more is not None and len(more) != rows:
            raise GraphError(f"columns of {rows} and {len(more)} rows")
    return weights, ways, back


def _ids(table: Any, name: Any, what: str) -> NDArray[Any]:
    """A column of ids, int64 or strings."""
    values = table[name]
    listed = values if isinstance(values, (list, tuple)) else ()
    _check_lengths(listed)
    column = column_of(table, name)
    if column.dtype.kind in "iu":
        return as_int64(column, f"a value of column {quote(name)}")
    if not column.size:
        return column.astype(np.int64)
    entries = column.tolist()
    is_mixed = len({isinstance(value, str) for value in listed}) > 1  # which NumPy makes strings
    empty = [row for row, value in enumerate(entries) if is_missing(value)]
    if empty and not is_mixed:
        raise GraphError(f"row {empty[0] + 1} has no {what} in column {quote(name)}")
    if is_mixed or not all(isinstance(entry, str) for entry in entries):
        kinds = "strings and others" if is_mixed else column.dtype
        raise GraphError(
            f"column {quote(name)} holds {kinds}; give an integer or a string in every row"
        )
    if column.dtype.kind == "U":
        return column
    _check_lengths(entries)
    return np.array(entries, np.str_)


def _weights(table: Any, name: Any) -> NDArray[Any]:
    column = column_of(table, name)
    if column.dtype.kind not in "iuf" and len(column):
        other = next((value for value in column.tolist() if isinstance(value, str)), column.dtype)
        raise GraphError(f"weights must be numbers; column {quote(name)} holds {quote(other)}")
    return column


def column_of(table: Any, name: Any) -> NDArray[Any]:
    """Return a column, one-dimensional, as numbers if it can be; `GraphError` for others."""
    try:
        column = host_array(table[name])
    except GrouteError:  # of a signal handler
        raise
    except Exception as error:  # of the table's library, for types that NumPy lacks
        raise GraphError(f"column {quote(name)} cannot be read: {error}") from error
    if column.ndim != 1:
        raise GraphError(f"column {quote(name)} has {column.ndim} dimensions; it must have one")
    return _numbers(column, name) if column.dtype.kind == "O" and len(column) else column


def _numbers(column: NDArray[Any], name: Any) -> NDArray[Any]:
    """A column of objects that are all numbers as such; any other column as it is."""
    values = column.tolist()
    present = [value for value in values if not is_missing(value)]
    is_gapped = len(present) < len(values)
    if not present or not all(isinstance(v, Number) and not isinstance(v, bool) for v in present):
        return column
    if all(value == value and value % 1 == 0 for value in present):
        present = [int(value) for value in present]
    if not is_gapped and all(isinstance(value, Integral) for value in present):
        try:
            return np.array(present, np.int64)
        except OverflowError:
            raise GraphError(f"column {quote(name)} has an integer beyond 64 bits") from None
    if any(isinstance(value, Integral) and abs(int(value)) > EXACT for value in present):
        raise GraphError(
            f"column {quote(name)} has an integer beyond 2^53 beside decimals or gaps, which "
            "64-bit floating point would round"
        )
    return np.array([math.nan if is_missing(value) else float(value) for value in values])


def is_missing(value: Any) -> bool:
    """Find out whether it is None, or unlike itself: NaN, NaT, or NA of pandas.

    >>> is_missing(float("nan")), is_missing("a"), is_missing(np.zeros(2))
    (True, False, False)
    """
    differs = False if value is None else value != value
    if isinstance(differs, bool | np.bool_):
        return value is None or bool(differs)
    return not hasattr(differs, "__len__")  # of NA neither True nor False


def _check_lengths(words: Sequence[Any]) -> None:
    """Before NumPy gives each the room of the longest."""
    lengths = (len(word) for word in words if isinstance(word, str))
    check_name_lengths(len(words), max(lengths, default=0))


def _count(tails: NDArray[np.int64], heads: NDArray[np.int64]) -> int:
    least = min(tails.min(initial=0), heads.min(initial=0))
    if least < 0:
        raise GraphError(f"vertex {least} is below 0; use renumber=True if these are ids")
    count = int(max(tails.max(initial=-1), heads.max(initial=-1))) + 1
    if count > max(FEWEST_VERTICES, SPARSEST * len(tails)):
        problem = f"vertex {count - 1} of a table with only {len(tails):,} rows"
        raise GraphError(f"{problem}; use renumber=True if these are ids")
    return count
