"""NetworkX's Floyd–Warshall functions, by blocked Floyd–Warshall (1962) on the CPU.

Negative weights are replaced by Johnson's potentials. NotImplementedError leaves a graph to
NetworkX: one without nodes, with a negative cycle, or with lengths beyond 2⁵³.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.many.floyd import close_between
from groute_py.many.johnson import potentials
from groute_py.networkx.graph import BackendGraph, Node, Weight, entry
from groute_py.networkx.solves import networkx_errors, options

EXACT = 2**53  # up to here float64 holds every integer


@entry
def floyd_warshall(G: BackendGraph, weight: Weight) -> dict[Node, dict[Node, Any]]:
    """For each pair of nodes the length, infinite if no path leads."""
    graph = G.arcs(weight)
    matrix, _ = _closed(graph)
    return _by_node(G, matrix, graph)


@entry
def floyd_warshall_predecessor_and_distance(
    G: BackendGraph, weight: Weight
) -> tuple[dict[Node, dict[Node, Node]], dict[Node, dict[Node, Any]]]:
    """For each pair of nodes the predecessor of the second, and the length."""
    graph, nodes = G.arcs(weight), G.nodes
    matrix, parents = _closed(graph, nobody=-1)
    assert parents is not None
    loops = graph.heads == graph.tails()
    parents[graph.heads[loops], graph.heads[loops]] = graph.heads[loops]  # as in NetworkX
    before = {
        node: {nodes[v]: nodes[parent] for v, parent in enumerate(row) if parent >= 0}
        for node, row in zip(nodes, parents.tolist(), strict=True)
    }
    return {node: row for node, row in before.items() if row}, _by_node(G, matrix, graph)


@entry
def floyd_warshall_numpy(
    G: BackendGraph, nodelist: list[Node] | None, weight: Weight
) -> NDArray[np.float64]:
    """The lengths as a float64 matrix, shape (n, n), in the order of ``nodelist``."""
    matrix, _ = _closed(G.arcs(weight))
    if nodelist is None:
        return matrix
    if not len(nodelist) == len(G) == len(set(nodelist)):
        raise nx.NetworkXError(
            "nodelist must contain every node in G with no repeats. "
            "If you wanted a subgraph of G use G.subgraph(nodelist)"
        )
    order = [G.index[node] for node in nodelist]
    return matrix[np.ix_(order, order)]


def _closed(
    graph: Graph, nobody: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int32] | None]:
    """Lengths, and predecessors unless ``nobody`` is None; some are left to NetworkX."""
    count, height = graph.vertex_count, None
    if not count:
        raise NotImplementedError("a graph without nodes")
    if graph.weights.min(initial=0) < 0:
        try:
            with networkx_errors():
                height = potentials(graph, options())
        except nx.NetworkXUnbounded as error:
            raise NotImplementedError("lengths by way of a negative cycle") from error
    matrix = np.full((count, count), np.inf)
    tails = graph.tails()
    np.minimum.at(matrix, (tails, graph.heads), graph.weights)
    parents = close_between(matrix, height, nobody)
    if graph.weights.dtype.kind != "f":
        _refuse_inexact(matrix, height)
    return matrix, parents


def _refuse_inexact(matrix: NDArray[np.float64], height: NDArray[Any] | None) -> None:
    lengths = np.abs(matrix, where=np.isfinite(matrix), out=np.zeros_like(matrix))
    lift = 0 if height is None else 2 * int(np.abs(height).max())  # potentials were added to them
    if lengths.max() + lift >= EXACT:
        raise NotImplementedError("a length is beyond what float64 holds exactly")


def _by_node(
    graph: BackendGraph, matrix: NDArray[np.float64], arcs: Graph
) -> dict[Node, dict[Node, Any]]:
    rows = matrix.tolist()
    if arcs.weights.dtype.kind != "f":
        rows = [[x if x == np.inf else int(x) for x in row] for row in rows]
    return {
        node: dict(zip(graph.nodes, row, strict=True))
        for node, row in zip(graph.nodes, rows, strict=True)
    }
