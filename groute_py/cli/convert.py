"""``groute-py convert``: a graph from one file format to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from groute_py.cli import show
from groute_py.cli.alone import on_rank_0
from groute_py.cli.options import column_options, undirected_option
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from groute_py.io.tables.columns import Columns


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@column_options
@undirected_option
@click.option(
    "--sort-rows", is_flag=True, help="Sort each row by weight, as frontier-dijkstra wants it."
)
def convert(source: str, target: str, undirected: bool, columns: Columns, sort_rows: bool) -> None:
    """Read FROM, whatever it holds, and write TO in the format of its suffix.

    TO is .csr (our binary form, read back in no time), .gr (DIMACS text), .mtx (Matrix Market),
    .csv .tsv .txt .el .wel .e (edge lists), .graph (METIS), .sg .wsg (GAPBS), .galois (Galois
    binary), .npz (SciPy), .parquet or .mat (dense matrix). Texts, .sg, .wsg and .galois may have
    .gz, .xz, .zst or .bz2 behind.
    """

    def work() -> None:
        from groute_py.graph.ids import Numbering
        from groute_py.graph.sort_rows import with_ascending_rows
        from groute_py.interop.graph_like import as_graph
        from groute_py.io.registry import write_graph, written_form
        from groute_py.system.atomic_file import check_writable

        first = written_form(Path(target)).first_id
        check_writable(Path(target))
        with show.progress(f"reading {source}") as progress:
            graph = as_graph(
                source, undirected=undirected, cache=False, progress=progress, columns=columns
            )
        if sort_rows:
            graph = with_ascending_rows(graph)
        with phase("write"):
            write_graph(graph, target)
        show.note(f"{graph.vertex_count:,} vertices, {graph.arc_count:,} arcs written to {target}")
        if graph.reading is not None and graph.reading.comments:
            show.note(f"{graph.reading.comments:,} lines of comments were skipped in {source}")
        if first is not None and (graph.ids is not None or graph.first_id != first):
            now = Numbering(graph.vertex_count, first)
            show.note(f"vertices {graph.numbering} are {now} in {target}")

    on_rank_0(work)
