"""``python -m benchmarks``: measure cases, verify each answer, print a table, save raw numbers.

    python -m benchmarks --device cpu
    python -m benchmarks --device cuda --case rmat:22 --case rmat:22/float32 --both
    python -m benchmarks --device cuda --methods --repeat 3
    python -m benchmarks --device cuda --case rmat:25 --case rmat:25@2 --case rmat:25@4
    python -m benchmarks --device cuda --case rmat:24 --prepare
    python -m benchmarks --device cuda --case shuffled:2000x2000@2 --order rcm
    mpirun -n 2 python -m benchmarks --device cpu --case road:1000x1000
    python -m benchmarks --device cuda --many
    python -m benchmarks --device cuda --centrality
    python -m benchmarks --device cuda --jobs
    python -m benchmarks --device cuda --beside
    python -m benchmarks --device cuda --customize
    python -m benchmarks --device cuda --assign
    python -m benchmarks --device cuda --paths
    python -m benchmarks --documents --quick
    python -m benchmarks.document_tables  # prints the tables of the documents
    python -m benchmarks --start

If a case fails, the others still run, and the command ends with the exit code of the first failure:
3 for a wrong answer, otherwise the codes of groute-py's command line.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from benchmarks.assign import PROGRAM as ASSIGN
from benchmarks.beside import PROGRAM as BESIDE
from benchmarks.cases import READING, SETS, Case, Shelf, SkippedError, methods
from benchmarks.centrality import PROGRAM as CENTRALITY
from benchmarks.customize import PROGRAM as CUSTOMIZE
from benchmarks.documents import measure_documents
from benchmarks.jobs import PROGRAM as JOBS
from benchmarks.many import PROGRAM as MANY
from benchmarks.measure import measure
from benchmarks.paths import PROGRAM as PATHS
from benchmarks.plan import Plan
from benchmarks.program import Program
from benchmarks.ranks import measure_on_ranks
from benchmarks.reading import measure_reading
from benchmarks.report import Book, Record
from benchmarks.start import measure_start
from groute_py.comm.agree import on_root
from groute_py.comm.connect import abort_all, connect
from groute_py.errors import GrouteError, InputError
from groute_py.partition.order import ORDERS
from groute_py.source.whole import GraphSupply
from groute_py.system.environment import place

MORE: tuple[Program[Any], ...] = (MANY, CENTRALITY, JOBS, BESIDE, CUSTOMIZE, ASSIGN, PATHS)
PROGRAMS = {program.name: program for program in MORE}
"""What an option measures in the place of single solves, by its name."""

RESULTS = Path(__file__).parent / "results"


@click.command(context_settings={"max_content_width": 100})
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--case", "names", multiple=True, help="See benchmarks/cases.py, or reading[:SPEC].")
@click.option("--many", is_flag=True, help="All pairs and many sources; see benchmarks/many.py.")
@click.option("--centrality", is_flag=True, help="Centralities; see benchmarks/centrality.py.")
@click.option("--jobs", is_flag=True, help="Matrices, routes and the like; see benchmarks/jobs.py.")
@click.option("--beside", is_flag=True, help="Jobs and other programs; see benchmarks/beside.py.")
@click.option("--customize", is_flag=True, help="New weights; see benchmarks/customize.py.")
@click.option("--assign", is_flag=True, help="Traffic assignment; see benchmarks/assign.py.")
@click.option("--paths", is_flag=True, help="Rasters, k paths, objectives; benchmarks/paths.py.")
@click.option("--documents", is_flag=True, help="The source documents' tables.")
@click.option("--start", is_flag=True, help="Whole processes; see benchmarks/start.py.")
@click.option("--cold", is_flag=True, help="With --start: also without files in memory.")
@click.option("--quick", is_flag=True, help="A few small cases.")
@click.option("--methods", "every", is_flag=True, help="Each method, on graphs that suit it.")
@click.option("--repeat", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--ranks", type=click.IntRange(min=1), help="For cases without @RANKS.  [1]")
@click.option("--no-predecessors", "series", flag_value="without", help="Distances only.")
@click.option("--both", "series", flag_value="both", help="With and without predecessors.")
@click.option("--delta", type=float, help="Δ in units of weight.  [automatic]")
@click.option("--mode", type=click.Choice(["auto", "fused", "rounds"]), default="auto")
@click.option("--order", type=click.Choice([o for o in ORDERS if o != "hilbert"]), default="auto")
@click.option("--prepare", is_flag=True, help="Load for longer, solve faster.")
@click.option("--scipy-up-to", type=int, default=Plan.scipy_up_to, help="In arcs.  [30000000]")
@click.option("--output", type=click.Path(path_type=Path), default=RESULTS, help="A folder.")
@click.option("--commit", help="The commit, if git cannot tell it.")
@click.pass_context
def main(
    context: click.Context,
    device: str,
    names: tuple[str, ...],
    many: bool,
    centrality: bool,
    jobs: bool,
    beside: bool,
    customize: bool,
    assign: bool,
    paths: bool,
    documents: bool,
    start: bool,
    cold: bool,
    quick: bool,
    every: bool,
    repeat: int,
    ranks: int | None,
    series: str | None,
    delta: float | None,
    mode: str,
    order: str,
    prepare: bool,
    scipy_up_to: int,
    output: Path,
    commit: str | None,
) -> None:
    """Measure shortest paths and verify each answer.

    The table goes to stdout, the raw numbers to a file in benchmarks/results. Without --case the
    device's default cases run.
    """
    given = {"many": many, "centrality": centrality, "jobs": jobs, "customize": customize}
    given |= {"beside": beside, "assign": assign, "paths": paths, "start": start}
    trees = {"without": (False,), "both": (True, False)}.get(series or "", (True,))
    plan = Plan(device, repeat, trees, delta, mode, order, prepare, scipy_up_to)
    try:
        own = _own_cases(given)
        if documents:
            if own is not None:
                raise InputError(f"--documents does not go with {own}")
            tuned = delta is not None or mode != "auto" or order != "auto"
            if any((every, ranks, series, prepare, cold, tuned)):
                raise InputError("--documents goes with --device, --case, --quick and --repeat")
            code = measure_documents(device, names, repeat, output, commit, quick=quick)
        elif own is not None:
            others = (quick, every, ranks, series, delta is not None, mode != "auto", prepare)
            if any(others) or order != "auto" or (cold and not start):
                raise InputError(f"{own} goes with --device, --case, --repeat, --output, --commit")
            asked = (device, names, repeat, output, commit)
            if start:
                code = measure_start(*asked, cold=cold)
            else:
                code = PROGRAMS[own.removeprefix("--")].run(*asked)
        elif cold:
            raise InputError("--cold goes with --start")
        else:
            usual = (methods(device) if every else ()) or SETS["quick" if quick else device]
            cases = [Case.parse(name).on(ranks or place().size) for name in names or usual]
            book = Book(output, cases, device, repeat, commit)
            measure_all(cases, plan, book)
            if place().rank == 0:
                click.echo(book.shown())
            code = book.exit_code
    except GrouteError as error:
        say(str(error))
        if any(given.values()) and place().size > 1 and not error.on_all_ranks:
            abort_all(error.exit_code)
        context.exit(error.exit_code)
    except Exception:
        if place().size > 1:  # leave no rank waiting
            click.echo(f"rank {place().rank}: {traceback.format_exc()}", err=True)
            abort_all(1)
        raise
    context.exit(code)


def _own_cases(flags: dict[str, bool]) -> str | None:
    """The option that measures other cases than solves, if one of several is given.

    Raises:
        InputError: two are given.
    """
    given = [f"--{name}" for name, is_given in flags.items() if is_given]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} exclude each other; give one")
    return given[0] if given else None


def measure_all(cases: list[Case], plan: Plan, book: Book) -> None:
    """Run cases; those with another number of ranks come first, each number in a job of its own.

    At that time this process holds no GPU memory.
    """
    here = place()
    jobs = sorted({case.ranks or 1 for case in cases} - {here.size})
    if jobs and here.size > 1:
        raise InputError(f"under {here.launcher} every case runs on all its {here.size} ranks")
    for ranks in jobs:
        together = [case for case in cases if case.ranks == ranks]
        book.add(attempt(together, partial(measure_on_ranks, ranks, together, plan)))
    channel, shelf = connect(), Shelf()
    for case in cases:
        if case.ranks != here.size:
            continue
        kind, _, spec = case.graph.partition(":")
        if kind == READING:
            read = partial(on_root, channel, partial(measure_reading, spec))
            book.add(attempt([case], read))
            continue

        def measured(case: Case = case) -> list[Record]:
            whole = on_root(channel, lambda: GraphSupply(shelf.take(case)))
            return measure(case, whole, channel, plan)

        book.add(attempt([case], measured))


def attempt(cases: list[Case], action: Callable[[], list[Record]]) -> list[Record]:
    """The records of cases, or the reason of their failure.

    An error that only this rank has is raised.
    """
    if cases[0].ranks == place().size:  # other ranks: their job prints it
        say(cases[0].name)
    try:
        return action()
    except SkippedError as reason:
        return [case.record() | {"skipped": str(reason)} for case in cases]
    except GrouteError as error:
        if place().size > 1 and not error.on_all_ranks:
            raise
        say(f"{cases[0].name}: FAILED: {error}")
        failure = {"failed": str(error), "exit_code": error.exit_code}
        return [case.record() | failure for case in cases]


def say(text: str) -> None:
    """Print a log line to stderr on rank 0."""
    if place().rank == 0:
        click.echo(f"benchmarks: {text}", err=True)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
