"""The whole graph of a command, read on rank 0 with a progress bar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from groute_py.cli import show
from groute_py.cli.options import cache_value
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from groute_py.engine.prepared_reading import GraphReading, ReadGraph
    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns
    from groute_py.many.request import Request


def read_whole(
    graph: str, *, undirected: bool, columns: Columns, cache: Any, turns: str | None = None
) -> Graph:
    """The graph that an argument names; the rest are the options of every graph, and turns."""
    from groute_py.interop.graph_like import as_graph

    with phase("read"), show.progress(f"reading {graph}") as progress:
        return as_graph(
            graph,
            undirected=undirected,
            cache=cache_value(cache),
            progress=progress,
            columns=columns,
            turns=turns,
        )


def read_for_rows(
    request: Request, graph: str, *, undirected: bool, columns: Columns, cache: Any
) -> ReadGraph:
    """The graph of a command with many sources; the rest are the options of every graph."""
    from groute_py.many.reading import read_for

    with show.progress(f"reading {graph}") as progress:
        return read_for(
            request,
            graph,
            columns,
            undirected=undirected,
            cache=cache_value(cache),
            progress=progress,
        )


@contextmanager
def reading_of(
    graph: str, *, undirected: bool, columns: Columns, cache: Any
) -> Iterator[GraphReading]:
    """How a graph is read that may be in the cache with its hierarchy; for `read_prepared`."""
    from groute_py.engine.prepared_reading import GraphReading

    with show.progress(f"reading {graph}") as progress:
        yield GraphReading(undirected, cache_value(cache), progress, columns)
