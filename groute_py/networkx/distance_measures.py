"""NetworkX's measures of the distances between all nodes.

`backend.py` has the rules for return values and exceptions. ``weight`` names the attribute with the
weights; None counts edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from groute_py.centrality.distances import Reduced
from groute_py.many.johnson import solve_nearest
from groute_py.networkx.entries import entry
from groute_py.networkx.graph import BackendGraph, Node, Weight
from groute_py.networkx.paths import ALGORITHMS, DIJKSTRA
from groute_py.networkx.solves import networkx_errors, nodes_in, options, rows_of, vertex_of

Eccentricities = dict[Node, Any]

METHODS = ("unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy")
"""By which NetworkX computes a mean distance."""


@entry
def eccentricity(G: BackendGraph, v: Any, sp: Any, weight: Weight) -> Any:
    """Eccentricity of a node, or of several or all by node; by the lengths ``sp`` if given."""
    nodes = nodes_in(G, v)
    values = _eccentricities(G, nodes, weight) if sp is None else _from_lengths(G, nodes, sp)
    try:
        return values[v] if v in G else values
    except TypeError:  # a list is no node
        return values


@entry
def diameter(G: BackendGraph, e: Eccentricities | None, weight: Weight) -> Any:
    """The greatest of the eccentricities ``e``, or of all nodes."""
    if e is not None or not len(G):
        return max((e or {}).values())
    return _rows(G, weight, None, "diameter").rows.greatest.max().item()


@entry
def radius(G: BackendGraph, e: Eccentricities | None, weight: Weight) -> Any:
    """The least of the eccentricities ``e``, or of all nodes."""
    if e is not None or not len(G):
        return min((e or {}).values())
    return _rows(G, weight, None, "radius").rows.greatest.min().item()


@entry
def center(
    G: BackendGraph, e: Eccentricities | None, usebounds: bool, weight: Weight
) -> list[Node]:
    """The nodes whose eccentricity is the radius."""
    asks_for_tree = e is None and weight is None and not usebounds and not G.is_directed()
    if asks_for_tree and not len(G):  # nx.is_tree raises here
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return _nodes_at(min, G, e, weight)


@entry
def periphery(G: BackendGraph, e: Eccentricities | None, weight: Weight) -> list[Node]:
    """The nodes whose eccentricity is the diameter."""
    return _nodes_at(max, G, e, weight)


def _nodes_at(
    extreme: Callable[..., Any], graph: BackendGraph, e: Eccentricities | None, weight: Weight
) -> list[Node]:
    values = _eccentricities(graph, list(graph), weight) if e is None else e
    extremum = extreme(values.values())
    return [node for node, value in values.items() if value == extremum]


@entry
def average_shortest_path_length(G: BackendGraph, weight: Weight, method: str | None) -> Any:
    """The mean length of the shortest paths of all ordered pairs of nodes."""
    if method is not None and method not in METHODS:
        raise ValueError(f"method not supported: {method}")
    count = len(G)
    if count == 0:
        raise nx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if count == 1:
        return 0
    result = rows_of(G, None if method == "unweighted" else weight, None, measure="mean")
    if not result.complete:
        kind = "strongly connected" if G.is_directed() else "connected"
        raise nx.NetworkXError(f"Graph is not {kind}.")
    return sum(result.rows.sums.tolist()) / (count * (count - 1))


@entry
def voronoi_cells(G: BackendGraph, center_nodes: Any, weight: Weight) -> dict[Any, set[Node]]:
    """The nodes that are nearest to each center, and those that no center reaches."""
    centers = [vertex_of(G, node) for node in center_nodes]
    if not centers:
        raise ValueError("sources must not be empty")
    with networkx_errors():
        choices = options(algorithm=ALGORITHMS[DIJKSTRA])
        origins = solve_nearest(G.arcs(weight), np.unique(centers), choices).origins
    cells: dict[Any, set[Node]] = {}
    for node, origin in zip(G, origins.tolist(), strict=True):
        cells.setdefault("unreachable" if origin < 0 else G.nodes[origin], set()).add(node)
    return cells


def _eccentricities(graph: BackendGraph, nodes: list[Node], weight: Weight) -> Eccentricities:
    if not nodes:
        return {}
    result = _rows(graph, weight, nodes, "eccentricity")
    return dict(zip(nodes, result.rows.greatest.tolist(), strict=True))


def _rows(graph: BackendGraph, weight: Weight, nodes: list[Node] | None, measure: str) -> Reduced:
    """Return `rows_of` nodes that reach all others."""
    result = rows_of(graph, weight, nodes, measure=measure)
    if not result.complete:
        raise _not_connected(graph)
    return result


def _from_lengths(graph: BackendGraph, nodes: list[Node], lengths: Any) -> Eccentricities:
    values: Eccentricities = {}
    for node in nodes:
        try:
            row = lengths[node]
            count = len(row)
        except TypeError as problem:
            raise nx.NetworkXError('Format of "sp" is invalid.') from problem
        if count != len(graph):
            raise _not_connected(graph)
        values[node] = max(row.values())
    return values


def _not_connected(graph: BackendGraph) -> nx.NetworkXError:
    kind = "digraph is not strongly" if graph.is_directed() else "graph is not"
    return nx.NetworkXError(f"Found infinite path length because the {kind} connected")
