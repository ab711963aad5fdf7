"""NetworkX's functions that choose one of the others by their arguments."""

from __future__ import annotations

from typing import Any

from groute_py.engine.options import Options
from groute_py.networkx import unweighted, weighted
from groute_py.networkx.graph import BackendGraph, Node
from groute_py.networkx.solves import options, tree

METHODS = {"dijkstra": weighted.DIJKSTRA, "bellman-ford": weighted.BELLMAN_FORD}
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
        if weight is None:
            return unweighted.all_pairs_shortest_path(G)
        return weighted.all_paths(G, weight, method=METHODS[method])
    if source is None:
        paths = tree(G, G.backwards(weight), target, choices).paths()
        return {node: path[::-1] for node, path in paths.items()}
    if target is None:
        return tree(G, G.arcs(weight), source, choices).paths()
    if weight is None:
        return unweighted.bidirectional_shortest_path(G, source, target)
    if method == "dijkstra":
        return weighted.bidirectional_dijkstra(G, source, target, weight)[1]
    return weighted.path_to(G, source, target, weight, method=METHODS[method])


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
        if weight is None:
            return unweighted.all_pairs_shortest_path_length(G)
        return weighted.all_lengths(G, weight, method=METHODS[method])
    if source is None:
        return tree(G, G.backwards(weight), target, choices).lengths()
    if target is None:
        return tree(G, G.arcs(weight), source, choices).lengths()
    if weight is None:
        return len(unweighted.bidirectional_shortest_path(G, source, target)) - 1
    return weighted.length_to(G, source, target, weight, method=METHODS[method])


def _options(weight: str | None, method: str, **more: Any) -> Options:
    if method not in METHODS:
        raise ValueError(f"method not supported: {method}")
    return options(algorithm="auto" if weight is None else METHODS[method], **more)
