"""``groute-py prepare``: a graph and its contraction hierarchy in one file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli.alone import on_rank_0
from groute_py.cli.options import (
    cache_options,
    cache_value,
    column_options,
    graph_argument,
    json_option,
    undirected_option,
)
from groute_py.errors import InputError

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
@column_options
@undirected_option
@cache_options
@json_option
def prepare(
    graph: str,
    output: str,
    device: str,
    undirected: bool,
    columns: Columns,
    cache: Any,
    as_json: bool,
) -> None:
    """Contract GRAPH once, and write it with its hierarchy to a file that stands for it.

    Solves of the file take less time. Roads, meshes and trees suit; with another graph the command
    says why, and ends with code 2.
    """

    def work() -> None:
        from groute_py.algorithms import contraction
        from groute_py.device.registry import kind_of
        from groute_py.engine.preparing import prepare_whole
        from groute_py.interop.graph_like import as_graph
        from groute_py.io.formats import prepared
        from groute_py.io.registry import write_graph
        from groute_py.system.atomic_file import check_apart, check_writable

        start = time.monotonic()
        if not output.endswith(prepared.SUFFIX):
            raise InputError(f"{output}: a prepared graph is written as {prepared.SUFFIX}")
        check_apart({"GRAPH": graph, "--output": output})
        check_writable(Path(output))
        kind = kind_of(device, contraction.ALGORITHM.devices)
        with show.progress(f"reading {graph}") as progress:
            read = as_graph(
                graph,
                undirected=undirected,
                cache=cache_value(cache),
                progress=progress,
                columns=columns,
            )
        read_s = time.monotonic() - start
        whole = prepare_whole(read, kind)
        contract_s = time.monotonic() - start - read_s
        write_graph(whole, output)
        hierarchy = whole.hierarchy
        degree = whole.arc_count / whole.vertex_count
        total_s = time.monotonic() - start
        rows: dict[str, Any] = {
            "graph": whole.name,
            "vertices": whole.vertex_count,
            "arcs": whole.arc_count,
            "method": "contraction",
            "reason": f"{degree:.1f} arcs a vertex, and it stayed sparse",
            "device": kind,
            "levels": len(hierarchy.levels) - 1,
            "core": hierarchy.core_count,
            "core_arcs": len(hierarchy.core_heads),
            "arcs_upward": hierarchy.arc_count,
            "weight_type": hierarchy.type.name,
            "bytes": prepared.bytes_of(whole),
            "output": output,
            "seconds": {
                "read": read_s,
                "contract": contract_s,
                "write": total_s - read_s - contract_s,
                "total": total_s,
            },
        }
        if not as_json:
            seconds = rows.pop("seconds")
            rows["time"] = ", ".join(f"{phase} {1e3 * s:.1f} ms" for phase, s in seconds.items())
        show.answer(rows, as_json=as_json)

    on_rank_0(work)
