"""Commands that need one rank: under mpirun all ranks end alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from groute_py.cli import records, show
from groute_py.errors import GrouteError, everywhere

if TYPE_CHECKING:
    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns

P = ParamSpec("P")


def on_rank_0(command: Callable[P, None]) -> Callable[P, None]:
    """Run a command on rank 0 only; its error is raised on every rank."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        records.begin("mpi")
        from groute_py.comm.agree import on_root
        from groute_py.comm.connect import connect

        channel = connect()
        records.begin("start")  # which no line on the terminal names
        on_root(channel, lambda: command(*args, **kwargs))

    return wrapped


def alike(command: Callable[P, None]) -> Callable[P, None]:
    """Let each error of a command be every rank's: they all do the same, and none hears another."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except GrouteError as error:
            raise everywhere(error) from error.__cause__

    return wrapped


def read_graph(graph: str, columns: Columns, cache: Any, turns: str | None = None) -> Graph:
    """Read the whole graph, with a bar on a terminal."""
    from groute_py.source.graph_source import GraphSource

    with show.progress(f"reading {graph}") as progress:
        how: dict[str, Any] = {"turns": turns, "cache": cache, "progress": progress}
        return GraphSource(graph, columns, **how).graph()
