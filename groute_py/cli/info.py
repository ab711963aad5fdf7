"""``groute-py info``: what a graph is, and how it would be cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from groute_py.cli import show
from groute_py.cli.alone import on_rank_0
from groute_py.cli.options import (
    cache_options,
    column_options,
    graph_argument,
    json_option,
    undirected_option,
)

if TYPE_CHECKING:
    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns

MOST_PARTS = 1 << 16


@click.command()
@graph_argument
@click.option(
    "--parts",
    type=click.IntRange(1, MOST_PARTS),
    help="Show how many arcs a cut into so many parts crosses, and how even the parts are.",
)
@column_options
@undirected_option
@cache_options
@json_option
def info(
    graph: str,
    parts: int | None,
    columns: Columns,
    cache: Any,
    as_json: bool,
) -> None:
    """Counts, weights and degrees of GRAPH."""

    def work() -> None:
        import numpy as np

        from groute_py.graph.facts import facts_of
        from groute_py.source.graph_source import GraphSource

        with show.progress(f"reading {graph}") as progress:
            whole = GraphSource(graph, columns, cache=cache, progress=progress).graph()
        facts = facts_of(whole)
        degrees = np.diff(whole.offsets)
        rows: dict[str, Any] = {
            "graph": facts.name,
            "vertices": facts.vertex_count,
            "arcs": facts.arc_count,
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
            from groute_py.partition.choose import partition, partitioners
            from groute_py.partition.quality import quality

            for how in partitioners():
                found = quality(whole, partition(whole.offsets, parts, how))
                rows[f"cut_by_{how}"] = found.cut
                rows[f"imbalance_by_{how}"] = found.imbalance
        show.answer(rows, as_json=as_json)

    on_rank_0(work)


def _hierarchy(graph: Graph) -> dict[str, Any]:
    """What a prepared file has beside the graph."""
    from groute_py.hierarchy.prepared import hierarchy_of

    if (found := hierarchy_of(graph)) is None:
        return {}
    return {
        "levels": len(found.levels) - 1,
        "core": found.core_count,
        "core_arcs": len(found.core_heads),
        "arcs_upward": found.arc_count,
    }


def _more(graph: Graph, as_json: bool) -> dict[str, Any]:
    """Coordinates, weights by name, shapes, and whom to name."""
    rows: dict[str, Any] = {}
    if graph.coordinates is not None and len(graph.coordinates):
        low, high = (
            found.tolist() for found in (graph.coordinates.min(0), graph.coordinates.max(0))
        )
        rows["coordinates"] = [low, high] if as_json else f"x y from {low} to {high}"
    if graph.columns:
        names = list(graph.columns)
        rows["weights"] = names if as_json else ", ".join(names)
        rows["weights_in_use"] = graph.column
    if graph.shapes is not None:
        rows["points_between_ends"] = len(graph.shapes.points)
    if graph.attribution:
        rows["attribution"] = graph.attribution
    return rows


def _reading(graph: Graph, as_json: bool) -> dict[str, Any]:
    """Which columns of a table were read as what, and how many comments were skipped."""
    if graph.reading is None:
        return {}
    columns, comments, first_through = graph.reading
    rows: dict[str, Any] = {"columns": columns}
    if not as_json:
        named = ", ".join(f"{role} {title}" for role, title in columns.items())
        unit = "" if "weight" in columns else ", every arc weighs 1"
        rows = {"columns": f"{named}{unit}"} if columns else {}
    rows |= {"first_through": first_through} if first_through is not None else {}
    return rows | {"comments_skipped": comments}
