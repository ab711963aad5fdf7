"""``groute-py assign``: traffic assignment on a network."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from groute_py.cli import records, show
from groute_py.cli.options import (
    device_option,
    format_option,
    graph_argument,
    reading_options,
    resume_option,
)
from groute_py.cli.outputs import AnswerFile, check_outputs_apart, stored
from groute_py.cli.phase_line import free_terminal
from groute_py.cli.ranks import connected, read_graph
from groute_py.errors import InputError, quote
from groute_py.system.environment import place

if TYPE_CHECKING:
    from groute_py.assignment.answer import Assignment
    from groute_py.assignment.equilibrium import Iteration
    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns

T = TypeVar("T")


@click.command()
@graph_argument
@click.argument("trips")
@click.option(
    "-o", "--output", help="The links with flows: .csv .json .parquet.  - is standard output."
)
@format_option
@click.option(
    "--method",
    type=click.Choice(["tfw", "bfw", "cfw", "fw", "msa"]),
    default="bfw",
    show_default=True,
    help="Frank–Wolfe conjugate to 3, 2 or 1 directions, Frank–Wolfe, or successive averages.",
)
@click.option(
    "--gap", type=float, default=1e-4, show_default=True, help="End at this relative gap."
)
@click.option(
    "--iterations", type=int, default=2000, show_default=True, help="End after so many iterations."
)
@click.option(
    "--increments",
    type=int,
    default=1,
    show_default=True,
    help="Load trips in so many equal parts first, each for the costs of those before.",
)
@click.option("--start", metavar="FILE", help="Begin at the flows of an earlier --output (.csv).")
@click.option(
    "--factor",
    "factors",
    multiple=True,
    metavar="COLUMN=COST",
    help="A link also costs COST times this column, such as toll=0.02. May be repeated.",
)
@click.option(
    "--first-through",
    type=int,
    metavar="ID",
    help="No path leads through vertices below ID.  [as GRAPH says]",
)
@click.option("--time-limit", type=float, metavar="SECONDS", help="End with the flows of then.")
@device_option
@click.option(
    "--select",
    "selections",
    multiple=True,
    metavar="NAME=TAIL:HEAD,…",
    help="Also give the flows and trips through any of these links. May be repeated.",
)
@click.option(
    "--matrices",
    metavar="FILE",
    help="Write cost, time, length, toll and selected trips between zones: .npz .omx.",
)
@click.option(
    "--plot", "picture", metavar="FILE", help="Draw the gap over time, or flows: .png .svg .html."
)
@click.option(
    "--coordinates", metavar="FILE", help="Where vertices lie, for --plot of flows: as for plot."
)
@resume_option
@reading_options
def assign(
    graph: str,
    trips: str,
    output: str | None,
    form: str | None,
    factors: tuple[str, ...],
    selections: tuple[str, ...],
    matrices: str | None,
    picture: str | None,
    coordinates: str | None,
    time_limit: float | None,
    resume: bool,
    columns: Columns,
    cache: Any,
    as_json: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Assign TRIPS to the links of GRAPH so that no traveller has a cheaper way.

    GRAPH is a network with the columns free_flow_time and capacity (TNTP); TRIPS is a TNTP file, a
    .csv or .tsv with columns origin, destination, trips, or an .omx, FILE.omx:NAME if it has
    several matrices. Flows are saved now and then in OUTPUT.partial, for --resume.
    """
    records.begin("import")
    from groute_py.assignment.demand import UserClass
    from groute_py.assignment.job import AssignmentJob
    from groute_py.assignment.matrices import check_matrices
    from groute_py.comm.agree import at_root, on_root
    from groute_py.many.storage.folder import check_folder
    from groute_py.maps.places import layout_of
    from groute_py.maps.plot import plot
    from groute_py.maps.sheet import check_picture
    from groute_py.results.tables import check_table
    from groute_py.source.graph_source import GraphSource

    target = AnswerFile(output, form, shows=True)

    def checked() -> AssignmentJob:
        demand = {"all": UserClass(trips, _by_name("--factor", map(_factor, factors)))}
        select = _by_name("--select", map(_selection, selections))
        job = AssignmentJob(demand, time_limit_s=time_limit, select=select, **options)
        job.check()
        outputs = {"--output": target.name, "--matrices": matrices, "--plot": picture}
        inputs = {"GRAPH": graph, "TRIPS": trips, "--coordinates": coordinates}
        inputs["--start"] = job.start
        check_outputs_apart(inputs, outputs)
        if picture is not None:
            check_picture(Path(picture))
        elif coordinates is not None:
            raise InputError("--coordinates are for a picture of flows; name it by --plot")
        target.check(lambda: check_table(target.file))
        if not target.is_piped:
            check_folder(target.file)
        elif resume:
            raise InputError("--resume goes on with an --output; name it")
        if matrices is not None:
            check_matrices(Path(matrices))
        return job

    channel = connected()
    job = on_root(channel, checked)
    records.begin("read")
    network = at_root(channel, lambda: read_graph(graph, columns, cache))
    if coordinates is not None:  # a wrong file ends the run before the work
        at_root(channel, lambda: layout_of(coordinates, cast("Graph", network).vertex_count))
    if matrices is not None:
        job = replace(job, skims=on_root(channel, lambda: _skims(network)))
    records.begin("solve")
    keeps = not target.is_piped
    with stored(channel, target.file, "iterations", resume=resume, keeps=keeps) as keep:
        with _gaps() as progress:
            answer = job.run(GraphSource(network), channel, progress, keep)
        records.begin("write")
        on_root(channel, lambda: _save(answer, target, matrices))
        if picture is not None:
            on_root(channel, lambda: plot(answer, picture, coordinates=coordinates))
    seconds = records.seconds_of(channel)
    if answer is not None:
        rows = {**answer.summary(), "output": target.name}
        more = {"matrices": matrices, "plot": picture}
        rows |= {name: file for name, file in more.items() if file is not None}
        target.deliver()
        show.timed_answer(rows, seconds, as_json=as_json, verbose=verbose)


