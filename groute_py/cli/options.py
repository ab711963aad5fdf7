"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field
from functools import partial, reduce
from typing import Any, NamedTuple, TypeVar

import click

from groute_py.cli.amounts import Integer, limit, number
from groute_py.cli.records import trace_option
from groute_py.engine.option import Option, options_of
from groute_py.engine.options import Options
from groute_py.errors import InputError
from groute_py.io.formats.osm.profiles import PROFILES
from groute_py.system.threads import limited_to

F = TypeVar("F", bound=Callable[..., Any])

COLUMNS = {
    "weight": "weights",
    "head": "the vertices that arcs lead to",
    "tail": "the vertices that arcs leave",
}
"""Contents of the columns of a table that options name, the last first."""

OF = {"weight": "Of a table, or of a .csr with several", "head": "Of a table", "tail": "Of a table"}

MEMORY = (
    "Take so much of the GPU's memory, such as 20G; on a CPU, for the matrix of floyd.  "
    "[all that is free]"
)
"""Says what is other than in Python: a unit may follow the number of bytes."""

NAMED = "all, ID,ID,…, @FILE, FILE.ss, random:N, or points FILE.csv, .geojson"
"""Values of an option of vertices."""

BOTH_CACHES = "--cache FOLDER and --no-cache: give one of them"

graph_argument = click.argument("graph")


device_option = click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Where to compute; auto takes a GPU if CUDA finds one.",
)


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return one decorator for several options, in the order of the help."""
    return lambda command: reduce(lambda inner, option: option(inner), reversed(options), command)


def _set_column(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    from groute_py.io.tables.columns import BY_TITLE

    if "" in (value if isinstance(value, tuple) else (value,)):
        raise click.BadParameter("names no column", context, parameter)
    before = context.params.get("columns", BY_TITLE)
    context.params["columns"] = before._replace(**{str(parameter.name): value})


class Where(NamedTuple):
    """The options that say where vertices lie: a file, a plane, and how far points may be."""

    coordinates: str | None = None
    planar: bool = False
    within: float | None = None
    snap: str = "vertex"
    access: str | None = None


def _set_where(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    before = context.params.get("where", Where())
    context.params["where"] = before._replace(**{str(parameter.name): value})


def _set_cache(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Set the parameter ``cache``, to a folder or to False."""
    if value == "":  # as of an empty variable of a shell: it would be the folder one is in
        raise click.BadParameter("names no folder", context, parameter)
    before = context.params.setdefault("cache", None)
    if value is None or (parameter.name == "no_cache" and not value):
        return
    if before is not None:
        raise click.UsageError(BOTH_CACHES, context)
    context.params["cache"] = False if parameter.name == "no_cache" else value


def _option(*flags: str, set_by: Callable[..., None], **how: Any) -> Callable[[F], F]:
    """Return an option that sets a parameter which it shares with others."""
    return click.option(*flags, callback=set_by, expose_value=False, **how)


column_options = together(
    *(
        _option(
            f"--{role}",
            metavar="TITLE",
            set_by=_set_column,
            help=f"{OF[role]}: the column of {COLUMNS[role]}.  [by its title]",
        )
        for role in reversed(COLUMNS)
    ),
    _option(
        *("--ignore-column", "ignore"),
        metavar="TITLE",
        multiple=True,
        set_by=_set_column,
        help="Of a table: read it as if this column were absent; may be repeated.",
    ),
    _option(
        "--undirected",
        is_flag=True,
        set_by=_set_column,
        help="Every arc of GRAPH is an edge, and also leads back.",
    ),
    _option(
        "--profile",
        type=click.Choice(list(PROFILES)),
        set_by=_set_column,
        help="Who travels, of an extract of OpenStreetMap.  [car]",
    ),
)
"""The choices for reading a file, given to the command as one value ``columns``."""

arc_weights_option = _option(
    "--arc-weights",
    metavar="FILE",
    set_by=_set_column,
    help="Take other weights for all arcs, in their order: .npy, or a table with a column weight.",
)
"""An option of commands whose answers depend on weights; part of ``columns``."""

cache_options = together(
    _option(
        "--cache",
        type=click.UNPROCESSED,
        metavar="FOLDER",
        set_by=_set_cache,
        help="Keep binary copies in FOLDER, of small files too.  [the user's cache, of large ones]",
    ),
    _option(
        "--no-cache",
        is_flag=True,
        set_by=_set_cache,
        help="Neither read nor leave a binary copy of the graph.",
    ),
)
"""Given to the command as one value ``cache``."""

place_options = together(
    _option(
        "--coordinates",
        metavar="FILE",
        set_by=_set_where,
        help="Where the vertices lie, DIMACS or a table.  [the graph's, or the .co beside it]",
    ),
    _option(
        "--planar",
        is_flag=True,
        set_by=_set_where,
        help="Coordinates are x and y on a plane, not longitude and latitude.",
    ),
    _option(
        *("--snap-within", "within"),
        type=float,
        metavar="DISTANCE",
        set_by=_set_where,
        help="How far points may lie from any vertex: metres, or units of the plane.  [1000 m]",
    ),
)
"""Given to the command as one value ``where``."""

snap_options = together(
    _option(
        "--snap",
        type=click.Choice(["vertex", "arc"]),
        default="vertex",
        show_default=True,
        set_by=_set_where,
        help="Paths begin and end at the vertex, or on the road, that is nearest to a point.",
    ),
    _option(
        "--access",
        metavar="SPEED",
        set_by=_set_where,
        help="With --snap arc count the way to the road too: 5km/h, or the weight of a metre.",
    ),
)
"""Options of commands that read a graph for one answer."""


