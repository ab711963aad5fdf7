"""``groute-py plot``: a picture of a result, a graph, telemetry or a trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli.amounts import Integer
from groute_py.cli.options import source_options
from groute_py.cli.outputs import check_outputs_apart
from groute_py.cli.ranks import on_rank_0, read_graph
from groute_py.errors import InputError
from groute_py.system.clock import phase

if TYPE_CHECKING:
    from groute_py.io.tables.columns import Columns
    from groute_py.maps.plot import Wish
    from groute_py.results.result import Result


@click.command()
@click.argument("what", metavar="RESULT|GRAPH|TELEMETRY|TRACE")
@click.option(
    "--coordinates",
    metavar="FILE",
    help="Where vertices lie: .co, _node.tntp, a graph that says so, or road:WxH.  [the graph's]",
)
@click.option(
    "--planar", is_flag=True, help="Coordinates are x and y on a plane.  [as the numbers look]"
)
@click.option("--tree", is_flag=True, help="How many vertices each arc of the tree leads to.")
@click.option(
    *("--path", "targets"),
    metavar="ID",
    multiple=True,
    help="The shortest path to ID; may be repeated.",
)
@click.option("--parts", type=Integer(min=1), help="GRAPH, cut into so many parts.")
@click.option(
    "--partition",
    metavar="[arcs|vertices|first]",
    default="arcs",
    show_default=True,
    help="What the parts have equally many of.",
)
@click.option(
    "--unit", default="units of weight", show_default=True, help="Of the weights, for the legend."
)
@click.option(
    "--size", type=Integer(200, 20_000), default=1600, show_default=True, help="In pixels."
)
@click.option("-o", "--output", required=True, help="The picture: .png .svg.")
@source_options
@on_rank_0
def plot(
    what: str,
    coordinates: str | None,
    targets: tuple[str, ...],
    output: str,
    columns: Columns,
    cache: Any,
    **wishes: Any,
) -> None:
    """Draw a picture of a saved RESULT, a GRAPH, or the file of --telemetry or --trace.

    With coordinates it is a map: of distances, of the tree, of paths; of a GRAPH its arcs, or its
    parts. A RESULT without coordinates is drawn as a histogram of its distances.
    """
    from groute_py.io.tables.columns import BY_TITLE
    from groute_py.maps.plot import Wish, draw, subject_of

    wish = Wish(coordinates, **wishes)
    _check(wish, what, output)
    subject = subject_of(what)
    if subject is None:
        with phase("read"):
            subject = read_graph(what, columns, cache)
    elif columns != BY_TITLE or cache is not None:
        raise InputError(
            f"{what} is no graph; drop --undirected, --profile and options of columns and cache"
        )
    draw(subject, what, _with_paths(wish, subject, targets, what), Path(output))
    show.note(f"drawn into {output}")


def _check(wish: Wish, what: str, output: str) -> None:
    from groute_py.maps.sheet import check_picture

    wish.check()
    check_picture(Path(output))
    inputs = {"what is drawn": what, "--coordinates": wish.coordinates}
    check_outputs_apart(inputs, {"--output": output})


def _with_paths(wish: Wish, subject: Result | Any, targets: tuple[str, ...], name: str) -> Wish:
    """Return the wish with the targets of paths as vertices."""
    from dataclasses import replace

    if not targets:
        return wish
    numbering = getattr(subject, "numbering", None)
    wish.refuse("a picture of paths", "tree", "parts")
    if numbering is None:
        raise InputError(f"{name} has no paths; --path is for results and graphs")
    _ = [numbering.index_of(target, "target", name) for target in targets]
    return replace(wish, paths=targets)
