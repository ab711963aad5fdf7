"""``groute-py centrality``: centralities of vertices and arcs, and measures of distance."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.arguments import check_choice
from groute_py.cli import show, timing
from groute_py.cli.apart import check_outputs_apart
from groute_py.cli.options import graph_argument, no_turns, reading_options
from groute_py.cli.ranks import connected
from groute_py.cli.reading import read_whole
from groute_py.cli.resumable import resume_option, stored
from groute_py.cli.size import size_of
from groute_py.errors import InputError
from groute_py.many.storage.folder import check_folder
from groute_py.system.streams import is_stdout

if TYPE_CHECKING:
    from groute_py.centrality.accumulation import Accumulated
    from groute_py.centrality.choices import Choices
    from groute_py.centrality.distances import Reduced
    from groute_py.centrality.scores import ArcScores, Scores
    from groute_py.many.storage.store import Store

VERTICES = ("closeness", "harmonic", "eccentricity")
COUNTED = ("betweenness", "edge-betweenness")
NUMBERS = ("diameter", "radius", "mean")
MEASURES = (*VERTICES, *COUNTED, *NUMBERS)
"""Measures of single rows of distances, of all shortest paths, and of all distances together."""

SAVED = (*NUMBERS, "standard_error", "from", "to")
"""What is saved of the answer that is a number."""

WITHOUT = {
    "normalized": ("eccentricity", *NUMBERS),
    "reverse": COUNTED,
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
@resume_option
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
    resume: bool,
    undirected: bool,
    columns: Any,
    cache: Any,
    as_json: bool,
    **flags: bool,
) -> None:
    """Centralities of the vertices or arcs of GRAPH, its diameter, radius or mean distance.

    Values of betweenness from some sources are estimates; --sources random:N draws them. With an
    --output sums are saved now and then in OUTPUT.partial, for --resume.
    """
    timing.begin("import")
    from groute_py.centrality.choices import Choices
    from groute_py.comm.agree import on_root

    channel, context = connected(), click.get_current_context()
    limit = on_root(channel, lambda: size_of(memory_limit))
    choices = Choices(
        weighted=not unweighted, reverse=flags["reverse"], device=device, memory_limit=limit
    )
    is_given = flags | {"output": output is not None, "top": not _is_default(context, "top")}
    inputs = {"GRAPH": graph, "--sources": sources.removeprefix("@")}
    on_root(channel, lambda: _check(measure, choices, is_given, inputs, output, resume))
    named = {"measure": measure, "weighted": choices.weighted, "reverse": choices.reverse}
    named["normalized"] = flags["normalized"]
    read: list[Any] = []

    def load() -> Any:
        from groute_py.many.sources import sources_of

        whole = read_whole(graph, undirected=undirected, columns=columns, cache=cache)
        read.append(whole)
        if sources == "all":
            return whole, None
        return whole, sources_of(sources, whole.numbering, whole.name)

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
            **_values(found, measure, flags["normalized"], whole, top, store),
            **show.attribution(whole.attribution),
        }

    timing.begin("solve")
    path = None if output is None else Path(output)
    how: dict[str, Any] = {"resume": resume, "choices": named}
    with nullcontext() if path is None else stored(channel, path, "sources", **how) as store:
        with show.row_progress(measure) as progress:
            found = _found(channel, load, choices, measure, progress, store)
        timing.begin("write" if output else "answer")
        answer = on_root(channel, answered)
    seconds = timing.seconds_of(channel)
    if channel.rank == 0:
        _show(answer, seconds, as_json)


def _is_default(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is click.core.ParameterSource.DEFAULT


def _check(
    measure: str,
    choices: Choices,
    is_given: dict[str, bool],
    inputs: dict[str, str],
    output: str | None,
    resume: bool,
) -> None:
    """Whatever can be known to be wrong before the graph is read."""
    from groute_py.results.tables import check_table

    check_choice("measure", measure, MEASURES)
    choices.check()
    for name, measures in WITHOUT.items():
        if is_given[name] and measure in measures:
            raise InputError(f"{measure} does not take --{name}; drop it")
    if resume and output is None:
        raise InputError("--resume goes on with an --output; name it")
    if output is not None:
        check_table(Path(output), (".npz",))
        check_outputs_apart(inputs, {"--output": output})
        check_folder(Path(output))


def _found(
    channel: Any, load: Any, choices: Choices, measure: str, progress: Any, store: Store | None
) -> Reduced | Accumulated | None:
    saved: dict[str, Any] = {"progress": progress, "store": store}
    if measure in COUNTED:
        from groute_py.centrality.accumulation import accumulated

        by_arc = measure == "edge-betweenness"
        return accumulated(channel, load, choices, by_arc=by_arc, errors=True, **saved)
    from groute_py.centrality.distances import reduced

    return reduced(channel, load, choices, measure, **saved)


def _values(
    found: Any,
    measure: str,
    normalized: bool,
    whole: Any,
    top: int,
    store: Store | None,
) -> dict[str, Any]:
    """What the answer says of the values, which are saved."""
    import numpy as np

    if measure in NUMBERS:
        answer = _number(found, measure, whole)
        columns = {name: np.array([answer[name]]) for name in SAVED if name in answer}
        return _finite(answer) | _save(store, columns, whole.attribution)
    scores = _scores(found, measure, normalized, whole)
    from groute_py.centrality.files import columns_of

    columns = columns_of(scores, whole.numbering, measure.replace("-", "_"))
    answer = {}
    if measure in COUNTED:
        answer |= {"most_paths": found.most_paths, "exact_counts": found.exact_counts}
    else:
        answer["reaches_all"] = found.complete
    answer |= _save(store, columns, whole.attribution)
    best = (-scores.values).argsort(kind="stable")[:top]
    answer["top"] = [
        dict(zip(columns, row, strict=True))
        for row in zip(*(column[best].tolist() for column in columns.values()), strict=True)
    ]
    return answer


def _save(store: Store | None, columns: dict[str, Any], attribution: str) -> dict[str, Any]:
    """Write the values, and say where."""
    if store is None:
        return {}
    from groute_py.centrality.files import save_columns

    save_columns(columns, store.path, attribution)
    return {"output": str(store.path), "solved_now": len(store.missing)}


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
        answer: dict[str, Any] = {"mean": mean, "pairs": found.pairs}
        if len(found.job.sources) < found.count:
            answer["standard_error"] = error
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


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON can have it."""
    return {k: show.finite(v) if isinstance(v, float) else v for k, v in row.items()}


def _show(answer: dict[str, Any], seconds: dict[str, float], as_json: bool) -> None:
    if as_json:
        if "top" in answer:
            answer["top"] = [_finite(row) for row in answer["top"]]
        show.timed_answer(answer, seconds, as_json=True)
        return
    top = answer.pop("top", [])
    show.timed_answer(answer, seconds, as_json=False)
    if top:
        rows = [[f"{v:.6g}" if isinstance(v, float) else str(v) for v in r.values()] for r in top]
        titles = [title.replace("_", " ") for title in top[0]]
        show.table(titles, rows, aside=is_stdout(answer.get("output")))
