"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

graph_argument = click.argument("graph")


def _known_method(context: click.Context, parameter: click.Parameter, name: str) -> str:
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
        metavar="FOLDER",
        default=None,
        help="Keep the binary copy of a large text graph in FOLDER, not in the user's cache.",
    )(command)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of a table."
)


def cache_value(cache: Any) -> bool | Path | None:
    """What `groute_py.graph.files.read_graph` takes."""
    return Path(cache) if isinstance(cache, str) else cache
