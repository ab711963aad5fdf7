"""``groute-py apsp``: shortest paths from all vertices, or from many."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.arguments import check_choice
from groute_py.cli import show
from groute_py.cli.options import graph_argument, options_from, reading_options
from groute_py.cli.places import NAMED, place_options
from groute_py.cli.resumable import resume_option
from groute_py.cli.row_answer import Answer, rows_of, save, with_bar
from groute_py.cli.runner import Runner
from groute_py.cli.size import MEMORY
from groute_py.cli.trace import trace_option
from groute_py.engine.options import Options
from groute_py.errors import InputError

if TYPE_CHECKING:
    from groute_py.comm.base import Channel
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
@options_from(Options, "apsp", memory_limit={"help": MEMORY})
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
@reading_options
def apsp(graph: str, sources: str, what: str, **given: Any) -> None:
    """Shortest paths from all vertices of GRAPH, or from many, to all.

    Rows are saved as they are found (--output), reduced to a few numbers (--reduce), or only
    counted. What is finished when a run ends early stays in OUTPUT.partial, for --resume.
    """
    run = Runner("apsp", graph, given, {"--sources": sources})
    from groute_py.jobs.rows import RowsJob

    begins = None if sources == "all" else run.vertices("--sources", "source")
    is_saved = run.output is not None and what == "none"
    deliver = partial(with_bar, partial(save, run) if is_saved else partial(_reduce, what))
    destination = "nowhere" if run.output is None else "file"
    job = RowsJob("apsp", begins, deliver, destination=destination, **run.options.of_rows())
    run.begin(job, lambda: _check(run, what))
    answer = run.plan(job)
    run.show(lambda: _rows(run, answer))


def _check(run: Runner, what: str) -> None:
    """Check the options before the graph is read."""
    from groute_py.many.reduce import REDUCTIONS
    from groute_py.many.storage.forms import check_output

    output, options = run.output, run.options
    check_choice("reduction", what, REDUCTIONS)
    if output is not None and what != "none":
        raise InputError("--reduce keeps no rows to save; drop it, or --output")
    if output is None and options.predecessors:
        raise InputError("--paths saves predecessors beside the rows; name an --output, or drop it")
    if options.turns is not None and (output is None or what != "none"):
        raise InputError("with --turns rows are saved, not reduced or counted; name an --output")
    if run.resumes and output is None:
        raise InputError("--resume goes on with an --output; name it")
    if output is not None:
        check_output(Path(output), predecessors=options.predecessors)


def _reduce(what: str, channel: Channel, job: Job, progress: Progress | None) -> dict[str, Any]:
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


def _rows(run: Runner, answer: Answer) -> dict[str, Any]:
    rows = rows_of(answer)
    if not run.as_json and "histogram" in rows:
        parts = (f"{a:g} to {b:g}: {count:,}" for a, b, count in rows["histogram"])
        rows["histogram"] = "; ".join(parts)
    return rows
