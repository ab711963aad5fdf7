"""``groute-py nearest``: for each vertex the nearest of several facilities."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show, timing
from groute_py.cli.apart import check_outputs_apart
from groute_py.cli.options import graph_argument, options_from, reading_options
from groute_py.cli.places import NAMED, Ends, Where, place_options
from groute_py.cli.ranks import connected
from groute_py.cli.reading import read_whole
from groute_py.cli.resumable import refuse_resume, resume_option, stored
from groute_py.cli.trace import begin_trace, check_trace, trace_option, write_trace
from groute_py.engine.options import Options
from groute_py.many.storage.folder import check_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns
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
def nearest(
    graph: str,
    facilities: str,
    k: int,
    to_facility: bool,
    output: str,
    resume: bool,
    trace: str | None,
    undirected: bool,
    columns: Columns,
    cache: Any,
    where: Where,
    as_json: bool,
    **choices: Any,
) -> None:
    """The nearest of several facilities for each vertex of GRAPH, or the K nearest.

    Saved are the facility, its distance, and the next vertex on the path. Of facilities that are
    equally near, the one with the lowest id is taken. With -k what is finished when a run ends
    early stays in OUTPUT.partial, for --resume.
    """
    timing.begin("import")
    from groute_py.comm.agree import on_root
    from groute_py.jobs.nearest import solve_nearest

    options, ends = Options(**choices), Ends(graph, where)
    channel = connected(options.time_limit_s)
    timing.begin("solve")
    named = {"--facilities": facilities}
    inputs, outputs = (
        ends.inputs(named, turns=options.turns),
        {"--output": output, "--trace": trace},
    )

    def check() -> None:
        check_outputs_apart(inputs, outputs)
        check_trace(trace)
        _check(options, k, output, resume)
        ends.check(named, draws=False)

    on_root(channel, check)
    begin_trace(channel, trace)
    name, count = graph, 0

    def load() -> tuple[Graph, NDArray[Any]]:
        nonlocal name, count
        reading = {"undirected": undirected, "columns": columns, "cache": cache}
        whole = read_whole(graph, **reading, turns=options.turns)
        found = ends.vertices("--facilities", facilities, whole, "facility")
        name, count = whole.name, len(found)
        return whole, found

    many = k > 1
    kept = stored(channel, Path(output), "facilities", resume=resume) if many else nullcontext()
    with kept as keep:
        with show.row_progress("facilities") if many else nullcontext() as progress:
            way: dict[str, Any] = {"k": k, "to_facility": to_facility}
            found = solve_nearest(channel, load, options, **way, progress=progress, keep=keep)
        timing.begin("write")
        on_root(channel, lambda: _save(found, output))
    write_trace(channel, trace)
    seconds = timing.seconds_of(channel)
    if found is not None:
        new = {} if keep is None else {"solved_now": len(keep.missing)}
        rows = _rows(name, found, count, output) | new | ends.rows(as_json=as_json)
        show.timed_answer(rows, seconds, as_json=as_json)


def _check(options: Options, k: int, output: str, resume: bool) -> None:
    """Whatever can be known to be wrong before the graph is read."""
    from groute_py.jobs.nearest import check_k
    from groute_py.results.tables import check_table

    options.check()
    check_k(k)
    check_table(Path(output), (".npz",))
    if k > 1:
        check_folder(Path(output))
    elif resume:
        refuse_resume("-k")


def _save(found: NearestFacilities | None, output: str) -> None:
    assert found is not None
    found.save(output)


def _rows(name: str, found: NearestFacilities, count: int, output: str) -> dict[str, Any]:
    reached = found.distances[found.reached]
    nearest = found.reached if found.reached.ndim == 1 else found.reached[:, 0]
    return {
        "graph": name,
        "vertices": len(found.distances),
        "facilities": count,
        "to_facility": found.to_facility,
        "reached": int(nearest.sum()),
        "greatest_distance": reached.max().item(),
        "on": ", ".join(sorted(set(found.statistics["devices"]))),
        "output": output,
        **show.attribution(found.attribution),
    }
