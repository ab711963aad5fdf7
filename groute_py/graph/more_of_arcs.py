"""What a graph has of each arc beside head and weight, taken along where arcs change places."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from groute_py.graph.csr import Graph


def has_more(graph: Graph) -> bool:
    """Whether there are columns, shapes or ids of arcs."""
    return bool(graph.columns) or graph.shapes is not None or graph.arc_ids is not None


def of_arcs(graph: Graph, arcs: NDArray[Any], *, turned: bool = False) -> dict[str, Any]:
    """Weights, columns, shapes and ids of some arcs, as arguments of `Graph.changed`.

    Args:
        graph: on the host.
        arcs: their numbers, shape (k,).
        turned: whether tails and heads of them are exchanged.
    """
    weights = graph.weights[arcs]
    return {
        "weights": weights,
        "columns": {
            name: weights if column is graph.weights else column[arcs]
            for name, column in graph.columns.items()
        },
        "shapes": None if graph.shapes is None else graph.shapes.of_arcs(arcs, turned=turned),
        "arc_ids": None if graph.arc_ids is None else graph.arc_ids[arcs],
    }
