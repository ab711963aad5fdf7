"""``groute-py info`` and ``algorithms``: what a graph is, and what each method can do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli.amounts import Integer
from groute_py.cli.options import arc_weights_option, graph_argument, json_option, source_options
from groute_py.cli.ranks import on_rank_0, read_graph
from groute_py.system.environment import place

if TYPE_CHECKING:
    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns

MOST_PARTS = 1 << 16


@click.command()
@graph_argument
@click.option(
    "--parts",
    type=Integer(1, MOST_PARTS),
    help="Show how many arcs a cut into so many parts crosses, and how even the parts are.",
)
@arc_weights_option
@source_options
@json_option
@on_rank_0
def info(graph: str, parts: int | None, columns: Columns, cache: Any, as_json: bool) -> None:
    """Counts, weights and degrees of GRAPH."""
    import numpy as np

    from groute_py.graph.facts import facts_of

    whole = read_graph(graph, columns, cache)
    facts = facts_of(whole)
    degrees = np.diff(whole.offsets)
    rows: dict[str, Any] = {
        **show.size(facts),
        "first_id": facts.first_id,
        "weight_type": facts.weight_type.name,
        "least_weight": facts.least,
        "greatest_weight": facts.greatest,
        "mean_weight": show.finite(facts.mean),
        "mean_degree": facts.mean_degree,
        "greatest_degree": int(degrees.max()) if len(degrees) else 0,
        "vertices_without_arcs_out": int((degrees == 0).sum()),
        "bytes": whole.nbytes,
    }
    rows |= _hierarchy(whole) | _more(whole, as_json) | _reading(whole, as_json)
    if parts is not None:
        from groute_py.partition.share import partition, partitioners, quality

        for how in partitioners():
            result = quality(whole, partition(whole.offsets, parts, how))
            rows[f"cut_by_{how}"] = result.cut
            rows[f"imbalance_by_{how}"] = result.imbalance
    show.answer(rows, as_json=as_json)


def _hierarchy(graph: Graph) -> dict[str, Any]:
    from groute_py.graph.hierarchy.prepared import hierarchy_of

    hierarchy = hierarchy_of(graph)
    return {} if hierarchy is None else show.hierarchy(hierarchy)


def _more(graph: Graph, as_json: bool) -> dict[str, Any]:
    """Return coordinates, weights by name, shapes, and the credit."""
    rows: dict[str, Any] = {}
    if graph.coordinates is not None and len(graph.coordinates):
        low, high = graph.coordinates.min(0).tolist(), graph.coordinates.max(0).tolist()
        rows["coordinates"] = [low, high] if as_json else f"x y from {low} to {high}"
    if graph.columns:
        names = list(graph.columns)
        rows["weights"] = names if as_json else ", ".join(names)
        rows["weights_in_use"] = graph.column
    if graph.shapes is not None:
        rows["points_between_ends"] = len(graph.shapes.points)
    return rows | show.attribution(graph.attribution)


def _reading(graph: Graph, as_json: bool) -> dict[str, Any]:
    """Return which columns of a table were read as what, and how many comments were skipped."""
    if graph.reading is None:
        return {}
    columns, comments, first_through, _ = graph.reading
    rows: dict[str, Any] = {"columns": columns}
    if not as_json:
        named = ", ".join(f"{role} {title}" for role, title in columns.items())
        unit = "" if "weight" in columns else ", every arc weighs 1"
        rows = {"columns": f"{named}{unit}"} if columns else {}
    rows |= {"first_through": first_through} if first_through is not None else {}
    return rows | {"comments_skipped": comments}


@click.command()
@json_option
def algorithms(as_json: bool) -> None:
    """List the methods of sssp --algorithm: where they run, what weights they take, what they cost.

    n is the number of vertices and m that of arcs. A method that is not distributed runs on rank 0,
    and the other ranks wait.
    """
    from groute_py.engine.algorithms.methods import algorithms

    if place().rank > 0:
        return
    rows: list[dict[str, Any]] = [
        {
            "algorithm": method.name,
            "devices": list(method.devices),
            "distributed": method.distributed,
            "weights": method.weights,
            "complexity": method.complexity,
            "summary": method.summary,
        }
        for method in algorithms().values()
    ]
    if as_json:
        click.echo(json.dumps(rows))
        return
    lines = [list(rows[0]), *([show.text_of(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    click.echo("\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines))
