"""``groute-py centrality``: centralities of vertices and arcs, and measures of distance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import options, records, show
from groute_py.cli.amounts import Integer
from groute_py.cli.runner import Runner
from groute_py.errors import InputError, check_choice, quote
from groute_py.system.paths import is_stdout

if TYPE_CHECKING:
    from groute_py.centrality.distances import Reduced
    from groute_py.graph.geography import Units
    from groute_py.results.tables import TableColumns

COUNTED = ("betweenness", "edge-betweenness")
NUMBERS = ("diameter", "radius", "mean")
MEASURES = ("closeness", "harmonic", "eccentricity", *COUNTED, *NUMBERS)
"""The measures by the names that they have here."""

SAVED = (*NUMBERS, "standard_error", "from", "to")
"""Names that are saved of the answer that is a number."""

WITHOUT = {"normalized": ("eccentricity", *NUMBERS), "reverse": COUNTED, "top": NUMBERS}
"""The measures that do not take an option."""


@click.command()
@click.argument("measure", metavar=f"[{'|'.join(MEASURES)}]")
@options.graph_argument
@click.option(
    "--sources",
    default="all",
    show_default=True,
    help="Where paths begin: all, ID,ID,…, @FILE, FILE.ss or random:N.",
)
@click.option("--unweighted", is_flag=True, help="Count arcs instead of adding weights.")
@click.option("--normalized", is_flag=True, help="Scale values to be compared between graphs.")
@click.option("--top", type=Integer(min=0), help="Print so many.  [10]")
@options.options_from(
    "centrality",
    reverse={"help": "Take distances to a vertex, not those from it."},
    memory_limit={"help": "Take so much of the GPU's memory, such as 20G.  [all that is free]"},
)
@click.option("-o", "--output", help="Save all values: .csv .json .npz .parquet.")
@options.format_option
@options.resume_option
@options.no_turns
@options.arc_weights_option
@options.reading_options
def centrality(
    measure: str,
    graph: str,
    sources: str,
    unweighted: bool,
    normalized: bool,
    top: int | None,
    **arguments: Any,
) -> None:
    """Centralities of the vertices or arcs of GRAPH, its diameter, radius or mean distance.

    Values of betweenness from some sources are estimates; --sources random:N draws them. With an
    --output sums are saved now and then in OUTPUT.partial, for --resume.
    """
    run = Runner("centrality", graph, {**arguments, "hops": unweighted}, {"--sources": sources})
    from groute_py.centrality.measures import MeasureJob
    from groute_py.many.opened import Work

    begins = None if sources == "all" else run.vertices("--sources", "source")
    job = MeasureJob(measure.replace("-", "_"), begins)
    flags = {"normalized": normalized, "top": top is not None, "reverse": run.options.reverse}
    run.begin(job, lambda: _check(run, measure, flags, sources), keeps=True)

    def answered() -> dict[str, Any]:
        assert result is not None
        whole = run.opened.plain_graph()
        return {
            "measure": measure,
            **show.size(whole),
            "sources": len(result.job.sources),
            "on": result.label,
            **_values(run, result, job.measure, normalized, whole, 10 if top is None else top),
            **({"output": run.output} if run.output else {}),
            **({} if store is None else {"solved_now": len(store.missing)}),
            **show.attribution(whole.attribution),
        }

    choices = {"measure": measure, "weighted": not unweighted, "reverse": run.options.reverse}
    choices["normalized"] = normalized
    with run.stored("sources", choices) as store:
        with show.row_progress(measure) as progress:
            result: Any = run.opened.answer(job, Work(progress, store))
        records.begin("write" if run.output else "answer")
        answer = run.on_root(answered)
    run.show(lambda: answer, _show)


def _check(run: Runner, measure: str, flags: dict[str, bool], sources: str) -> None:
    from groute_py.io.points import is_points_file, points_in
    from groute_py.results.tables import check_table

    check_choice("measure", measure, MEASURES)
    for name, measures in WITHOUT.items():
        if flags[name] and measure in measures:
            raise InputError(f"{measure} does not take --{name}; drop it")
    if is_points_file(sources) or points_in(sources) is not None:
        raise InputError(f"--sources {quote(sources)}: points are not taken; name vertices by ids")
    if run.output is not None:
        check_table(run.file, (".npz",))


def _values(
    run: Runner, result: Any, measure: str, normalized: bool, whole: Any, top: int
) -> dict[str, Any]:
    """Return what the answer says of the values, which are saved."""
    import numpy as np

    from groute_py.graph.units import shown
    from groute_py.results.tables import Column, records, with_units

    if measure in NUMBERS:
        answer, units = _number(result, measure, whole), result.job.row_graph.units
        sums = dict.fromkeys((*NUMBERS, "standard_error"), "")
        columns = {
            name: Column(np.array([answer[name]]), sums=sums.get(name))
            for name in SAVED
            if name in answer
        }
        _save(run, columns, units, whole.attribution)
        answer |= {name: shown(answer[name], units.get("", "")) for name in sums if name in answer}
        return show.unit(units.get("", "")) | _finite(answer)
    from groute_py.centrality.measures import MEASURES as FUNCTIONS

    scores: Any = FUNCTIONS[measure].answer(result, normalized)
    columns, units = scores.columns(measure), getattr(scores, "units", {})
    answer = {}
    if measure.replace("_", "-") in COUNTED:
        answer |= {name: result.statistics[name] for name in ("most_paths", "exact_counts")}
    else:
        answer["reaches_all"] = result.complete
    _save(run, columns, units, whole.attribution)
    best = (-scores.values).argsort(kind="stable")[:top]
    rows = with_units({title: column.at(best) for title, column in columns.items()}, units)
    answer["top"] = list(records(rows))
    return show.unit(units.get("", "")) | answer


def _save(run: Runner, columns: TableColumns, units: Units, attribution: str) -> None:
    from groute_py.centrality.scores import save_columns

    if run.output is not None:
        save_columns(columns, run.file, units, attribution)


def _number(result: Reduced, measure: str, whole: Any) -> dict[str, Any]:
    if measure == "mean":
        mean, error = result.mean()
        answer: dict[str, Any] = {"mean": mean, "pairs": result.pairs}
        if len(result.job.sources) < result.count:
            answer["standard_error"] = error
        return answer
    row = result.farthest if measure == "diameter" else result.most_central
    ends = int(result.sources[row]), int(result.rows.farthest[row])
    return {
        measure: result.rows.greatest[row].item(),
        "from": whole.numbering.id_of(ends[0]),
        "to": whole.numbering.id_of(ends[1]),
        "reaches_all": result.complete,
        "rows": len(result.sources),
    }


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    return {k: show.finite(v) if isinstance(v, float) else v for k, v in row.items()}


def _show(
    answer: dict[str, Any], seconds: dict[str, float], *, as_json: bool, verbose: bool
) -> None:
    if as_json:
        if "top" in answer:
            answer["top"] = [_finite(row) for row in answer["top"]]
        show.timed_answer(answer, seconds, as_json=True)
        return
    top = answer.pop("top", [])
    show.timed_answer(answer, seconds, as_json=False, verbose=verbose)
    if top:
        rows = [[f"{v:.6g}" if isinstance(v, float) else str(v) for v in r.values()] for r in top]
        titles = [title.replace("_", " ") for title in top[0]]
        show.table(titles, rows, aside=is_stdout(answer.get("output")))
