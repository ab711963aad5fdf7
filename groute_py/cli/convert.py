"""``groute-py convert``, ``generate`` and ``prepare``: a graph as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import records, show
from groute_py.cli.options import column_options, device_option, graph_argument, reading_options
from groute_py.cli.outputs import check_outputs_apart
from groute_py.cli.ranks import on_rank_0, read_graph
from groute_py.errors import InputError
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@column_options
@click.option(
    "--coordinates",
    metavar="FILE",
    help="Where the vertices lie: DIMACS .co, or a table of vertices with columns id and x y or "
    "lon lat (.csv .tsv .parquet); kept in a .csr.  [the .co beside a .gr]",
)
@click.option(
    "--planar", is_flag=True, help="A .co file has x and y on a plane, not millionths of a degree."
)
@click.option(
    "--sort-rows", is_flag=True, help="Sort each row by weight, as frontier-dijkstra wants it."
)
@on_rank_0
def convert(
    source: str,
    target: str,
    columns: Columns,
    coordinates: str | None,
    planar: bool,
    sort_rows: bool,
) -> None:
    """Read FROM, whatever it holds, and write TO in the format of its suffix.

    FROM may be an extract of OpenStreetMap, .osm.pbf or .osm; see --profile.

    TO is .csr (our binary form, read back in no time), .gr (DIMACS text), .mtx (Matrix Market),
    .csv .tsv .txt .el .wel .e (edge lists), .graph (METIS), .sg .wsg (GAPBS), .galois (Galois
    binary), .npz (SciPy), .parquet or .mat (dense matrix). Texts, .sg, .wsg and .galois may have
    .gz, .xz, .zst or .bz2 behind.
    """
    from groute_py.graph.ids import Numbering
    from groute_py.graph.symmetrize import with_ascending_rows
    from groute_py.io.coordinates import coordinates_beside
    from groute_py.io.registry import write_graph, written_form
    from groute_py.system.atomic_file import check_writable

    form = written_form(Path(target))
    first = form.first_id
    check_writable(Path(target))
    if (coordinates is not None or planar) and not form.keeps_columns:
        raise InputError(f"{target} would hold no coordinates; write .csr")
    if planar and coordinates is None and coordinates_beside(source) is None:
        raise InputError("--planar is for coordinates in a file; name it by --coordinates")
    graph = read_graph(source, columns, cache=False)
    if form.keeps_columns:
        graph = _with_places(graph, source, coordinates, planar=planar)
    if sort_rows:
        graph = with_ascending_rows(graph)
    with phase("write"):
        write_graph(graph, target)
    show.note(f"{graph.vertex_count:,} vertices, {graph.arc_count:,} arcs written to {target}")
    if graph.columns:
        names = ", ".join(graph.columns)
        show.note(f"weights are {graph.column or 'not among the columns'}; columns: {names}")
    if graph.attribution:
        show.note(graph.attribution)
    if graph.reading is not None and graph.reading.comments:
        show.note(f"{graph.reading.comments:,} lines of comments were skipped in {source}")
    if first is not None and (graph.ids is not None or graph.first_id != first):
        now = Numbering(graph.vertex_count, first)
        show.note(f"vertices {graph.numbering} are {now} in {target}")


def _with_places(graph: Graph, source: str, named: str | None, *, planar: bool) -> Graph:
    """Add the coordinates in a file that is named, or lies beside the graph's."""
    from groute_py.io.coordinates import TABLE, coordinates_beside
    from groute_py.maps.places import places_of

    path = named or coordinates_beside(source)
    if path is None:
        return graph
    try:
        # the numbers of a table are kept, whatever they are
        places = places_of(graph, path, planar=planar or bool(TABLE.search(str(path))))
    except InputError as problem:
        if named is not None:
            raise
        show.note(f"coordinates are left out: {problem}")
        return graph
    return graph.changed(coordinates=places.coordinates)


@click.command()
@click.argument("spec")
@click.option(
    "-o", "--output", required=True, help="The file to write; its suffix chooses the format."
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="The seed of the random numbers."
)
@on_rank_0
def generate(spec: str, output: str, seed: int) -> None:
    """Write the generated graph SPEC to a file.

    SPEC is road:WxH, rmat:SCALE[,EDGEFACTOR] or random:N,M.
    """
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


@click.command()
@graph_argument
@click.option("-o", "--output", required=True, help="The file to write, which ends in .prepared.")
@device_option
@click.option(
    "--separators",
    is_flag=True,
    help="Order it by separators too, for pairs, matrices and weights that change.",
)
@reading_options
@on_rank_0
def prepare(
    graph: str,
    output: str,
    device: str,
    separators: bool,
    columns: Columns,
    cache: Any,
    as_json: bool,
    verbose: bool,
) -> None:
    """Contract GRAPH once, and write it with its hierarchy to a file that stands for it.

    Solves of the file take less time. Roads, meshes and trees suit; with another graph the command
    says why, and ends with code 2.
    """
    records.begin("import")
    from groute_py.device.registry import kind_of
    from groute_py.engine.algorithms.methods import CONTRACTION
    from groute_py.engine.preparing import NOW, read_prepared, with_order
    from groute_py.io.formats import prepared
    from groute_py.io.registry import write_graph
    from groute_py.source.graph_source import GraphSource
    from groute_py.system.atomic_file import check_writable

    if not output.endswith(prepared.SUFFIX):
        raise InputError(f"{output}: a prepared graph is written as {prepared.SUFFIX}")
    check_outputs_apart({"GRAPH": graph}, {"--output": output})
    check_writable(Path(output))
    with phase("device"):
        kind = kind_of(device, CONTRACTION.devices)
    with show.progress(f"reading {graph}") as progress:
        source = GraphSource(graph, columns, cache=cache, prepare=True, progress=progress)
        whole, reason = read_prepared(source, kind)
    if separators:
        whole = with_order(whole, source.orders)
    with phase("write"):
        write_graph(whole, output)
    hierarchy = whole.hierarchy
    sparse = f"{whole.arc_count / whole.vertex_count:.1f} arcs a vertex, and it stayed sparse"
    rows = {
        **show.size(whole),
        "method": "contraction",
        "reason": reason.replace(NOW, sparse),
        "device": kind,
        **show.hierarchy(hierarchy),
        "weight_type": hierarchy.type.name,
        "bytes": prepared.bytes_of(whole),
        "output": output,
    }
    show.timed_answer(rows, records.own_seconds(), as_json=as_json, verbose=verbose)
