"""``groute-py apsp`` and ``matrix``: rows of distances, saved, reduced or counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from groute_py.cli import records, show
from groute_py.cli.options import MEMORY, NAMED, job_options, which_option
from groute_py.cli.outputs import save_rows
from groute_py.cli.runner import Runner
from groute_py.errors import InputError, check_choice, quoted

if TYPE_CHECKING:
    from groute_py.comm.base import Channel
    from groute_py.jobs.accessibility import AccessibilityJob
    from groute_py.jobs.matrix import MatrixJob
    from groute_py.many.apsp import ManySources
    from groute_py.many.delivery import Progress
    from groute_py.many.reduce import Reduction
    from groute_py.many.sources import Vertices
    from groute_py.many.storage.store import RunPart


PART = re.compile(r"[0-9]{1,18}/[0-9]{1,18}")


class RowsAnswer(NamedTuple):
    """A job on rows, and its outcome by name; the outcome is on rank 0."""

    job: ManySources
    outcome: dict[str, Any]


def _part(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> RunPart | None:
    """Parse 3/10 as the third of ten parts."""
    if value is None:
        return None
    from groute_py.many.storage.store import RunPart

    number, _, of = value.partition("/")
    if not (PART.fullmatch(value) and 0 < int(number) <= int(of)):
        raise click.BadParameter(f"{quoted(value)} is no part i/n, where i is 1 to n")
    return RunPart(int(number), int(of))


rows_option = click.option(
    "--rows",
    "part",
    metavar="I/N",
    callback=_part,
    help="Solve for the I-th of N parts of the rows; other runs add theirs to the same .npy.",
)


@click.command()
@job_options(
    "matrix",
    which_option("--from", "sources", f"The sources: {NAMED}.", required=True),
    which_option("--to", "targets", "The targets, named as the sources.", required=True),
    click.option(
        *("--reduce", "what"),
        metavar="[count|sum|nearest|decay]",
        help="Instead of distances, a number for each source, of the targets that it reaches.",
    ),
    click.option(
        "--weights",
        metavar="COLUMN",
        help="What sum and decay add: a column of the points of --to.  [1 for each]",
    ),
    rows_option,
    output="Save the answer: .npy .npz .zarr .parquet .csv .json; a sum, the last three.",
    memory_limit={"help": MEMORY},
)
def matrix(
    graph: str,
    sources: str,
    targets: str,
    what: str | None,
    weights: str | None,
    part: RunPart | None,
    **arguments: Any,
) -> None:
    """Distances in GRAPH from some sources to some targets, saved as a matrix or a table.

    Only the columns of the targets are kept, and leave a GPU. What is finished when a run ends
    early stays in OUTPUT.partial, for --resume, but not with --with or --reduce.
    """
    run = Runner("matrix", graph, arguments, {"--from": sources, "--to": targets})
    from groute_py.jobs.accessibility import AccessibilityJob
    from groute_py.jobs.matrix import MatrixJob
    from groute_py.jobs.rows import RowsJob
    from groute_py.many.to_file import SUFFIXES, check_output
    from groute_py.results import tables

    options, how = run.options, run.options.of_rows()
    begins, ends = run.vertices("--from", "source"), run.vertices("--to", "target")
    save = partial(_save, run, {"source": begins, "target": ends}, part)
    whole: MatrixJob | AccessibilityJob | None = None
    if what is not None:
        whole = AccessibilityJob(begins, ends, what, weights, **how)
    elif options.carry:
        whole = MatrixJob(begins, ends, **how)
    if whole is not None:
        save = partial(_save_table, run, whole)
    job = RowsJob("matrix", begins, _with_bar(save), ends, parts=parts_of(part), **how)

    def check() -> None:
        _check_part(run, part)
        suffixes = tables.SUFFIXES if whole is not None else (*SUFFIXES, *tables.SUFFIXES)
        check_output(run.file, predecessors=options.predecessors, suffixes=suffixes)
        if what is None and weights is not None:
            raise InputError("--weights are of the targets of --reduce sum or decay; name it too")
        if whole is None:
            return
        whole.check(options)
        if run.resumes:
            raise InputError("--resume: nothing is kept of sums (--with, --reduce); leave it out")

    run.begin(job, check)
    answer = run.plan(job)
    run.show(lambda: _rows(run, answer, targets=answer.job.width))


@click.command()
@job_options(
    "apsp",
    click.option("--sources", default="all", show_default=True, help=f"The sources: {NAMED}."),
    click.option(
        *("--reduce", "what"),
        default="none",
        show_default=True,
        help="Instead of rows: none, sum, max or histogram.",
    ),
    rows_option,
    output="Save all rows: .npy .npz .zarr; - needs --format npy or npz.",
    memory_limit={"help": MEMORY},
)
def apsp(graph: str, sources: str, what: str, part: RunPart | None, **arguments: Any) -> None:
    """Shortest paths from all vertices of GRAPH, or from many, to all.

    Rows are saved as they are found (--output), reduced to a few numbers (--reduce), or only
    counted. What is finished when a run ends early stays in OUTPUT.partial, for --resume.
    """
    run = Runner("apsp", graph, arguments, {"--sources": sources})
    from groute_py.jobs.rows import RowsJob

    begins = None if sources == "all" else run.vertices("--sources", "source")
    is_saved = run.output is not None and what == "none"
    deliver = _with_bar(partial(_save, run, {}, part) if is_saved else partial(_reduce, what))
    destination = "sums" if run.output is None else "file"
    how = run.options.of_rows() | {"destination": destination, "parts": parts_of(part)}
    job = RowsJob("apsp", begins, deliver, **how)
    run.begin(job, lambda: _check(run, what, part))
    answer = run.plan(job)

    def rows() -> dict[str, Any]:
        rows = _rows(run, answer)
        if not run.as_json and "histogram" in rows:
            parts = (f"{a:g} to {b:g}: {count:,}" for a, b, count in rows["histogram"])
            rows["histogram"] = "; ".join(parts)
        return rows

    run.show(rows)


def parts_of(part: RunPart | None) -> int:
    """Return how many runs share the rows."""
    return 1 if part is None else part.of


def _check_part(run: Runner, part: RunPart | None) -> None:
    if part is not None and (run.file.suffix != ".npy" or not run.keeps):
        raise InputError("--rows: several runs write one .npy; name it by --output")


def _check(run: Runner, what: str, part: RunPart | None) -> None:
    from groute_py.many.reduce import REDUCTIONS
    from groute_py.many.to_file import check_output

    output, options = run.output, run.options
    check_choice("reduction", what, REDUCTIONS)
    _check_part(run, part)
    if output is not None and what != "none":
        raise InputError("--reduce keeps no rows to save; drop it, or --output")
    if output is None and options.predecessors:
        raise InputError("--paths saves predecessors beside the rows; name an --output, or drop it")
    for name in ("turns", "cutoff"):
        if getattr(options, name) is not None and (output is None or what != "none"):
            problem = "rows are saved, not reduced or counted; name an --output"
            raise InputError(f"with --{name} {problem}")
    if output is not None:
        check_output(run.file, predecessors=options.predecessors)


def _with_bar(
    deliver: Callable[[Channel, ManySources, Progress | None], dict[str, Any]],
) -> Callable[..., RowsAnswer]:
    """Deliver rows while a bar on the terminal shows how many are done. Collective."""

    def delivered(channel: Channel, job: ManySources, _: Progress | None = None) -> RowsAnswer:
        records.begin("solve")
        title = f"{job.choice.algorithm}, {len(job.sources):,} sources"
        with show.row_progress(title) as progress:
            return RowsAnswer(job, deliver(channel, job, progress))

    return delivered


def _save(
    run: Runner,
    ends: Mapping[str, Vertices],
    part: RunPart | None,
    channel: Channel,
    job: ManySources,
    progress: Progress | None,
) -> dict[str, Any]:
    from groute_py.results.tables import attributes_of

    more = attributes_of(**ends)
    rows = channel, job, run.file, run.resumes, progress, more
    saved = save_rows(*rows, keeps=run.keeps, part=part)
    return {"on": saved.pop("on"), "output": run.output, **saved}


def _save_table(
    run: Runner,
    whole: MatrixJob | AccessibilityJob,
    channel: Channel,
    job: ManySources,
    progress: Progress | None,
) -> dict[str, Any]:
    """Write an answer in memory as a table. Collective."""
    from groute_py.results.tables import of_reached, with_units, write_table

    answer = whole.deliver(channel, job, progress)

    def write() -> str:
        assert answer is not None
        part = answer.part(slice(None))
        if "distance" in part and job.options.cutoff is not None:
            part = of_reached(part)
        part = with_units(part, answer.units)
        write_table(run.file, [part], answer.attribution)
        return str(answer.statistics["device"])

    return {"on": run.on_root(write), "output": run.output}


def _reduce(
    what: str, channel: Channel, job: ManySources, progress: Progress | None
) -> dict[str, Any]:
    from groute_py.device.summary import Wanted
    from groute_py.graph.units import shown
    from groute_py.many.reduce import reduce

    unit = job.row_graph.units.get("", "")
    request = Wanted(sums=what == "sum", histogram=what == "histogram")
    result = reduce(channel, job, request, progress=progress)
    if result is None:
        return {}
    reduction, label = result
    rows: dict[str, Any] = {"on": label, "reached_pairs": int(reduction.reached.sum())}
    if what == "sum":
        rows["sum_of_distances"] = show.finite(shown(sum(reduction.sums.tolist()), unit))
    if what == "max":
        rows |= _farthest(job, reduction, unit)
    if what == "histogram":
        bins = reduction.histogram
        rows["histogram"] = [[shown(a, unit), shown(b, unit), count] for a, b, count in bins]
    return rows


def _farthest(job: ManySources, reduction: Reduction, unit: str) -> dict[str, Any]:
    from groute_py.graph.units import shown

    row = int(reduction.greatest.argmax())
    numbering = job.graph.numbering
    return {
        "greatest_distance": shown(reduction.greatest[row].item(), unit),
        "from": numbering.id_of(int(job.sources[row])),
        "to": numbering.id_of(int(reduction.farthest[row])),
    }


def _rows(run: Runner, answer: RowsAnswer, **more: Any) -> dict[str, Any]:
    """Return the answer by name; ``more`` stands behind the sources."""
    job, facts = answer.job, answer.job.facts
    return {
        **show.size(facts),
        **show.unit(run.opened.plain_graph().unit),
        "sources": len(job.sources),
        **more,
        "algorithm": job.choice.algorithm,
        "reason": job.choice.reason,
        **answer.outcome,
        **show.attribution(job.row_graph.attribution),
    }
