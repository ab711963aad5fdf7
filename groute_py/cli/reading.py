"""The whole graph of a command, read on rank 0 with a progress bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groute_py.cli import show
from groute_py.cli.options import cache_value
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns


def read_whole(graph: str, *, undirected: bool, columns: Columns, cache: Any) -> Graph:
    """The graph that an argument names; the rest are the options of every graph."""
    from groute_py.interop.graph_like import as_graph

    with phase("read"), show.progress(f"reading {graph}") as progress:
        return as_graph(
            graph,
            undirected=undirected,
            cache=cache_value(cache),
            progress=progress,
            columns=columns,
        )
