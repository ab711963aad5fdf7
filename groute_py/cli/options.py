"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import Field
from functools import partial
from typing import Any, TypeVar

import click

from groute_py.cli.number import number
from groute_py.cli.trace import trace_option
from groute_py.engine.option import Option, options_of
from groute_py.engine.options import Options
from groute_py.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])

COLUMNS = {
    "weight": "weights",
    "head": "the vertices that arcs lead to",
    "tail": "the vertices that arcs leave",
}
"""What the columns of a table hold that options name, the last first."""

OF = {"weight": "Of a table, or of a .csr with several", "head": "Of a table", "tail": "Of a table"}

graph_argument = click.argument("graph")


def _set_column(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Set a field of the parameter ``columns``."""
    from groute_py.io.tables.columns import BY_TITLE

    if "" in (value if isinstance(value, tuple) else (value,)):
        raise click.BadParameter("names no column", context, parameter)
    known = context.params.get("columns", BY_TITLE)
    context.params["columns"] = known._replace(**{str(parameter.name): value})


undirected_option = click.option(
    "--undirected",
    is_flag=True,
    callback=_set_column,
    expose_value=False,
    help="Every arc of GRAPH is an edge, and also leads back.",
)
"""Given to the command as a field of ``columns``; to be used with `column_options`."""


BOTH_CACHES = "--cache FOLDER and --no-cache: give one of them"


def _named(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    if value == "":  # as of an empty variable of a shell: it would be the folder one is in
        raise click.BadParameter("names no folder", context, parameter)
    known = context.params.get("cache")  # False, or not there yet
    if value is not None and known is not None:
        raise click.UsageError(BOTH_CACHES, context)
    return known if value is None else value


def _without(context: click.Context, _: click.Parameter, value: bool) -> None:
    if not value:
        return
    if context.params.get("cache") is not None:
        raise click.UsageError(BOTH_CACHES, context)
    context.params["cache"] = False


def cache_options(command: F) -> F:
    """``--cache FOLDER`` and ``--no-cache``, given to the command as one value ``cache``."""
    command = click.option(
        "--no-cache",
        is_flag=True,
        expose_value=False,
        callback=_without,
        help="Neither read nor leave a binary copy of the graph.",
    )(command)
    return click.option(
        "--cache",
        "cache",
        type=click.UNPROCESSED,
        callback=_named,
        metavar="FOLDER",
        default=None,
        help="Keep binary copies in FOLDER, of small files too.  [the user's cache, of large ones]",
    )(command)


def column_options(command: F) -> F:
    """The columns of a table, given to the command as one value ``columns``."""
    command = click.option(
        "--ignore-column",
        "ignore",
        metavar="TITLE",
        multiple=True,
        callback=_set_column,
        expose_value=False,
        help="Of a table: read it as if this column were absent; may be repeated.",
    )(command)
    for role, holds in COLUMNS.items():
        command = click.option(
            f"--{role}",
            metavar="TITLE",
            callback=_set_column,
            expose_value=False,
            help=f"{OF[role]}: the column of {holds}.  [by its title]",
        )(command)
    return command


def _refuse_turns(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value is not None:
        raise click.BadParameter(
            f"{context.command.name} knows no turns; sssp, apsp, matrix, nearest, isochrone, route "
            "and query take them",
            context,
            parameter,
        )


no_turns = click.option(
    "--turns",
    hidden=True,
    expose_value=False,
    callback=_refuse_turns,
    metavar="FILE",
    help="An error that says which commands take it.",
)
"""Of commands on paths that do not take the option of others; says which do."""


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of a table."
)


def reading_options(command: F) -> F:
    """How a command reads its graph and shows its answer, to be used as a decorator."""
    return _with_options((column_options, undirected_option, cache_options, json_option), command)


ENDS = (
    click.option(
        "-s",
        "--source",
        metavar="ID",
        help="The source, by its id in the file.  [the first with arcs]",
    ),
    click.option(
        *("-t", "--target", "targets"),
        metavar="ID",
        multiple=True,
        help="Print the path to ID and stop once it is known; may be repeated.",
    ),
)
"""Where the paths begin and end, of the commands that solve from one source."""

ANSWERS = (
    click.option(
        "-o",
        "--output",
        help="Save the result; its suffix chooses the form: .npz .npy .csv .txt .parquet .sol.",
    ),
    click.option("--output-format", metavar="NAME", help="Save in this form, whatever the suffix."),
    click.option(
        "--verify", "check", is_flag=True, help="Check the answer by the optimality certificate."
    ),
    click.option(
        "-n", "--trials", type=click.IntRange(min=1), default=1, help="Solve so many times."
    ),
    click.option(
        "--telemetry", metavar="FILE", help="Sample the use of the GPUs into FILE (.csv)."
    ),
    trace_option,
    reading_options,
)
"""What becomes of their answers, and how they read the graph."""


def solve_options(command: str, **changes: dict[str, Any]) -> Callable[[F], F]:
    """All options of a command that solves from one source, to be used as a decorator.

    Args:
        command: its name; it has the `Options` of the function of that name.
        changes: arguments of `click.option` that are other than usual, by the name of the field.
    """

    def decorated(function: F) -> F:
        function = _with_options(ANSWERS, function)
        function = options_from(Options, command, **changes)(function)
        return _with_options(ENDS, function)

    return decorated


def options_from(kind: type, command: str, **changes: dict[str, Any]) -> Callable[[F], F]:
    """The options that the fields of a dataclass are, to be used as a decorator.

    Args:
        kind: the dataclass; its fields are made by `groute_py.engine.option.option`.
        command: takes those of the function of its name.
        changes: as for `solve_options`.
    """
    choices = [
        _made_option(entry, known, changes.get(entry.name, {}))
        for entry, known in options_of(kind, command)
        if known.terminal
    ]
    return partial(_with_options, choices)


def _with_options(options: Sequence[Callable[[F], F]], function: F) -> F:
    for option in reversed(options):
        function = option(function)
    return function


def flag_of(entry: Field[Any], known: Option) -> str:
    """The flag of a field that is an option.

    >>> [flag_of(*one) for one in options_of(Options, "apsp") if one[0].name == "predecessors"]
    ['--paths']
    """
    if known.flag:
        return known.flag
    name = entry.name.removesuffix("_s").replace("_", "-")
    return f"--no-{name}" if known.default is True else f"--{name}"


def _made_option(entry: Field[Any], known: Option, changes: dict[str, Any]) -> Callable[[F], F]:
    if isinstance(known.default, bool):
        how: dict[str, Any] = {"is_flag": True, "help": known.off or known.text}
        if known.default:
            how["callback"] = _negated
    else:
        how = {"help": known.text, "default": known.default, "metavar": known.metavar or None}
        if known.choices:
            how["metavar"] = f"[{'|'.join(known.choices)}]"
        if "float" in entry.type:  # annotations are text
            how["type"] = number if known.exact else float
        if known.unset:
            how["help"] += f"  [{known.unset}]"
        if entry.type == "str" and known.check is not None:
            how["callback"] = partial(_checked, known.check)
        how["show_default"] = known.default is not None
    return click.option(flag_of(entry, known), entry.name, **how | changes)


def _checked(
    check: Callable[[Any], None], context: click.Context, parameter: click.Parameter, name: str
) -> str:
    """A name that is known; others are refused before anything starts."""
    try:
        check(name)
    except InputError as error:
        raise click.BadParameter(str(error)) from error
    return name


def _negated(context: click.Context, parameter: click.Parameter, value: Any) -> bool:
    return not value
