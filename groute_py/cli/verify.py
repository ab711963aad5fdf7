"""``groute-py verify``: is a saved result the answer for a graph?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli.alone import on_rank_0, read_graph
from groute_py.cli.options import graph_argument, json_option, number, source_options
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from groute_py.io.tables.columns import Columns


@click.command()
@graph_argument
@click.argument("result")
@click.option(
    "--cutoff",
    type=number,
    help="The cutoff the result was computed with; RESULT has the bound of its targets.",
)
@click.option("--hops", is_flag=True, help="RESULT is of bfs: every arc counts 1.")
@click.option("--turns", metavar="FILE", help="The turns that RESULT was computed with.")
@source_options
@json_option
@on_rank_0
def verify(
    graph: str,
    result: str,
    cutoff: int | float | None,
    hops: bool,
    turns: str | None,
    columns: Columns,
    cache: Any,
    as_json: bool,
) -> None:
    """Check RESULT (.npz) against GRAPH by the optimality certificate.

    Ends with code 3 and the first wrong vertex if it is not a shortest-path answer.
    """
    from groute_py.results.result import read_result
    from groute_py.verification import verify as certify

    saved = read_result(result)
    whole = read_graph(graph, columns, cache, turns)
    bounds = [b for b in (cutoff, saved.statistics.get("bound")) if b is not None]
    with phase("verify"):
        certify(whole, saved, cutoff=min(bounds, default=None), hops=hops)
    rows: dict[str, Any] = {
        "verified": True,
        "graph": whole.name,
        "result": result,
        "source": whole.numbering.id_of(saved.source),
        "reached": int(saved.reached.sum()),
        "predecessors_checked": saved.predecessors is not None,
    }
    show.answer(rows, as_json=as_json)
