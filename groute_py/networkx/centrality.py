"""NetworkX's centralities that are made of shortest paths.

`backend.py` has the rules for return values and exceptions. ``weight`` and ``distance`` name the
attribute with the weights; None counts edges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from networkx.utils import create_py_random_state
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.networkx.graph import BackendGraph, Node
from groute_py.networkx.reductions import dependencies_of, nodes_in, non_negative, rows_of
from groute_py.networkx.solves import distances_from, options


def closeness_centrality(
    G: BackendGraph, u: Node | None = None, distance: str | None = None, wf_improved: bool = True
) -> Any:
    """By distances to each node; of ``u``, or of all nodes by node."""
    if not len(G) and u is None:
        return {}
    nodes = None if u is None else [u]
    found = rows_of(G, distance, nodes, reverse=G.is_directed(), measure="closeness")
    values = found.closeness(normalized=wf_improved).tolist()
    return dict(zip(G, values, strict=True)) if u is None else values[0]


def harmonic_centrality(
    G: BackendGraph, nbunch: Any = None, distance: str | None = None, sources: Any = None
) -> dict[Node, float]:
    """By distances to each node of ``nbunch``, from all nodes or ``sources``."""
    nodes = list(dict.fromkeys(nodes_in(G, nbunch)))
    if sources is not None:
        return _harmonic_from(G, nodes, distance, set(nodes_in(G, sources)))
    if not nodes:
        return {}
    found = rows_of(G, distance, nodes, reverse=G.is_directed(), measure="harmonic")
    return dict(zip(nodes, found.harmonic(normalized=False).tolist(), strict=True))


def _harmonic_from(
    graph: BackendGraph, nodes: list[Node], distance: str | None, sources: Iterable[Node]
) -> dict[Node, float]:
    arcs, sums = non_negative(graph.arcs(distance)), np.zeros(len(graph))
    for row in distances_from(graph, arcs, sources, options(predecessors=False)):
        there = (row != unreached(row.dtype)) & (row != 0)
        sums[there] += 1 / row[there]
    return {node: sums[graph.index[node]].item() for node in nodes}


def betweenness_centrality(
    G: BackendGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Node, float]:
    """Of all nodes; from ``k`` nodes that are drawn, an estimate."""
    if not len(G):
        return {}
    drawn = _drawn(G, None if k == len(G) else k, seed)
    scales = _scales(G, drawn, normalized, endpoints=endpoints)
    if drawn == []:
        return dict.fromkeys(G, 0.0)
    values = dependencies_of(G, weight, drawn, endpoints=endpoints).totals * scales
    return dict(zip(G, values.tolist(), strict=True))


def edge_betweenness_centrality(
    G: BackendGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    seed: Any = None,
) -> dict[Any, float]:
    """Of all edges, of a multigraph by key; from ``k`` nodes that are drawn, an estimate."""
    if not len(G):
        return {}
    drawn = _drawn(G, k, seed)
    totals, is_light = np.zeros(G.weighted.arc_count), np.ones(G.weighted.arc_count, np.bool_)
    if drawn != []:
        found = dependencies_of(G, weight, drawn, by_arc=True)
        totals = found.totals
        if found.job.simple.places is not None:
            is_light = found.job.simple.places >= 0
    tails, heads = G.weighted.tails(), G.weighted.heads
    kept = np.ones(len(heads), np.bool_)
    if not G.is_directed():
        kept = tails <= heads
        totals = _both_ways(len(G), tails, heads, totals, is_light & kept)
    totals = totals * _scales(G, drawn, normalized, endpoints=True)[0]
    return dict(zip(_edges(G, tails, heads, kept), totals[kept].tolist(), strict=True))


def _both_ways(
    count: int,
    tails: NDArray[Any],
    heads: NDArray[Any],
    totals: NDArray[np.float64],
    is_light: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Of each edge what its two arcs have, divided among the lightest of parallel edges."""
    pairs = np.minimum(tails, heads).astype(np.int64) * count + np.maximum(tails, heads)
    _, pair = np.unique(pairs, return_inverse=True)
    sums, sharing = np.bincount(pair, totals), np.bincount(pair, is_light)
    each = np.divide(sums, sharing, out=np.zeros(len(sums)), where=sharing > 0)
    return np.where(is_light, each[pair], 0.0)


def _edges(graph: BackendGraph, tails: Any, heads: Any, kept: NDArray[np.bool_]) -> list[Any]:
    nodes = graph.nodes
    ends = zip(tails[kept].tolist(), heads[kept].tolist(), strict=True)
    named = [(nodes[tail], nodes[head]) for tail, head in ends]
    if graph.keys is None:
        return named
    keys = [key for key, is_kept in zip(graph.keys, kept.tolist(), strict=True) if is_kept]
    return [(*edge, key) for edge, key in zip(named, keys, strict=True)]


def _drawn(graph: BackendGraph, k: int | None, seed: Any) -> list[Node] | None:
    """The sources that NetworkX would draw; None for all."""
    if k is None:
        return None
    drawn: list[Node] = create_py_random_state(seed).sample(list(graph), k)
    return drawn


def _scales(
    graph: BackendGraph, drawn: list[Node] | None, normalized: bool, *, endpoints: bool
) -> NDArray[np.float64]:
    """What NetworkX multiplies the sum of each node by, shape (n,); edges count both ends.

    Without end points a drawn node has one source less than others, since it is one itself.

    Raises:
        ZeroDivisionError: no node was drawn, as in NetworkX.
    """
    count = len(graph) if endpoints else len(graph) - 1
    sources = count if drawn is None else len(drawn)
    if count < 2:
        return np.ones(len(graph))
    if drawn is None or endpoints:
        return np.full(len(graph), _scale(graph, sources, count, normalized))
    scales = np.full(len(graph), _scale(graph, sources, count, normalized))
    vertices = [graph.index[node] for node in drawn]
    scales[vertices] = math.nan if sources == 1 else _scale(graph, sources - 1, count, normalized)
    return scales


def _scale(graph: BackendGraph, sources: int, count: int, normalized: bool) -> float:
    if normalized:
        return 1 / (sources * (count - 1))
    return count / (sources * (1 if graph.is_directed() else 2))
