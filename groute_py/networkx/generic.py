"""NetworkX's functions that choose one of the others by their arguments."""

from __future__ import annotations

from typing import Any

from groute_py.networkx import bellman_ford, dijkstra, unweighted
from groute_py.networkx.graph import BackendGraph, Node
from groute_py.networkx.solves import options, tree

METHODS = {"dijkstra": dijkstra.METHOD, "bellman-ford": bellman_ford.METHOD}
"""By NetworkX's names."""


def shortest_path(
    G: BackendGraph,
    source: Node | None = None,
    target: Node | None = None,
    weight: str | None = None,
    method: str = "dijkstra",
) -> Any:
    """Paths from ``source`` or all nodes, to ``target`` or all nodes."""
    choices = _options(weight, method)
    if source is None and target is None:
        return _all_pairs_paths(G, weight, method)
    if source is None:
        found = tree(G, G.backwards(weight), target, choices).paths()
        return {node: path[::-1] for node, path in found.items()}
    if target is None:
        return tree(G, G.arcs(weight), source, choices).paths()
    if weight is None:
        return unweighted.bidirectional_shortest_path(G, source, target)
    if method == "dijkstra":
        return dijkstra.bidirectional_dijkstra(G, source, target, weight)[1]
    return bellman_ford.bellman_ford_path(G, source, target, weight)


def shortest_path_length(
    G: BackendGraph,
    source: Node | None = None,
    target: Node | None = None,
    weight: str | None = None,
    method: str = "dijkstra",
) -> Any:
    """Lengths from ``source`` or all nodes, to ``target`` or all nodes."""
    choices = _options(weight, method, predecessors=False)
    if source is None and target is None:
        return _all_pairs_lengths(G, weight, method)
    if source is None:
        return tree(G, G.backwards(weight), target, choices).lengths()
    if target is None:
        return tree(G, G.arcs(weight), source, choices).lengths()
    if weight is None:
        return len(unweighted.bidirectional_shortest_path(G, source, target)) - 1
    if method == "dijkstra":
        return dijkstra.dijkstra_path_length(G, source, target, weight)
    return bellman_ford.bellman_ford_path_length(G, source, target, weight)


def _options(weight: str | None, method: str, **more: Any) -> Any:
    if method not in METHODS:
        raise ValueError(f"method not supported: {method}")
    return options(algorithm="auto" if weight is None else METHODS[method], **more)


def _all_pairs_paths(G: BackendGraph, weight: str | None, method: str) -> Any:
    if weight is None:
        return unweighted.all_pairs_shortest_path(G)
    if method == "dijkstra":
        return dijkstra.all_pairs_dijkstra_path(G, weight=weight)
    return bellman_ford.all_pairs_bellman_ford_path(G, weight)


def _all_pairs_lengths(G: BackendGraph, weight: str | None, method: str) -> Any:
    if weight is None:
        return unweighted.all_pairs_shortest_path_length(G)
    if method == "dijkstra":
        return dijkstra.all_pairs_dijkstra_path_length(G, weight=weight)
    return bellman_ford.all_pairs_bellman_ford_path_length(G, weight)