def _save(answer: Assignment | None, target: AnswerFile, matrices: str | None) -> None:
    assert answer is not None
    answer.save(target.file)
    if matrices is not None:
        answer.save_matrices(matrices)


def _skims(network: Graph | None) -> tuple[str, ...]:
    """The names of the matrices of a network."""
    assert network is not None
    return ("cost", "time", *(name for name in ("length", "toll") if name in network.columns))


def _by_name(option: str, pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    by_name: dict[str, T] = {}
    for name, value in pairs:
        if name in by_name:
            raise InputError(f"{option} {quote(name)} was given twice; give each name once")
        by_name[name] = value
    return by_name


def _selection(text: str) -> tuple[str, list[tuple[Any, Any]]]:
    """The name of a selection, and the ends of its links."""
    name, _, links = text.partition("=")
    ends = [link.partition(":") for link in links.split(",")]
    if not name or not all(tail and head for tail, _, head in ends):
        raise InputError(
            f"--select {quote(text)}: expected NAME=TAIL:HEAD, such as bridge=10:16,16:10"
        )
    return name, [(tail, head) for tail, _, head in ends]


def _factor(text: str) -> tuple[str, float]:
    column, _, cost = text.rpartition("=")
    try:
        if column:
            return column, float(cost)
    except ValueError:
        pass
    raise InputError(f"--factor {quote(text)}: expected COLUMN=COST, such as toll=0.02")


@contextmanager
def _gaps() -> Iterator[Callable[[Iteration], Any] | None]:
    """A line on a terminal with the gap of now; None elsewhere."""
    if place().rank > 0 or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with free_terminal(), Console(stderr=True).status("loading trips") as line:
        yield lambda now: line.update(f"iteration {now.iteration}: relative gap {now.gap:.2e}")
