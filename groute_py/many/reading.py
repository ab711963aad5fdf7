"""The graph of many sources, prepared where that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from groute_py.engine.prepared_reading import GraphReading, ReadGraph, read_prepared_if_it_suits
from groute_py.interop.graph_like import GraphLike, as_graph
from groute_py.io.tables.columns import Columns
from groute_py.many.request import Request
from groute_py.source.choose import shared_native
from groute_py.system.clock import phase


def read_for(
    request: Request,
    graph: GraphLike,
    columns: Columns,
    *,
    undirected: bool = False,
    cache: bool | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ReadGraph:
    """Read a graph as a request asks for it, with its hierarchy if it is to be prepared.

    Args:
        request: of many sources.
        graph: as for `groute_py.apsp`.
        columns, undirected, cache, progress: as for `groute_py.interop.graph_like.as_graph`.

    Raises:
        InputError: the graph is not valid.
    """
    if request.keeps_prepared:
        reading = GraphReading(undirected, cache, progress, columns)
        return read_prepared_if_it_suits(graph, request.device, reading, request.memory_limit)
    is_as_given = request.turns is None and not undirected
    with phase("read"):
        file = shared_native(graph, columns, progress) if is_as_given else None
        whole = as_graph(
            graph,
            undirected=undirected,
            cache=cache,
            progress=progress,
            columns=columns,
            turns=request.turns,
        )
    return ReadGraph(whole, "", file)
