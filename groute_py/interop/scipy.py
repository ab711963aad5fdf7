"""A graph from a SciPy sparse array, through its own methods, without importing SciPy."""

from __future__ import annotations

from typing import Any

from groute_py.errors import InputError
from groute_py.graph.csr import Graph


def from_scipy(matrix: Any) -> Graph:
    """A graph from a SciPy sparse array or matrix; entry (u, v) is the weight of arc u → v.

    Raises:
        InputError: not a square sparse array.
    """
    if len(matrix.shape) != 2:
        raise InputError(f"an adjacency matrix must have two dimensions, not {matrix.shape}")
    rows = matrix.tocsr()
    if rows.shape[0] != rows.shape[1]:
        raise InputError(f"an adjacency matrix must be square, not {rows.shape}")
    return Graph.from_arrays(rows.indptr, rows.indices, rows.data, name="sparse array")