def _refuse_turns(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value is not None:
        raise click.BadParameter(
            f"{context.command.name} knows no turns; sssp, apsp, matrix, nearest, isochrone, route "
            "and query take them",
            context,
            parameter,
        )


no_turns = _option(
    "--turns", hidden=True, set_by=_refuse_turns, help="An error that says which commands take it."
)
"""The option of commands on paths that do not take the option of others; says which do."""

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of a table."
)

verbose_option = click.option(
    "--verbose", is_flag=True, help="Show the time of each phase, not only the total."
)

resume_option = click.option(
    "--resume", is_flag=True, help="Go on with what an unfinished run has left in OUTPUT.partial."
)

format_option = click.option(
    *("--format", "form"),
    metavar="NAME",
    help="Write to standard output in this form, one of the suffixes without its dot.",
)


threads_option = click.option(
    "--threads",
    type=Integer(min=1),
    metavar="N",
    callback=lambda context, _, value: context.with_resource(limited_to(value)),
    expose_value=False,
    help="How many threads a rank may use, never more than it has cores.  "
    "[OMP_NUM_THREADS or NUMBA_NUM_THREADS, else one a core]",
)
"""Holds until the command ends."""

source_options = together(column_options, cache_options, threads_option)
"""Options for reading a graph, and for the threads that do so and solve."""

reading_options = together(source_options, json_option, verbose_option)
"""Options for reading a graph and showing its answer."""

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
"""Ends of paths, for the commands that solve from one source."""

ANSWERS = (
    click.option(
        "-o",
        "--output",
        help="Save the result; its suffix chooses the form: .npz .npy .csv .json .txt .parquet "
        ".sol; - is standard output.",
    ),
    click.option(
        *("--format", "--output-format", "output_format"),
        metavar="NAME",
        help="Save in this form, whatever the suffix.",
    ),
    click.option(
        "--verify", "check", is_flag=True, help="Check the answer by the optimality certificate."
    ),
    click.option("-n", "--trials", type=Integer(min=1), default=1, help="Solve so many times."),
    click.option(
        "--telemetry", metavar="FILE", help="Sample the use of the GPUs into FILE (.csv)."
    ),
    trace_option,
    arc_weights_option,
    reading_options,
)
"""Options for their answers, and for reading the graph."""


def which_option(flag: str, name: str, text: str, *, required: bool = False) -> Callable[[F], F]:
    """Return an option that names vertices."""
    return click.option(flag, name, metavar="WHICH", help=text, required=required)


def solve_options(command: str, **changes: dict[str, Any]) -> Callable[[F], F]:
    """Return all options of a command that solves from one source; as `options_from`."""
    return together(*ENDS, options_from(command, **changes), *ANSWERS)


def job_options(
    command: str,
    *own: Callable[[F], F],
    output: str,
    more: tuple[Callable[[F], F], ...] = (trace_option,),
    **changes: dict[str, Any],
) -> Callable[[F], F]:
    """Return the argument and all options of a command that answers a job; as `options_from`.

    ``output`` is the help of --output, and ``more`` options stand behind it.
    """
    saved = click.option("-o", "--output", help=f"{output}  - is standard output.")
    shared = (place_options, snap_options, options_from(command, **changes), saved, format_option)
    last = resume_option, arc_weights_option, reading_options
    return together(graph_argument, *own, *shared, *more, *last)


def options_from(command: str, **changes: dict[str, Any]) -> Callable[[F], F]:
    """Return the options that the fields of `Options` are to the function of a command's name.

    ``changes`` are arguments of `click.option` that are other than usual, by the field's name.
    """
    return together(
        *(
            _made_option(entry, about, changes.get(entry.name, {}))
            for entry, about in options_of(Options, command)
            if about.terminal
        )
    )


def flag_of(entry: Field[Any], about: Option) -> str:
    """Return the flag of a field that is an option.

    >>> [flag_of(*one) for one in options_of(Options, "apsp") if one[0].name == "predecessors"]
    ['--paths']
    """
    if about.flag:
        return about.flag
    name = entry.name.removesuffix("_s").replace("_", "-")
    return f"--no-{name}" if about.default is True else f"--{name}"


def _made_option(entry: Field[Any], about: Option, changes: dict[str, Any]) -> Callable[[F], F]:
    if isinstance(about.default, bool):
        how: dict[str, Any] = {"is_flag": True, "help": about.off or about.text}
        if about.default:
            how["callback"] = _negated
    else:
        how = {"help": about.text, "default": about.default, "metavar": about.metavar or None}
        if about.choices:
            how["metavar"] = f"[{'|'.join(about.choices)}]"
        how["multiple"] = entry.type.startswith("Sequence")  # annotations are text
        if "float" in entry.type:
            how["type"] = (limit if "str" in entry.type else number) if about.exact else float
        if about.unset:
            how["help"] += f"  [{about.unset}]"
        if entry.type == "str" and about.check is not None:
            how["callback"] = partial(_checked, about.check)
        how["show_default"] = about.default not in (None, ())
    return click.option(flag_of(entry, about), entry.name, **how | changes)


def _checked(
    check: Callable[[Any], None], context: click.Context, parameter: click.Parameter, name: str
) -> str:
    try:
        check(name)
    except InputError as error:
        raise click.BadParameter(str(error)) from error
    return name


def _negated(context: click.Context, parameter: click.Parameter, value: Any) -> bool:
    return not value
