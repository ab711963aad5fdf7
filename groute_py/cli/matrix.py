"""``groute-py matrix``: the distances between some sources and some targets."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from groute_py.cli.options import graph_argument, options_from, reading_options
from groute_py.cli.places import NAMED, place_options
from groute_py.cli.resumable import resume_option
from groute_py.cli.row_answer import rows_of, save, with_bar
from groute_py.cli.runner import Runner
from groute_py.cli.size import MEMORY
from groute_py.cli.trace import trace_option
from groute_py.engine.options import Options


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
@options_from(Options, "matrix", memory_limit={"help": MEMORY})
@click.option(
    "-o", "--output", required=True, help="Save the matrix: .npy .npz .zarr .parquet .csv."
)
@resume_option
@trace_option
@reading_options
def matrix(graph: str, sources: str, targets: str, **given: Any) -> None:
    """Distances in GRAPH from some sources to some targets, saved as a matrix or a table.

    Only the columns of the targets are kept, and leave a GPU. What is finished when a run ends
    early stays in OUTPUT.partial, for --resume.
    """
    run = Runner("matrix", graph, given, {"--from": sources, "--to": targets})
    from groute_py.jobs.rows import RowsJob
    from groute_py.many.storage.forms import SUFFIXES, check_output
    from groute_py.results import tables

    output, suffixes = Path(str(run.output)), (*SUFFIXES, *tables.SUFFIXES)
    begins, ends = run.vertices("--from", "source"), run.vertices("--to", "target")
    deliver = partial(with_bar, partial(save, run))
    job = RowsJob("matrix", begins, deliver, ends, **run.options.of_rows())
    predecessors = run.options.predecessors
    run.begin(job, lambda: check_output(output, predecessors=predecessors, suffixes=suffixes))
    answer = run.plan(job)
    run.show(lambda: rows_of(answer, targets=answer.job.width))
