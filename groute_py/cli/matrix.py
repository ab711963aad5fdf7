"""``groute-py matrix``: the distances between some sources and some targets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show, timing
from groute_py.cli.apart import check_outputs_apart
from groute_py.cli.options import graph_argument, options_from, reading_options
from groute_py.cli.places import NAMED, Ends, Where, place_options
from groute_py.cli.ranks import connected
from groute_py.cli.reading import read_for_rows
from groute_py.cli.resumable import resume_option, save_rows
from groute_py.cli.size import MEMORY, size_of
from groute_py.cli.trace import begin_trace, check_trace, trace_option, write_trace
from groute_py.many.request import Request

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns
    from groute_py.many.apsp import Job


@click.command()
@graph_argument
@click.option(
    *("--from", "sources"),
    required=True,
    metavar="WHICH",
    help=f"The sources: {NAMED}.",
)
@click.option(
    "--to", "targets", required=True, metavar="WHICH", help="The targets, named as the sources."
)
@place_options
@options_from(Request, "matrix", memory_limit={"help": MEMORY})
@click.option(
    "-o", "--output", required=True, help="Save the matrix: .npy .npz .zarr .parquet .csv."
)
@resume_option
@trace_option
@reading_options
def matrix(
    graph: str,
    sources: str,
    targets: str,
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
    """Distances in GRAPH from some sources to some targets, saved as a matrix or a table.

    Only the columns of the targets are kept, and leave a GPU. What is finished when a run ends
    early stays in OUTPUT.partial, for --resume.
    """
    timing.begin("import")
    from groute_py.comm.agree import on_root
    from groute_py.many.apsp import Loaded, prepare

    channel = connected()
    choices["memory_limit"] = on_root(channel, lambda: size_of(memory_limit))
    request = Request(**choices, destination="nowhere")
    named, ends = {"--from": sources, "--to": targets}, Ends(graph, where)
    inputs = ends.inputs(named, turns=request.turns)
    outputs = {"--output": output, "--trace": trace}

    def check() -> None:
        check_outputs_apart(inputs, outputs)
        check_trace(trace)
        _check(request, output)
        ends.check(named, draws=False)

    on_root(channel, check)
    begin_trace(channel, trace)

    def load() -> Loaded:
        reading = {"undirected": undirected, "columns": columns, "cache": cache}
        whole, _, why, file = read_for_rows(request, graph, **reading)
        return Loaded(whole, ends.vertices("--from", sources, whole, "source"), why, file)

    def targets_in(whole: Graph) -> NDArray[Any]:
        return ends.vertices("--to", targets, whole, "target")

    timing.begin("plan")
    job = prepare(channel, load, request, targets_in)
    timing.begin("solve")
    with show.row_progress(f"{job.choice.algorithm}, {len(job.sources):,} sources") as progress:
        rows = save_rows(channel, job, Path(output), resume, progress, ends.points)
    write_trace(channel, trace)
    seconds = timing.seconds_of(channel)
    if channel.rank == 0:
        _show(job, rows | ends.rows(as_json=as_json), seconds, as_json)


def _check(request: Request, output: str) -> None:
    """Whatever can be known to be wrong before the graph is read."""
    from groute_py.many.storage.forms import SUFFIXES, check_output
    from groute_py.results import tables

    request.check()
    suffixes = (*SUFFIXES, *tables.SUFFIXES)
    check_output(Path(output), predecessors=request.predecessors, suffixes=suffixes)


def _show(job: Job, rows: dict[str, Any], seconds: dict[str, float], as_json: bool) -> None:
    facts = job.facts
    answer: dict[str, Any] = {
        "graph": facts.name,
        "vertices": facts.vertex_count,
        "arcs": facts.arc_count,
        "sources": len(job.sources),
        "targets": job.width,
        "algorithm": job.choice.algorithm,
        "reason": job.choice.reason,
        **rows,
        **show.attribution(job.attribution),
    }
    show.timed_answer(answer, seconds, as_json=as_json)
