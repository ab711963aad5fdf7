"""``groute-py nearest``: for each vertex the nearest of several facilities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli.options import NAMED, job_options
from groute_py.cli.runner import Runner

if TYPE_CHECKING:
    from groute_py.jobs.facilities import NearestFacilities


@click.command()
@job_options(
    "nearest",
    click.option("--facilities", required=True, metavar="WHICH", help=f"The facilities: {NAMED}."),
    click.option(
        "-k",
        default=1,
        show_default=True,
        metavar="COUNT",
        help="Find the COUNT nearest facilities.",
    ),
    click.option(
        "--to-facility", is_flag=True, help="Paths lead to the facilities, instead of from them."
    ),
    output="Save the answer: .npz .csv .parquet.",
)
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
        if k == 1:
            run.refuse_resume("-k")

    output = str(run.output)
    job = NearestJob(run.vertices("--facilities", "facility"), k, to_facility)
    run.begin(job, check, keeps=k > 1)
    unit = "facilities" if k > 1 else ""
    answer = run.answer(job, lambda answer: answer.save(output), unit, "facilities")
    run.show(lambda: _rows(run, answer))


def _rows(run: Runner, answer: NearestFacilities | None) -> dict[str, Any]:
    assert answer is not None
    reached = answer.distances[answer.reached]
    nearest = answer.reached if answer.reached.ndim == 1 else answer.reached[:, 0]
    return {
        "graph": run.opened.graph().name,
        "vertices": len(answer.distances),
        "facilities": run.ends.counts["facility"],
        "to_facility": answer.to_facility,
        "reached": int(nearest.sum()),
        "greatest_distance": reached.max().item(),
        "on": ", ".join(sorted(set(answer.statistics["devices"]))),
        "output": run.output,
        **show.attribution(answer.attribution),
    }
