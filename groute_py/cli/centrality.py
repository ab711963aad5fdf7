"""``groute-py centrality``: centralities of vertices and arcs, and measures of distance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.arguments import check_choice
from groute_py.cli import show, timing
from groute_py.cli.options import graph_argument, no_turns, reading_options
from groute_py.cli.reading import read_whole
from groute_py.cli.size import size_of
from groute_py.cli.watch import watched
from groute_py.errors import InputError

if TYPE_CHECKING:
    from groute_py.centrality.accumulation import Accumulated
    from groute_py.centrality.choices import Choices
    from groute_py.centrality.distances import Reduced
    from groute_py.centrality.scores import ArcScores, Scores

VERTICES = ("closeness", "harmonic", "eccentricity")
COUNTED = ("betweenness", "edge-betweenness")
NUMBERS = ("diameter", "radius", "mean")
MEASURES = (*VERTICES, *COUNTED, *NUMBERS)
"""Measures of single rows of distances, of all shortest paths, and of all distances together."""

WITHOUT = {
    "normalized": ("eccentricity", *NUMBERS),
    "reverse": COUNTED,
    "output": NUMBERS,
    "top": NUMBERS,
}
"""The measures that do not take an option."""


@click.command()
@click.argument("measure", metavar=f"[{'|'.join(MEASURES)}]")
@graph_argument
@click.option(
    "--sources",
    default="all",
    show_default=True,
    help="Where paths begin: all, ID,ID,…, @FILE, FILE.ss or random:N.",
)
@click.option("--unweighted", is_flag=True, help="Count arcs instead of adding weights.")
@click.option("--normalized", is_flag=True, help="Scale values to be compared between graphs.")
@click.option("--reverse", is_flag=True, help="Take distances to a vertex, not those from it.")
@click.option(
    "--top", type=click.IntRange(min=0), default=10, show_default=True, help="Print so many."
)
@click.option(
    "--device",
    metavar="[auto|cpu|cuda]",
    default="auto",
    show_default=True,
    help="The processor; auto takes a GPU if CUDA finds one, but the CPU for little work.",
)
@click.option(
    "--memory-limit",
    metavar="SIZE",
    help="Take so much of the GPU's memory, such as 20G.  [all that is free]",
)
@click.option("-o", "--output", help="Save all values: .csv .npz .parquet.")
@no_turns
@reading_options
def centrality(
    measure: str,
    graph: str,
    sources: str,
    unweighted: bool,
    top: int,
    device: str,
    memory_limit: str | None,
    output: str | None,
    undirected: bool,
    columns: Any,
    cache: Any,
    as_json: bool,
    **flags: bool,
) -> None:
    """Centralities of the vertices or arcs of GRAPH, its diameter, radius or mean distance.

    Values of betweenness from some sources are estimates; --sources random:N draws them.
    """
    timing.begin("import")
    from groute_py.centrality.choices import Choices
    from groute_py.comm.connect import connect
    from groute_py.engine.agree import on_root

    timing.begin("mpi")
    channel, context = connect(), click.get_current_context()
    context.with_resource(watched(channel))
    limit = on_root(channel, lambda: size_of(memory_limit))
    choices = Choices(
        weighted=not unweighted, reverse=flags["reverse"], device=device, memory_limit=limit
    )
    is_given = flags | {"output": output is not None, "top": not _is_default(context, "top")}
    files = {"GRAPH": graph, "--sources": sources.removeprefix("@"), "--output": output}
    on_root(channel, lambda: _check(measure, choices, is_given, files))
    read: list[Any] = []

    def load() -> Any:
        from groute_py.many.sources import sources_of

        whole = read_whole(graph, undirected=undirected, columns=columns, cache=cache)
        read.append(whole)
        if sources == "all":
            return whole, None
        return whole, sources_of(sources, whole.numbering, whole.name)

    timing.begin("solve")
    with show.row_progress(measure) as progress:
        found = _found(channel, load, choices, measure, progress)
    timing.begin("write" if output else "answer")

    def answered() -> dict[str, Any]:
        (whole,) = read
        assert found is not None
        return {
            "measure": measure,
            "graph": whole.name,
            "vertices": whole.vertex_count,
            "arcs": whole.arc_count,
            "sources": len(found.job.sources),
            "on": found.label,
            **_values(found, measure, flags["normalized"], whole, top, output),
            **show.attribution(whole.attribution),
        }

    answer = on_root(channel, answered)
    seconds = timing.seconds_of(channel)
    if channel.rank == 0:
        _show(answer, seconds, as_json)


def _is_default(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is click.core.ParameterSource.DEFAULT


def _check(
    measure: str, choices: Choices, is_given: dict[str, bool], files: dict[str, str | None]
) -> None:
    """Whatever can be known to be wrong before the graph is read."""
    from groute_py.jobs.forms import check_table
    from groute_py.system.atomic_file import check_apart

    check_choice("measure", measure, MEASURES)
    choices.check()
    for name, measures in WITHOUT.items():
        if is_given[name] and measure in measures:
            raise InputError(f"{measure} does not take --{name}; drop it")
    output = files["--output"]
    if output is not None:
        check_table(Path(output), (".npz",))
        check_apart(files)


def _found(
    channel: Any, load: Any, choices: Choices, measure: str, progress: Any
) -> Reduced | Accumulated | None:
    if measure in COUNTED:
        from groute_py.centrality.accumulation import accumulated

        by_arc = measure == "edge-betweenness"
        return accumulated(channel, load, choices, by_arc=by_arc, errors=True, progress=progress)
    from groute_py.centrality.distances import reduced

    reciprocals = measure == "harmonic"
    name = measure if measure in ("diameter", "radius") else ""
    return reduced(channel, load, choices, reciprocals=reciprocals, measure=name, progress=progress)


def _values(
    found: Any, measure: str, normalized: bool, whole: Any, top: int, output: str | None
) -> dict[str, Any]:
    """What the answer says of the values, which are saved."""
    if measure in NUMBERS:
        return _number(found, measure, whole)
    scores = _scores(found, measure, normalized, whole)
    from groute_py.centrality.files import columns_of, save_columns

    name = measure.replace("-", "_")
    columns = columns_of(scores, whole.numbering, name)
    answer: dict[str, Any] = {}
    if measure in COUNTED:
        answer |= {"most_paths": found.most_paths, "exact_counts": found.exact_counts}
    else:
        answer["reaches_all"] = found.complete
    if output is not None:
        save_columns(columns, Path(output), whole.attribution)
        answer["output"] = output
    best = (-scores.values).argsort(kind="stable")[:top]
    answer["top"] = [
        dict(zip(columns, row, strict=True))
        for row in zip(*(column[best].tolist() for column in columns.values()), strict=True)
    ]
    return answer


def _scores(found: Any, measure: str, normalized: bool, whole: Any) -> Scores | ArcScores:
    from groute_py.centrality import scores

    if measure == "betweenness":
        return scores.vertex_scores(found, normalized=normalized)
    if measure == "edge-betweenness":
        return scores.arc_scores(whole, found, normalized=normalized)
    if measure == "eccentricity":
        return scores.row_scores(found, found.rows.greatest)
    return scores.row_scores(found, getattr(found, measure)(normalized=normalized))


def _number(found: Reduced, measure: str, whole: Any) -> dict[str, Any]:
    if measure == "mean":
        mean, error = found.mean()
        answer: dict[str, Any] = {"mean": show.finite(mean), "pairs": found.pairs}
        if len(found.job.sources) < found.count:
            answer["standard_error"] = show.finite(error)
        return answer
    row = found.farthest if measure == "diameter" else found.most_central
    ends = int(found.sources[row]), int(found.rows.farthest[row])
    return {
        measure: found.rows.greatest[row].item(),
        "from": whole.numbering.id_of(ends[0]),
        "to": whole.numbering.id_of(ends[1]),
        "reaches_all": found.complete,
        "rows": len(found.sources),
    }


def _show(answer: dict[str, Any], seconds: dict[str, float], as_json: bool) -> None:
    if as_json:
        for row in answer.get("top", ()):
            row.update({k: show.finite(v) for k, v in row.items() if isinstance(v, float)})
        show.timed_answer(answer, seconds, as_json=True)
        return
    top = answer.pop("top", [])
    show.timed_answer(answer, seconds, as_json=False)
    if top:
        rows = [[f"{v:.6g}" if isinstance(v, float) else str(v) for v in r.values()] for r in top]
        show.table([title.replace("_", " ") for title in top[0]], rows)
