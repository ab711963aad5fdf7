"""A graph from whatever stands for one: a file, a name, arrays, or a graph of another library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from groute_py.errors import InputError
from groute_py.graph.csr import Graph
from groute_py.graph.generate import generate, is_spec
from groute_py.graph.symmetrize import mirrored
from groute_py.interop.networkx import graph_from_networkx, is_networkx, weight_of
from groute_py.interop.scipy import from_scipy
from groute_py.interop.tables import is_table, table_graph
from groute_py.io import datasets
from groute_py.io.mapped_file import MappedFile
from groute_py.io.registry import is_mapped, read_table
from groute_py.io.tables.columns import BY_TITLE, Columns
from groute_py.turns.expanded import expanded
from groute_py.turns.files import arc_column

GraphLike = Any
"""A `Graph`, a path, a spec or name, a SciPy sparse array, a NetworkX graph, an edge table, or
(offsets, heads, weights)."""


def as_graph(
    graph: GraphLike,
    *,
    undirected: bool = False,
    cache: bool | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    columns: Columns = BY_TITLE,
    turns: Any = None,
) -> Graph:
    """Convert ``graph`` to a `Graph`; see `groute_py.sssp` for the kinds it may be.

    Args:
        graph: as for `groute_py.sssp`.
        undirected: add the reverse of each arc.
        cache: as for `read_graph`.
        progress: as for `read_graph`.
        columns: the columns of a table that the caller names, or the attribute of a NetworkX graph.
        turns: the costs of turns, by which the graph is expanded (`groute_py.turns.expanded`).

    Raises:
        InputError: it is of another kind, is not valid, or has no columns by name; or a turn is
            none of the graph.
    """
    arc = arc_column(Path(turns)) if isinstance(turns, str | Path) else None
    whole = _directed(graph, cache, progress, columns._replace(undirected=undirected, arc=arc))
    whole = mirrored(whole) if undirected else whole
    return whole if turns is None else expanded(whole, turns)


def _directed(
    graph: GraphLike,
    cache: bool | Path | None,
    progress: Callable[[int, int], None] | None,
    columns: Columns,
) -> Graph:
    if (file := file_of(graph, progress)) is not None:
        return read_table(file, columns, cache, progress)
    columns.refuse_profile(str(graph) if isinstance(graph, str) else f"a {type(graph).__name__}")
    if is_networkx(graph):
        columns._replace(weight=None).refuse("a NetworkX graph")
        return graph_from_networkx(graph, weight_of(graph, columns.weight))
    if not hasattr(graph, "tocsr") and is_table(graph):
        return table_graph(graph, columns)
    if isinstance(graph, Graph) and columns.weight is not None:
        columns._replace(weight=None).refuse("a Graph")
        return graph.with_column(columns.weight)
    columns.refuse(str(graph) if isinstance(graph, str) else f"a {type(graph).__name__}")
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


def is_path(graph: str) -> bool:
    """Whether it stands for a file of the caller's: no generated graph, and none by name."""
    return not is_spec(graph) and not datasets.is_name(graph)


def file_of(graph: GraphLike, progress: Callable[[int, int], None] | None) -> str | Path | None:
    """The file that a path or the name of a graph stands for; None for any other graph."""
    if not isinstance(graph, str | Path) or (isinstance(graph, str) and is_spec(graph)):
        return None
    if isinstance(graph, str) and datasets.is_name(graph):
        return datasets.fetch(graph, progress)
    return graph


def mapped_file_of(graph: GraphLike) -> MappedFile | None:
    """The caller's file if it is mapped itself, to see later whether somebody wrote to it.

    Raises:
        FormatError: it cannot be read.
    """
    is_file = is_path(graph) if isinstance(graph, str) else isinstance(graph, Path)
    return MappedFile(graph) if is_file and is_mapped(graph) else None
