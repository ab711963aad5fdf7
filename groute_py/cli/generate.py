"""``groute-py generate``: a generated graph as a file."""

from __future__ import annotations

from pathlib import Path

import click

from groute_py.cli import show
from groute_py.cli.alone import on_rank_0
from groute_py.system.clock import phase


@click.command()
@click.argument("spec")
@click.option(
    "-o", "--output", required=True, help="The file to write; its suffix chooses the format."
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="The seed of the random numbers."
)
def generate(spec: str, output: str, seed: int) -> None:
    """Write the generated graph SPEC to a file.

    SPEC is road:WxH, rmat:SCALE[,EDGEFACTOR] or random:N,M.
    """

    def work() -> None:
        from groute_py.graph import generate as generating
        from groute_py.io.registry import write_graph, written_form
        from groute_py.system.atomic_file import check_writable

        written_form(Path(output))
        check_writable(Path(output))
        with phase("generate"):
            graph = generating.generate(spec, seed=seed)
        with phase("write"):
            write_graph(graph, output)
        show.note(f"{graph.vertex_count:,} vertices, {graph.arc_count:,} arcs written to {output}")

    on_rank_0(work)
