"""``groute-py prepare``: a graph and its contraction hierarchy in one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import records, show
from groute_py.cli.alone import on_rank_0
from groute_py.cli.apart import check_outputs_apart
from groute_py.cli.options import graph_argument, reading_options
from groute_py.errors import InputError
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from groute_py.io.tables.columns import Columns


@click.command()
@graph_argument
@click.option("-o", "--output", required=True, help="The file to write, which ends in .prepared.")
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Where to contract; auto takes a GPU if CUDA finds one.",
)
@reading_options
@on_rank_0
def prepare(
    graph: str,
    output: str,
    device: str,
    columns: Columns,
    cache: Any,
    as_json: bool,
    verbose: bool,
) -> None:
    """Contract GRAPH once, and write it with its hierarchy to a file that stands for it.

    Solves of the file take less time. Roads, meshes and trees suit; with another graph the command
    says why, and ends with code 2.
    """
    from groute_py.algorithms import contraction
    from groute_py.device.registry import kind_of
    from groute_py.engine.preparing import NOW, read_prepared
    from groute_py.io.formats import prepared
    from groute_py.io.registry import write_graph
    from groute_py.source.graph_source import GraphSource
    from groute_py.system.atomic_file import check_writable

    if not output.endswith(prepared.SUFFIX):
        raise InputError(f"{output}: a prepared graph is written as {prepared.SUFFIX}")
    check_outputs_apart({"GRAPH": graph}, {"--output": output})
    check_writable(Path(output))
    with phase("device"):
        kind = kind_of(device, contraction.ALGORITHM.devices)
    with show.progress(f"reading {graph}") as progress:
        source = GraphSource(graph, columns, cache=cache, prepare=True, progress=progress)
        whole, reason = read_prepared(source, kind)
    with phase("write"):
        write_graph(whole, output)
    hierarchy = whole.hierarchy
    sparse = f"{whole.arc_count / whole.vertex_count:.1f} arcs a vertex, and it stayed sparse"
    rows = {
        "graph": whole.name,
        "vertices": whole.vertex_count,
        "arcs": whole.arc_count,
        "method": "contraction",
        "reason": reason.replace(NOW, sparse),
        "device": kind,
        **show.hierarchy(hierarchy),
        "weight_type": hierarchy.type.name,
        "bytes": prepared.bytes_of(whole),
        "output": output,
    }
    show.timed_answer(rows, records.own_seconds(), as_json=as_json, verbose=verbose)
