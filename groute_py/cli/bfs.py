"""``groute-py bfs``: how many arcs away every vertex is."""

from __future__ import annotations

from typing import Any

import click

from groute_py.cli.options import cache_options, graph_argument, json_option, undirected_option
from groute_py.cli.sssp import run


@click.command()
@graph_argument
@click.option("-s", "--source", metavar="ID", help="Source, by the file's id.  [first with arcs]")
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--partition", default="arcs", show_default=True, help="Parts of equal what.")
@click.option("--mode", default="auto", show_default=True, help="Exchange: auto, fused, rounds.")
@click.option("--order", default="auto", show_default=True, help="none, bfs, rcm or hilbert.")
@click.option("--coordinates", metavar="FILE", help="For hilbert.  [the .co beside GRAPH]")
@click.option("--cutoff", type=int, metavar="ARCS", help="Leave what is farther unreached.")
@click.option("--no-predecessors", is_flag=True, help="Distances only.")
@click.option("-o", "--output", help="Save the result: .npz .npy .csv .txt .parquet .sol.")
@click.option("--output-format", metavar="NAME", help="In this form, whatever the suffix.")
@click.option(
    *("-t", "--target", "targets"),
    metavar="ID",
    multiple=True,
    help="Print the path to ID, and stop there; several.",
)
@click.option("--verify", "check", is_flag=True, help="Check the optimality certificate.")
@click.option("-n", "--trials", type=click.IntRange(min=1), default=1, help="Solve so often.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Give up after so long.")
@undirected_option
@cache_options
@json_option
def bfs(graph: str, **given: Any) -> None:
    """Breadth-first search: the least number of arcs from one source to every vertex of GRAPH.

    GRAPH is as for sssp; its weights are not looked at.
    """
    run(graph, algorithm="bfs", delta=None, hops=True, **given)
