"""NetworkX's centralities that are made of shortest paths.

`backend.py` has the rules for return values and exceptions. ``weight`` and ``distance`` name the
attribute with the weights; None counts edges.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from networkx.utils import create_py_random_state
from numpy.typing import NDArray

from groute_py.centrality.dependencies import Accumulated
from groute_py.centrality.scores import estimated
from groute_py.device.base import unreached
from groute_py.networkx.entries import entry
from groute_py.networkx.graph import BackendGraph, Node, Weight
from groute_py.networkx.solves import (
    dependencies_of,
    nodes_in,
    non_negative,
    options,
    rows_of,
    trees,
)


@entry
def closeness_centrality(
    G: BackendGraph, u: Node | None, distance: Weight, wf_improved: bool
) -> Any:
    """By distances to each node; of ``u``, or of all nodes by node."""
    if not len(G) and u is None:
        return {}
    nodes = None if u is None else [u]
    rows = rows_of(G, distance, nodes, reverse=G.is_directed(), measure="closeness")
    values = rows.closeness(normalized=wf_improved).tolist()
    return dict(zip(G, values, strict=True)) if u is None else values[0]


@entry
def harmonic_centrality(
    G: BackendGraph, nbunch: Any, distance: Weight, sources: Any
) -> dict[Node, float]:
    """By distances to each node of ``nbunch``, from all nodes or ``sources``."""
    nodes = list(dict.fromkeys(nodes_in(G, nbunch)))
    if sources is not None:
        return _harmonic_from(G, nodes, distance, set(nodes_in(G, sources)))
    if not nodes:
        return {}
    rows = rows_of(G, distance, nodes, reverse=G.is_directed(), measure="harmonic")
    return dict(zip(nodes, rows.harmonic(normalized=False).tolist(), strict=True))


def _harmonic_from(
    graph: BackendGraph, nodes: list[Node], distance: Weight, sources: Iterable[Node]
) -> dict[Node, float]:
    arcs, sums = non_negative(graph.arcs(distance)), np.zeros(len(graph))
    for _, tree in trees(graph, arcs, sources, options(predecessors=False)):
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
    sums = dependencies_of(G, weight, sample, endpoints=endpoints)
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
        sums = dependencies_of(G, weight, sample, by_arc=True)
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
