"""``groute-py convert``: a graph from one file format to another."""

from __future__ import annotations

import click

from groute_py.cli import show
from groute_py.cli.alone import on_rank_0


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def convert(source: str, target: str) -> None:
    """Read FROM, whatever it holds, and write TO in the format of its suffix.

    TO is .csr (our binary form, read back in no time), .gr or .gr.gz (DIMACS text).
    """

    def work() -> None:
        from groute_py.api import as_graph
        from groute_py.graph.files import write_graph

        with show.progress(f"reading {source}") as progress:
            graph = as_graph(source, cache=False, progress=progress)
        write_graph(graph, target)
        show.note(f"{graph.vertex_count:,} vertices, {graph.arc_count:,} arcs written to {target}")

    on_rank_0(work)
