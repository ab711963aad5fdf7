"""NetworkX's centralities that are made of shortest paths, and measures of distances.

`backend.py` has the rules for return values and exceptions. ``weight`` and ``distance`` name the
attribute with the weights; None counts edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx
import numpy as np
from networkx.utils import create_py_random_state
from numpy.typing import NDArray

from groute_py.centrality.dependencies import Accumulated
from groute_py.centrality.distances import Reduced
from groute_py.centrality.scores import estimated
from groute_py.device.base import unreached
from groute_py.many.johnson import solve_nearest
from groute_py.networkx import solves
from groute_py.networkx.graph import BackendGraph, Node, Weight, entry
from groute_py.networkx.paths import ALGORITHMS, DIJKSTRA


@entry
def closeness_centrality(
    G: BackendGraph, u: Node | None, distance: Weight, wf_improved: bool
) -> Any:
    """By distances to each node; of ``u``, or of all nodes by node."""
    if not len(G) and u is None:
        return {}
    nodes = None if u is None else [u]
    rows = solves.rows_of(G, distance, nodes, reverse=G.is_directed(), measure="closeness")
    values = rows.closeness(normalized=wf_improved).tolist()
    return dict(zip(G, values, strict=True)) if u is None else values[0]


@entry
def harmonic_centrality(
    G: BackendGraph, nbunch: Any, distance: Weight, sources: Any
) -> dict[Node, float]:
    """By distances to each node of ``nbunch``, from all nodes or ``sources``."""
    nodes = list(dict.fromkeys(solves.nodes_in(G, nbunch)))
    if sources is not None:
        return _harmonic_from(G, nodes, distance, set(solves.nodes_in(G, sources)))
    if not nodes:
        return {}
    rows = solves.rows_of(G, distance, nodes, reverse=G.is_directed(), measure="harmonic")
    return dict(zip(nodes, rows.harmonic(normalized=False).tolist(), strict=True))


def _harmonic_from(
    graph: BackendGraph, nodes: list[Node], distance: Weight, sources: Iterable[Node]
) -> dict[Node, float]:
    arcs, sums = solves.non_negative(graph.arcs(distance)), np.zeros(len(graph))
    for _, tree in solves.trees(graph, arcs, sources, solves.options(predecessors=False)):
        row = tree.distances
        there = (row != unreached(row.dtype)) & (row != 0)
        sums[there] += 1 / row[there]
    return {node: sums[graph.index[node]].item() for node in nodes}


@entry
def betweenness_centrality(
    G: BackendGraph, k: int | None, normalized: bool, weight: Weight, endpoints: bool, seed: Any
) -> dict[Node, float]:
    """Betweenness of all nodes; from ``k`` nodes that are drawn, an estimate."""
    if not len(G):
        return {}
    sample = _sample(G, k, seed)
    if sample == []:
        return dict.fromkeys(G, 0.0)
    sums = solves.dependencies_of(G, weight, sample, endpoints=endpoints)
    return dict(zip(G, _estimated(G, sums, normalized).tolist(), strict=True))


@entry
def edge_betweenness_centrality(
    G: BackendGraph, k: int | None, normalized: bool, weight: Weight, seed: Any
) -> dict[Any, float]:
    """Betweenness of all edges, by key in a multigraph; an estimate from ``k`` drawn nodes."""
    if not len(G):
        return {}
    sample = _sample(G, k, seed)
    totals, is_light = np.zeros(G.weighted.arc_count), np.ones(G.weighted.arc_count, np.bool_)
    if sample != []:
        sums = solves.dependencies_of(G, weight, sample, by_arc=True)
        totals = _estimated(G, sums, normalized)
        if sums.job.simple.places is not None:
            is_light = sums.job.simple.places >= 0
    tails, heads = G.weighted.tails(), G.weighted.heads
    is_listed = np.ones(len(heads), np.bool_)
    if not G.is_directed():
        is_listed = tails <= heads
        totals = _both_ways(len(G), tails, heads, totals, is_light & is_listed)
    return dict(zip(_edges(G, tails, heads, is_listed), totals[is_listed].tolist(), strict=True))


def _both_ways(
    count: int,
    tails: NDArray[Any],
    heads: NDArray[Any],
    totals: NDArray[np.float64],
    is_light: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Divide the sum of an edge's two arcs among the lightest of parallel edges."""
    pairs = np.minimum(tails, heads).astype(np.int64) * count + np.maximum(tails, heads)
    _, pair = np.unique(pairs, return_inverse=True)
    sums, sharing = np.bincount(pair, totals), np.bincount(pair, is_light)
    each = np.divide(sums, sharing, out=np.zeros(len(sums)), where=sharing > 0)
    return np.where(is_light, each[pair], 0.0)


def _edges(graph: BackendGraph, tails: Any, heads: Any, listed: NDArray[np.bool_]) -> list[Any]:
    nodes, numbers = graph.nodes, np.flatnonzero(listed).tolist()
    ends = zip(tails[listed].tolist(), heads[listed].tolist(), strict=True)
    edges = [(nodes[tail], nodes[head]) for tail, head in ends]
    if graph.keys is None:
        return edges
    return [(*edge, graph.keys[arc]) for edge, arc in zip(edges, numbers, strict=True)]


def _sample(graph: BackendGraph, k: int | None, seed: Any) -> list[Node] | None:
    """The sources that NetworkX would draw; None for all."""
    if k is None:
        return None
    if k == 0 and len(graph) > 2:
        raise ZeroDivisionError("division by zero")  # as NetworkX does
    sample: list[Node] = create_py_random_state(seed).sample(list(graph), k)
    return sample


def _estimated(graph: BackendGraph, sums: Accumulated, normalized: bool) -> NDArray[np.float64]:
    """The values, over unordered pairs where NetworkX counts these."""
    values = estimated(sums, normalized=normalized)[0]
    return values if normalized or graph.is_directed() else values / 2


Eccentricities = dict[Node, Any]

METHODS = ("unweighted", "dijkstra", "bellman-ford", "floyd-warshall", "floyd-warshall-numpy")
"""By which NetworkX computes a mean distance."""


@entry
def eccentricity(G: BackendGraph, v: Any, sp: Any, weight: Weight) -> Any:
    """Eccentricity of a node, or of several or all by node; by the lengths ``sp`` if given."""
    nodes = solves.nodes_in(G, v)
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
    result = solves.rows_of(G, None if method == "unweighted" else weight, None, measure="mean")
    if not result.complete:
        kind = "strongly connected" if G.is_directed() else "connected"
        raise nx.NetworkXError(f"Graph is not {kind}.")
    return sum(result.rows.sums.tolist()) / (count * (count - 1))


@entry
def voronoi_cells(G: BackendGraph, center_nodes: Any, weight: Weight) -> dict[Any, set[Node]]:
    """The nodes that are nearest to each center, and those that no center reaches."""
    centers = [solves.vertex_of(G, node) for node in center_nodes]
    if not centers:
        raise ValueError("sources must not be empty")
    with solves.networkx_errors():
        choices = solves.options(algorithm=ALGORITHMS[DIJKSTRA])
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
    result = solves.rows_of(graph, weight, nodes, measure=measure)
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
