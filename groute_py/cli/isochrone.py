"""``groute-py isochrone``: what lies within limits of some sources."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show, timing
from groute_py.cli.apart import check_outputs_apart
from groute_py.cli.number import number
from groute_py.cli.options import graph_argument, options_from, reading_options
from groute_py.cli.places import NAMED, Ends, Where, place_options
from groute_py.cli.ranks import connected
from groute_py.cli.reading import read_whole
from groute_py.cli.resumable import refuse_resume, resume_option, stored
from groute_py.engine.options import Options
from groute_py.errors import InputError, quote
from groute_py.many.storage.folder import check_folder
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from groute_py.io.tables.columns import Columns
    from groute_py.jobs.isochrone import Given
    from groute_py.jobs.isochrones import Isochrones
    from groute_py.many.apsp import Progress


@click.command()
@graph_argument
@click.option(*("--from", "sources"), required=True, metavar="WHICH", help=f"The sources: {NAMED}.")
@click.option(
    "--limits",
    required=True,
    metavar="LIMIT,…",
    help="The greatest distances, in units of weight, such as 300,600,900.",
)
@click.option("--each", is_flag=True, help="Find the reach of each source, instead of any.")
@place_options
@options_from(Options, "isochrone")
@click.option(
    "-o", "--output", required=True, help="Save the answer: .csv .parquet .geojson .html .png."
)
@click.option(
    "--features",
    metavar="[vertices|arcs|bands]",
    help="What the file lists.  [vertices in tables, bands in .geojson]",
)
@click.option(
    "--margin",
    type=float,
    metavar="DISTANCE",
    help="How far from roads bands reach: metres, or units of the plane.  [as an arc is long]",
)
@resume_option
@reading_options
def isochrone(
    graph: str,
    sources: str,
    limits: str,
    each: bool,
    output: str,
    features: str | None,
    margin: float | None,
    resume: bool,
    undirected: bool,
    columns: Columns,
    cache: Any,
    where: Where,
    as_json: bool,
    **choices: Any,
) -> None:
    """What lies within limits of some sources in GRAPH: vertices, arcs, areas, a map.

    Arcs are cut where a limit falls. Areas hold what is near a part of an arc within reach, and
    nothing else. With --each what is finished when a run ends early stays in OUTPUT.partial, for
    --resume.
    """
    timing.begin("import")
    from groute_py.comm.agree import on_root
    from groute_py.jobs.isochrone import solve_isochrone
    from groute_py.maps.isochrone_files import needs_places

    options, ends = Options(**choices), Ends(graph, where)
    channel = connected(options.time_limit_s)
    timing.begin("solve")
    named = {"--from": sources}

    def check() -> tuple[tuple[float, ...], str]:
        check_outputs_apart(ends.inputs(named, turns=options.turns), {"--output": output})
        listed = _check(options, output, features, margin)
        if each:
            check_folder(Path(output))
        elif resume:
            refuse_resume("--each")
        ends.check(named, draws=True)
        return _limits(limits), listed

    wanted, listed = on_root(channel, check)

    def load() -> Given:
        reading: dict[str, Any] = {"undirected": undirected, "columns": columns, "cache": cache}
        whole = read_whole(graph, **reading, turns=options.turns)
        with phase("read"):
            found = ends.vertices("--from", sources, whole, "source")
            needed = needs_places(Path(output)) or where.planar
            places = ends.places(whole) if needed or ends.has_places(whole) else None
        return whole, found, places

    kept = stored(channel, Path(output), "sources", resume=resume) if each else nullcontext()
    # one solve has no part that is done before it is
    solving = show.row_progress("isochrones, by sources") if each else nullcontext()
    with kept as keep:
        with solving as progress:
            how: dict[str, Any] = {"each": each, "progress": progress, "keep": keep}
            found = solve_isochrone(channel, load, wanted, options, **how)
        timing.begin("write")
        with show.row_progress("writing, by sources") if each else nullcontext() as progress:
            on_root(channel, lambda: _save(found, output, listed, margin, progress))
    seconds = timing.seconds_of(channel)
    if found is not None:
        new = {} if keep is None else {"solved_now": len(keep.missing)}
        rows = _rows(found, each, output) | new | ends.rows(as_json=as_json)
        show.timed_answer(rows, seconds, as_json=as_json)


def _limits(text: str) -> tuple[float, ...]:
    from groute_py.jobs.isochrone import as_limits

    try:
        return as_limits([number(word.strip()) for word in text.split(",")])
    except ValueError as problem:
        raise InputError(f"--limits {quote(text)}: {problem}") from None


def _check(options: Options, output: str, features: str | None, margin: float | None) -> str:
    """What the file will list; an error for whatever is wrong before the graph is read."""
    from groute_py.jobs.isochrones import check_margin
    from groute_py.maps.isochrone_files import MAPS, check_form

    options.check()
    check_margin(margin)
    listed = check_form(Path(output), features)
    if margin is not None and Path(output).suffix not in MAPS and listed != "bands":
        raise InputError(f"--margin is of areas, and {output} lists {listed}; leave it out")
    return listed


def _save(
    found: Isochrones | None,
    output: str,
    features: str,
    margin: float | None,
    progress: Progress | None,
) -> None:
    from groute_py.maps.isochrone_files import write

    assert found is not None
    write(found, Path(output), features, margin, progress)


def _rows(found: Isochrones, each: bool, output: str) -> dict[str, Any]:
    return {
        "graph": found.graph.name,
        "vertices": found.graph.vertex_count,
        "sources": len(found.sources),
        "each": each,
        "limits": list(found.limits),
        "reached": found.counts,
        "on": ", ".join(sorted(set(found.statistics["devices"]))),
        "output": output,
        **show.attribution(found.attribution),
    }
