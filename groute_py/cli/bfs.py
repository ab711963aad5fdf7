"""``groute-py bfs``: how many arcs away every vertex is."""

from __future__ import annotations

from typing import Any

import click

from groute_py.cli.options import graph_argument, no_turns, solve_options
from groute_py.cli.solve import solve


@click.command()
@graph_argument
@no_turns
@solve_options("bfs", cutoff={"type": click.IntRange(0, 2**62), "metavar": "ARCS"})
def bfs(graph: str, **given: Any) -> None:
    """Breadth-first search: the least number of arcs from one source to every vertex of GRAPH.

    GRAPH is as for sssp; its weights are not looked at.
    """
    solve("bfs", graph, algorithm="bfs", hops=True, **given)
