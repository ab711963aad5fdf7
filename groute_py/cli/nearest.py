"""``groute-py nearest``: for each vertex the nearest of several facilities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli.options import graph_argument, options_from, reading_options
from groute_py.cli.places import NAMED, place_options
from groute_py.cli.resumable import refuse_resume, resume_option
from groute_py.cli.runner import Runner
from groute_py.cli.trace import trace_option
from groute_py.engine.options import Options

if TYPE_CHECKING:
    from groute_py.jobs.facilities import NearestFacilities


@click.command()
@graph_argument
@click.option(
    "--facilities",
    required=True,
    metavar="WHICH",
    help=f"The facilities: {NAMED}.",
)
@place_options
@click.option(
    "-k", default=1, show_default=True, metavar="COUNT", help="Find the COUNT nearest facilities."
)
@click.option(
    "--to-facility", is_flag=True, help="Paths lead to the facilities, instead of from them."
)
@options_from(Options, "nearest")
@click.option("-o", "--output", required=True, help="Save the answer: .npz .csv .parquet.")
@resume_option
@trace_option
@reading_options
def nearest(graph: str, facilities: str, k: int, to_facility: bool, **given: Any) -> None:
    """The nearest of several facilities for each vertex of GRAPH.

    Saved are the facility, its distance, and the next vertex on the path. Of facilities that are
    equally near, the one with the lowest id is taken. With -k what is finished when a run ends
    early stays in OUTPUT.partial, for --resume.
    """
    run = Runner("nearest", graph, given, {"--facilities": facilities})
    from groute_py.jobs.nearest import NearestJob
    from groute_py.results.tables import check_table

    def check() -> None:
        check_table(Path(output), (".npz",))
        if run.resumes and k == 1:
            refuse_resume("-k")

    output = str(run.output)
    job = NearestJob(run.vertices("--facilities", "facility"), k, to_facility)
    run.begin(job, check, keeps=k > 1)
    unit = "facilities" if k > 1 else ""
    found = run.answer(job, lambda found: found.save(output), unit, "facilities")
    run.show(lambda: _rows(run, found))


def _rows(run: Runner, found: NearestFacilities | None) -> dict[str, Any]:
    assert found is not None
    reached = found.distances[found.reached]
    nearest = found.reached if found.reached.ndim == 1 else found.reached[:, 0]
    return {
        "graph": run.opened.graph().name,
        "vertices": len(found.distances),
        "facilities": run.ends.counts["facility"],
        "to_facility": found.to_facility,
        "reached": int(nearest.sum()),
        "greatest_distance": reached.max().item(),
        "on": ", ".join(sorted(set(found.statistics["devices"]))),
        "output": run.output,
        **show.attribution(found.attribution),
    }
