"""A graph from a table with a row for each arc: pandas, Arrow, Polars, or a dict of columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError
from groute_py.graph.array_like import host_array
from groute_py.graph.csr import Graph
from groute_py.kernels.cpu.build import csr_from_arcs

NAME = "edge table"


def is_table(table: Any) -> bool:
    """Whether it is a dict, or has columns by name."""
    named = hasattr(table, "columns") or hasattr(table, "column_names")
    return isinstance(table, dict) or (named and hasattr(table, "__getitem__"))


def graph_from_table(
    table: Any,
    *,
    tail: str | None = None,
    head: str | None = None,
    weight: str | None = None,
    directed: bool = True,
    renumber: bool = False,
) -> Graph:
    """A graph with an arc for each row of the table.

    Args:
        table: a pandas or Polars frame, an Arrow table, or a dict of columns.
        tail, head, weight: names of columns; by default the first, the second, and the third if
            there is one. Without weights every arc weighs 1.
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
    names = _names(table)
    tails = _ends(table, tail or names[0])
    heads = _ends(table, head or names[1])
    if weight is None and len(names) > 2:
        weight = names[2]
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


def _names(table: Any) -> list[str]:
    if isinstance(table, dict):
        names = list(table)
    else:
        names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    if len(names) < 2:
        raise GraphError(f"an edge table needs two columns, tails and heads; it has {names}")
    return names


def _column(table: Any, name: str) -> NDArray[Any]:
    if name not in _names(table):
        raise GraphError(f"the edge table has no column {name!r}; it has {_names(table)}")
    return host_array(table[name])


def _ends(table: Any, name: str) -> NDArray[Any]:
    column = _column(table, name)
    if column.dtype.kind in "iu" or not column.size:
        return column.astype(np.int64)
    words = np.array(column.tolist()) if column.dtype.kind in "OT" else column
    if words.dtype.kind != "U" or not all(isinstance(word, str) for word in column.tolist()):
        raise GraphError(
            f"column {name!r} holds {column.dtype}; a vertex is an integer or a string in every row"
        )
    return words


def _count(tails: NDArray[np.int64], heads: NDArray[np.int64]) -> int:
    least = min(tails.min(initial=0), heads.min(initial=0))
    if least < 0:
        raise GraphError(f"vertex {least} is below 0; use renumber=True if these are ids")
    return int(max(tails.max(initial=-1), heads.max(initial=-1))) + 1
