"""``groute-py route``: shortest paths between many pairs of vertices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show, timing
from groute_py.cli.apart import check_outputs_apart
from groute_py.cli.options import graph_argument, options_from, reading_options
from groute_py.cli.places import Ends, Where, place_options
from groute_py.cli.ranks import connected
from groute_py.cli.reading import read_whole
from groute_py.cli.resumable import resume_option, stored
from groute_py.cli.size import MEMORY, size_of
from groute_py.cli.trace import begin_trace, check_trace, trace_option, write_trace
from groute_py.many.request import Request
from groute_py.many.storage.folder import check_folder
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns
    from groute_py.jobs.routes import Routes
    from groute_py.maps.places import Places


@click.command()
@graph_argument
@click.option(
    "--pairs",
    required=True,
    metavar="FILE",
    help="The pairs: .p2p, or .csv of sources and targets, by their ids or as points.",
)
@place_options
@click.option("--paths", is_flag=True, help="Find the paths too.")
@options_from(Request, "route", memory_limit={"help": MEMORY})
@click.option(
    "-o", "--output", required=True, help="Save a line for each pair: .csv .parquet .geojson."
)
@resume_option
@trace_option
@reading_options
def route(
    graph: str,
    pairs: str,
    paths: bool,
    output: str,
    resume: bool,
    trace: str | None,
    undirected: bool,
    columns: Columns,
    cache: Any,
    where: Where,
    as_json: bool,
    memory_limit: str | None,
    **choices: Any,
) -> None:
    """Shortest paths in GRAPH between many pairs of vertices: distances, and paths on request.

    What is finished when a run ends early stays in OUTPUT.partial, for --resume.
    """
    timing.begin("import")
    from groute_py.comm.agree import on_root
    from groute_py.jobs.route import solve_routes

    channel = connected()
    choices["memory_limit"] = on_root(channel, lambda: size_of(memory_limit))
    request, ends = Request(**choices), Ends(graph, where)
    inputs = ends.inputs({}, pairs=pairs, turns=request.turns)
    outputs = {"--output": output, "--trace": trace}

    def check() -> None:
        check_outputs_apart(inputs, outputs)
        check_trace(trace)
        _check(request, ends, pairs, output)

    on_root(channel, check)
    begin_trace(channel, trace)
    drawn = _is_drawn(output)
    places: list[Places] = []
    name = graph

    def load() -> tuple[Graph, NDArray[Any]]:
        from groute_py.io.pairs import read_pairs_in

        nonlocal name
        reading = {"undirected": undirected, "columns": columns, "cache": cache}
        whole = read_whole(graph, **reading, turns=request.turns)
        name = whole.name
        with phase("read"):
            if drawn:
                places.append(ends.places(whole))
            if ends.has_point_pairs:
                return whole, ends.pairs(whole)
            return whole, read_pairs_in(Path(pairs), whole.numbering, whole.name)

    timing.begin("solve")
    with stored(channel, Path(output), "sources", resume=resume) as keep:
        with show.row_progress("routes, by sources") as progress:
            how: dict[str, Any] = {"paths": paths or drawn, "progress": progress, "keep": keep}
            routes = solve_routes(channel, load, request, **how)
        timing.begin("write")
        on_root(channel, lambda: _save(routes, output, places))
    write_trace(channel, trace)
    seconds = timing.seconds_of(channel)
    if routes is not None:
        rows = (
            _rows(name, routes, output)
            | {"solved_now": len(keep.missing)}
            | ends.rows(as_json=as_json)
        )
        show.timed_answer(rows, seconds, as_json=as_json)


def _check(request: Request, ends: Ends, pairs: str, output: str) -> None:
    """Whatever can be known to be wrong before the graph is read."""
    from groute_py.io.pairs import check_pairs_file
    from groute_py.results.tables import check_table

    request.check()
    check_pairs_file(Path(pairs))
    check_table(Path(output), (".geojson",))
    check_folder(Path(output))
    ends.check({}, pairs, draws=_is_drawn(output))


def _is_drawn(output: str) -> bool:
    """Whether the answer is lines on a map."""
    return Path(output).suffix == ".geojson"


def _save(routes: Routes | None, output: str, places: list[Places]) -> None:
    assert routes is not None
    if places:
        routes.save_lines(Path(output), places[0])
    else:
        routes.save(output)


def _rows(name: str, routes: Routes, output: str) -> dict[str, Any]:
    return {
        "graph": name,
        "vertices": routes.numbering.count,
        "pairs": len(routes.pairs),
        "sources": routes.statistics["sources"],
        "reached_pairs": int(routes.reached.sum()),
        "on": routes.statistics["device"],
        "output": output,
        **show.attribution(routes.attribution),
    }
