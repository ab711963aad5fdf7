"""``groute-py assign``: traffic assignment on a network."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import records, show
from groute_py.cli.options import graph_argument, reading_options
from groute_py.cli.outputs import check_outputs_apart
from groute_py.cli.phase_line import free_terminal
from groute_py.cli.ranks import on_rank_0, read_graph
from groute_py.errors import InputError, quote
from groute_py.system.clock import phase
from groute_py.system.environment import place

if TYPE_CHECKING:
    from groute_py.assignment.equilibrium import Iteration
    from groute_py.io.tables.columns import Columns


@click.command()
@graph_argument
@click.argument("trips")
@click.option("-o", "--output", required=True, help="The links with flows to write: .csv .parquet.")
@click.option(
    "--method",
    type=click.Choice(["bfw", "cfw", "fw", "msa"]),
    default="bfw",
    show_default=True,
    help="Bi-conjugate or conjugate Frank–Wolfe, Frank–Wolfe, or successive averages.",
)
@click.option(
    "--gap", type=float, default=1e-4, show_default=True, help="End at this relative gap."
)
@click.option(
    "--iterations", type=int, default=1000, show_default=True, help="End after so many iterations."
)
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
@reading_options
@on_rank_0
def assign(
    graph: str,
    trips: str,
    output: str,
    factors: tuple[str, ...],
    time_limit: float | None,
    columns: Columns,
    cache: Any,
    as_json: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Assign TRIPS to the links of GRAPH so that no traveller has a cheaper way.

    GRAPH is a network with the columns free_flow_time and capacity (TNTP); TRIPS is a TNTP file, or
    a .csv with columns origin, destination, trips. Runs on the CPU.
    """
    from groute_py.assignment.assign import assign as assigned
    from groute_py.assignment.demand import UserClass
    from groute_py.results.tables import check_table

    costs = dict(map(_factor, factors))
    check_outputs_apart({"GRAPH": graph, "TRIPS": trips}, {"--output": output})
    check_table(Path(output))
    network = read_graph(graph, columns, cache)
    with phase("solve"), _gaps() as progress:
        answer = assigned(
            network,
            {"all": UserClass(trips, costs)},
            time_limit_s=time_limit,
            progress=progress,
            **options,
        )
    with phase("write"):
        answer.save(output)
    rows = {**answer.summary(), "output": output}
    show.timed_answer(rows, records.own_seconds(), as_json=as_json, verbose=verbose)


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
