"""A graph from a table with a row for each arc: pandas, Arrow, Polars, or a dict of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError
from groute_py.graph.array_like import host_array
from groute_py.graph.columns import as_int64, chosen_columns
from groute_py.graph.csr import Graph
from groute_py.graph.memory import FEWEST_VERTICES, check_name_lengths
from groute_py.kernels.cpu.build import csr_from_arcs

NAME = "edge table"
SPARSEST = 64
"""Vertices for each row; a table with more has ids, not vertices."""


def is_table(table: Any) -> bool:
    """Whether it is a dict, or has columns by name."""
    named = hasattr(table, "columns") or hasattr(table, "column_names")
    return isinstance(table, dict) or (named and hasattr(table, "__getitem__"))


def graph_from_table(
    table: Any,
    *,
    tail: Any = None,
    head: Any = None,
    weight: Any = None,
    directed: bool = True,
    renumber: bool = False,
) -> Graph:
    """A graph with an arc for each row of the table.

    Args:
        table: a pandas or Polars frame, an Arrow table, or a dict of columns.
        tail, head, weight: names of columns; by default those with the usual names, as in
            `groute_py.graph.columns`, else the first, the second, and the column of numbers that is
            left. Where there is no other column, every arc weighs 1.
        directed: otherwise each row is an arc backwards as well.
        renumber: integers name vertices instead of counting them from 0.

    Returns:
        The graph. Its ``ids`` are ascending, int64 where ``renumber``, strings where the table has
        strings; else None, for ids that are the vertices 0..n − 1.

    Raises:
        GraphError: a column is missing, or holds what it cannot.

    >>> graph = graph_from_table({"from": ["b", "a"], "to": ["a", "c"], "km": [4, 7]})
    >>> graph.ids.tolist(), graph.heads.tolist(), graph.weights.tolist()
    (['a', 'b', 'c'], [2, 0], [7, 4])
    """
    if not is_table(table):
        raise GraphError(
            f"an edge table is a pandas, Polars or Arrow table or a dict of columns, not "
            f"{type(table).__name__}"
        )
    tail, head, weight = chosen_columns(
        _names(table),
        lambda name: host_array(table[name]).dtype.kind in "iuf",
        tail=tail,
        head=head,
        weight=weight,
    )
    tails, heads = _ends(table, tail), _ends(table, head)
    weights = np.ones(len(tails), np.int32) if weight is None else _column(table, weight)
    if len(tails) != len(heads) or len(tails) != len(weights):
        raise GraphError(f"columns of {len(tails)}, {len(heads)} and {len(weights)} rows")
    if tails.dtype.kind != heads.dtype.kind and len(tails):
        raise GraphError(f"tails are {tails.dtype} and heads {heads.dtype}; they must be alike")
    ids = None
    if renumber or tails.dtype.kind == "U":
        ids, places = np.unique(np.concatenate([tails, heads]), return_inverse=True)
        tails, heads = places[: len(tails)], places[len(tails) :]
    count = len(ids) if ids is not None else _count(tails, heads)
    if not directed:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        weights = np.concatenate([weights, weights])
    graph = Graph.from_arrays(*csr_from_arcs(count, tails, heads, weights), name=NAME)
    return replace(graph, ids=ids)


def _names(table: Any) -> list[Any]:
    if isinstance(table, dict):
        return list(table)
    return list(table.column_names if hasattr(table, "column_names") else table.columns)


def _ends(table: Any, name: Any) -> NDArray[Any]:
    values = table[name]
    _check_lengths(values if isinstance(values, (list, tuple)) else ())
    column = _column(table, name)
    if isinstance(values, (list, tuple)) and len({isinstance(value, str) for value in values}) > 1:
        raise GraphError(
            f"column {name!r} holds strings and others; a vertex is an integer or a string in "
            "every row"
        )
    if column.dtype.kind in "iu":
        return as_int64(column, f"a vertex of column {name!r}")
    if not column.size:
        return column.astype(np.int64)
    if column.dtype.kind in "OT":
        _check_lengths(column.tolist())
    words = np.array(column.tolist()) if column.dtype.kind in "OT" else column
    if words.dtype.kind != "U" or not all(isinstance(word, str) for word in column.tolist()):
        raise GraphError(
            f"column {name!r} holds {column.dtype}; a vertex is an integer or a string in every row"
        )
    return words


def _column(table: Any, name: Any) -> NDArray[Any]:
    column = host_array(table[name])
    if column.ndim != 1:
        raise GraphError(f"column {name!r} has {column.ndim} dimensions; it must have one")
    return column


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
