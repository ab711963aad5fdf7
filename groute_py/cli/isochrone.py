"""``groute-py isochrone``: what lies within limits of some sources."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli.options import NAMED, job_options, number
from groute_py.cli.runner import Runner
from groute_py.errors import InputError, everywhere, quote

if TYPE_CHECKING:
    from groute_py.graph.csr import Graph
    from groute_py.jobs.isochrones import Isochrones
    from groute_py.maps.places import Places


@click.command()
@job_options(
    "isochrone",
    click.option(
        *("--from", "sources"), required=True, metavar="WHICH", help=f"The sources: {NAMED}."
    ),
    click.option(
        "--limits",
        required=True,
        metavar="LIMIT,…",
        help="The greatest distances, in units of weight, such as 300,600,900.",
    ),
    click.option("--each", is_flag=True, help="Find the reach of each source, instead of any."),
    output="Save the answer: .csv .parquet .geojson .html .png.",
    more=(
        click.option(
            "--features",
            metavar="[vertices|arcs|bands]",
            help="What the file lists.  [vertices in tables, bands in .geojson]",
        ),
        click.option(
            "--margin",
            type=float,
            metavar="DISTANCE",
            help="How far from roads bands reach: metres, or units of the plane.  "
            "[as an arc is long]",
        ),
    ),
)
def isochrone(
    graph: str,
    sources: str,
    limits: str,
    each: bool,
    features: str | None,
    margin: float | None,
    **given: Any,
) -> None:
    """What lies within limits of some sources in GRAPH: vertices, arcs, areas, a map.

    Arcs are cut where a limit falls. Areas hold what is near a part of an arc within reach, and
    nothing else. With --each what is finished when a run ends early stays in OUTPUT.partial, for
    --resume.
    """
    run = Runner("isochrone", graph, given, {"--from": sources})
    from groute_py.jobs.isochrone import IsochroneJob
    from groute_py.maps.isochrone_files import check_form, needs_places, write

    output, where = Path(str(run.output)), run.where

    def check() -> None:
        _check_margin(output, features, margin)
        if not each:
            run.refuse_resume("--each")

    def places(whole: Graph) -> Places | None:
        needed = needs_places(output) or where.planar
        return run.ends.places(whole) if needed or run.ends.has_places(whole) else None

    def save(found: Isochrones) -> None:
        with show.row_progress("writing, by sources") if each else nullcontext() as progress:
            write(found, output, check_form(output, features), margin, progress)

    within = _limits(limits)
    job = IsochroneJob(run.vertices("--from", "source"), within, each, where.planar, places)
    run.begin(job, check, keeps=each, draws=True)
    unit = "sources" if each else ""
    found = run.answer(job, save, unit, "isochrones, by sources")
    run.show(lambda: _rows(run, each, found))


def _limits(text: str) -> list[int | float]:
    """Return the numbers of ``--limits``, on every rank."""
    try:
        return [number(word.strip()) for word in text.split(",")]
    except ValueError as problem:
        raise everywhere(InputError(f"--limits {quote(text)}: {problem}")) from None


def _check_margin(output: Path, features: str | None, margin: float | None) -> None:
    from groute_py.jobs.isochrones import check_margin
    from groute_py.maps.isochrone_files import MAPS, check_form

    check_margin(margin)
    listed = check_form(output, features)
    if margin is not None and output.suffix not in MAPS and listed != "bands":
        raise InputError(f"--margin is of areas, and {output} lists {listed}; leave it out")


def _rows(run: Runner, each: bool, found: Isochrones | None) -> dict[str, Any]:
    assert found is not None
    return {
        "graph": found.graph.name,
        "vertices": found.graph.vertex_count,
        "sources": len(found.sources),
        "each": each,
        "limits": list(found.limits),
        "reached": found.counts,
        "on": ", ".join(sorted(set(found.statistics["devices"]))),
        "output": run.output,
        **show.attribution(found.attribution),
    }
