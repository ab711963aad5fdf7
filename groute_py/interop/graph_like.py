"""A graph from whatever stands for one in memory: arrays, a name, a graph of another library."""

from __future__ import annotations

from typing import Any

from groute_py.errors import InputError
from groute_py.graph.csr import Graph, GraphLike
from groute_py.graph.generate import generate, is_spec
from groute_py.graph.symmetrize import mirrored
from groute_py.interop.networkx import graph_from_networkx, is_networkx, weight_of, with_node_ids
from groute_py.interop.tables import is_table, table_graph, table_in
from groute_py.io.tables.columns import Columns


def as_graph(graph: GraphLike, columns: Columns) -> Graph:
    """Convert what `groute_py.sssp` takes, but for files."""
    whole = _directed(graph, columns)
    return mirrored(whole) if columns.undirected else whole


def _directed(graph: GraphLike, columns: Columns) -> Graph:
    what = str(graph) if isinstance(graph, str) else f"a {type(graph).__name__}"
    columns.refuse_profile(what)
    if is_networkx(graph):
        columns._replace(weight=None).refuse("a NetworkX graph")
        weight = weight_of(graph, columns.weight)
        return with_node_ids(graph_from_networkx(graph, weight, carry=columns.carry), graph)
    if not hasattr(graph, "tocsr") and is_table(table := table_in(graph)):
        return table_graph(table, columns)
    if isinstance(graph, Graph) and columns.weight is not None:
        columns._replace(weight=None).refuse("a Graph")
        return graph.with_column(columns.weight)
    columns.refuse(what)
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, str) and is_spec(graph):
        return generate(graph)
    if isinstance(graph, tuple) and len(graph) == 3:
        return Graph.from_arrays(*graph)
    if hasattr(graph, "tocsr"):
        return from_scipy(graph)
    raise InputError(
        f"a graph cannot be made from {type(graph).__name__}; give a Graph, a path, a SciPy sparse "
        "array, a NetworkX graph, an edge table or (offsets, heads, weights)"
    )


def from_scipy(matrix: Any) -> Graph:
    """A graph from a SciPy sparse array or matrix; entry (u, v) is the weight of arc u → v."""
    if len(matrix.shape) != 2:
        raise InputError(f"an adjacency matrix must have two dimensions, not {matrix.shape}")
    rows = matrix.tocsr()
    if rows.shape[0] != rows.shape[1]:
        raise InputError(f"an adjacency matrix must be square, not {rows.shape}")
    return Graph.from_arrays(rows.indptr, rows.indices, rows.data, name="sparse array")
