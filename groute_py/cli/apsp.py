"""``groute-py apsp``: shortest paths from all vertices, or from many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.arguments import check_choice
from groute_py.cli import show, timing
from groute_py.cli.apart import check_outputs_apart
from groute_py.cli.options import (
    cache_options,
    column_options,
    graph_argument,
    json_option,
    options_from,
    undirected_option,
)
from groute_py.cli.places import NAMED, Ends, Where, place_options
from groute_py.cli.ranks import connected
from groute_py.cli.reading import read_for_rows
from groute_py.cli.resumable import resume_option, save_rows
from groute_py.cli.size import MEMORY, size_of
from groute_py.cli.trace import begin_trace, check_trace, trace_option, write_trace
from groute_py.errors import InputError
from groute_py.many.request import Request

if TYPE_CHECKING:
    from groute_py.comm.base import Channel
    from groute_py.io.tables.columns import Columns
    from groute_py.many.apsp import Job, Progress
    from groute_py.many.reduce import Reduction


@click.command()
@graph_argument
@click.option(
    "--sources",
    default="all",
    show_default=True,
    help=f"The sources: {NAMED}.",
)
@place_options
@options_from(Request, "apsp", memory_limit={"help": MEMORY})
@click.option(
    "--reduce",
    "what",
    default="none",
    show_default=True,
    help="Instead of rows: none, sum, max or histogram.",
)
@click.option("-o", "--output", help="Save all rows: .npy .npz .zarr.")
@resume_option
@trace_option
@column_options
@undirected_option
@cache_options
@json_option
def apsp(
    graph: str,
    sources: str,
    what: str,
    output: str | None,
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
    """Shortest paths from all vertices of GRAPH, or from many, to all.

    Rows are saved as they are found (--output), reduced to a few numbers (--reduce), or only
    counted. What is finished when a run ends early stays in OUTPUT.partial, for --resume.
    """
    timing.begin("import")
    from groute_py.comm.agree import on_root
    from groute_py.many.apsp import Loaded, prepare

    channel = connected()
    choices["memory_limit"] = on_root(channel, lambda: size_of(memory_limit))
    request = Request(**choices, destination="nowhere" if output is None else "file")
    named, ends = {"--sources": sources}, Ends(graph, where)
    inputs = ends.inputs(named, turns=request.turns)
    outputs = {"--output": output, "--trace": trace}

    def check() -> None:
        check_outputs_apart(inputs, outputs)
        check_trace(trace)
        _check(request, what, output, resume)
        ends.check(named, draws=False)

    on_root(channel, check)
    begin_trace(channel, trace)

    def load() -> Loaded:
        reading = {"undirected": undirected, "columns": columns, "cache": cache}
        whole, _, why, file = read_for_rows(request, graph, **reading)
        begins = None
        if sources != "all":
            begins = ends.vertices("--sources", sources, whole, "source")
        return Loaded(whole, begins, why, file)

    timing.begin("plan")
    job = prepare(channel, load, request)
    timing.begin("solve")
    with show.row_progress(f"{job.choice.algorithm}, {len(job.sources):,} sources") as progress:
        if output is not None and what == "none":
            rows = save_rows(channel, job, Path(output), resume, progress)
        else:
            rows = _reduce(channel, job, what, progress)
    write_trace(channel, trace)
    seconds = timing.seconds_of(channel)
    if channel.rank == 0:
        _show(job, rows | ends.rows(as_json=as_json), seconds, as_json)


def _check(request: Request, what: str, output: str | None, resume: bool) -> None:
    """Whatever can be known to be wrong before the graph is read."""
    from groute_py.many.reduce import REDUCTIONS
    from groute_py.many.storage.forms import check_output

    check_choice("reduction", what, REDUCTIONS)
    if output is not None and what != "none":
        raise InputError("--reduce keeps no rows to save; drop it, or --output")
    if output is None and request.predecessors:
        raise InputError("--paths saves predecessors beside the rows; name an --output, or drop it")
    if request.turns is not None and (output is None or what != "none"):
        raise InputError("with --turns rows are saved, not reduced or counted; name an --output")
    if resume and output is None:
        raise InputError("--resume goes on with an --output; name it")
    if output is not None:
        check_output(Path(output), predecessors=request.predecessors)


def _reduce(channel: Channel, job: Job, what: str, progress: Progress | None) -> dict[str, Any]:
    from groute_py.device.summary import Wanted
    from groute_py.many.apsp import reduce

    wanted = Wanted(sums=what == "sum", histogram=what == "histogram")
    found = reduce(channel, job, wanted, progress=progress)
    if found is None:
        return {}
    reduction, label = found
    rows: dict[str, Any] = {"on": label, "reached_pairs": int(reduction.reached.sum())}
    if what == "sum":
        rows["sum_of_distances"] = show.finite(sum(reduction.sums.tolist()))
    if what == "max":
        rows |= _farthest(job, reduction)
    if what == "histogram":
        rows["histogram"] = [list(bin) for bin in reduction.histogram]
    return rows


def _farthest(job: Job, reduction: Reduction) -> dict[str, Any]:
    row = int(reduction.greatest.argmax())
    numbering = job.graph.numbering
    return {
        "greatest_distance": reduction.greatest[row].item(),
        "from": numbering.id_of(int(job.sources[row])),
        "to": numbering.id_of(int(reduction.farthest[row])),
    }


def _show(job: Job, rows: dict[str, Any], seconds: dict[str, float], as_json: bool) -> None:
    facts = job.facts
    answer: dict[str, Any] = {
        "graph": facts.name,
        "vertices": facts.vertex_count,
        "arcs": facts.arc_count,
        "sources": len(job.sources),
        "algorithm": job.choice.algorithm,
        "reason": job.choice.reason,
        **rows,
        **show.attribution(job.attribution),
    }
    if not as_json and "histogram" in answer:
        parts = (f"{a:g} to {b:g}: {count:,}" for a, b, count in answer["histogram"])
        answer["histogram"] = "; ".join(parts)
    show.timed_answer(answer, seconds, as_json=as_json)
