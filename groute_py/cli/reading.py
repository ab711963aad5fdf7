"""The whole graph of a command, read on rank 0 with a progress bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groute_py.cli import show
from groute_py.cli.options import cache_value
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns


def read_whole(
    graph: str, *, undirected: bool, columns: Columns, cache: Any, turns: str | None = None
) -> Graph:
    """The graph that an argument names; the rest are the options of every graph, and turns."""
    from groute_py.source.graph_source import GraphSource

    with phase("read"), show.progress(f"reading {graph}") as progress:
        return GraphSource(
            graph,
            columns._replace(undirected=undirected),
            turns=turns,
            cache=cache_value(cache),
            progress=progress,
        ).graph()
