"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

COLUMNS = {
    "weight": "weights",
    "head": "the vertices that arcs lead to",
    "tail": "the vertices that arcs leave",
}
"""What the columns of a table hold that options name, the last first."""

graph_argument = click.argument("graph")


def _known_method(context: click.Context, parameter: click.Parameter, name: str) -> str:
    if name == "auto":
        return name
    from groute_py.algorithms.choose import check_name
    from groute_py.errors import InputError

    try:
        check_name(name)
    except InputError as error:
        raise click.BadParameter(str(error)) from error
    return name


algorithm_option = click.option(
    "--algorithm",
    callback=_known_method,
    metavar="NAME",
    default="auto",
    show_default=True,
    help="auto or a method's name; groute-py algorithms lists them.",
)

undirected_option = click.option(
    "--undirected", is_flag=True, help="Every arc of GRAPH is an edge, and also leads back."
)


def _named(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """As of an empty variable of a shell: it would be the folder one is in."""
    if value == "":
        raise click.BadParameter("names no folder", context, parameter)
    return value


def cache_options(command: F) -> F:
    """``--cache FOLDER`` and ``--no-cache``, given to the command as one value ``cache``."""
    command = click.option(
        "--no-cache",
        "cache",
        flag_value=False,
        type=click.UNPROCESSED,
        help="Neither read nor leave a binary copy of the graph.",
    )(command)
    return click.option(
        "--cache",
        "cache",
        type=click.UNPROCESSED,
        callback=_named,
        metavar="FOLDER",
        default=None,
        help="Keep the binary copy of a large text graph in FOLDER, not in the user's cache.",
    )(command)


def _named_column(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    from groute_py.io.tables.columns import BY_TITLE

    if value == "":
        raise click.BadParameter("names no column", context, parameter)
    known = context.params.get("columns", BY_TITLE)
    context.params["columns"] = known._replace(**{str(parameter.name): value})
    return value


def column_options(command: F) -> F:
    """``--tail``, ``--head`` and ``--weight``, given to the command as one value ``columns``."""
    for role, holds in COLUMNS.items():
        command = click.option(
            f"--{role}",
            metavar="TITLE",
            callback=_named_column,
            expose_value=False,
            help=f"Of a table: the column of {holds}.  [by its title]",
        )(command)
    return command


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of a table."
)


SOLVE_OPTIONS = (
    click.option(
        "-s",
        "--source",
        metavar="ID",
        help="The source, by its id in the file.  [the first with arcs]",
    ),
    click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda."),
    click.option(
        "--partition",
        default="arcs",
        show_default=True,
        help="The parts have equally many arcs, or vertices; first: all on rank 0.",
    ),
    click.option(
        "--mode",
        default="auto",
        show_default=True,
        help="How GPUs exchange: auto, fused or rounds.",
    ),
    click.option(
        "--order",
        default="auto",
        show_default=True,
        help="The order of vertices: auto, none, bfs, rcm or hilbert.",
    ),
    click.option(
        "--coordinates",
        metavar="FILE",
        help="Coordinates of the vertices for hilbert.  [the .co beside GRAPH]",
    ),
    click.option("--no-predecessors", is_flag=True, help="Find distances only."),
    click.option(
        "-o",
        "--output",
        help="Save the result; its suffix chooses the form: .npz .npy .csv .txt .parquet .sol.",
    ),
    click.option("--output-format", metavar="NAME", help="Save in this form, whatever the suffix."),
    click.option(
        *("-t", "--target", "targets"),
        metavar="ID",
        multiple=True,
        help="Print the path to ID and stop once it is known; may be repeated.",
    ),
    click.option(
        "--verify", "check", is_flag=True, help="Check the answer by the optimality certificate."
    ),
    click.option(
        "-n", "--trials", type=click.IntRange(min=1), default=1, help="Solve so many times."
    ),
    click.option(
        "--time-limit", type=float, metavar="SECONDS", help="Give up after so many seconds."
    ),
    click.option(
        "--telemetry", metavar="FILE", help="Sample the use of the GPUs into FILE (.csv)."
    ),
    column_options,
    undirected_option,
    cache_options,
    json_option,
)
"""Of the commands that solve from one source."""


def solve_options(command: F) -> F:
    """All of `SOLVE_OPTIONS`."""
    for option in reversed(SOLVE_OPTIONS):
        command = option(command)
    return command


def cache_value(cache: Any) -> bool | Path | None:
    """What `groute_py.io.registry.read_graph` takes."""
    return Path(cache) if isinstance(cache, str) else cache
