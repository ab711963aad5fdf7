"""NetworkX's functions for weights that are not negative, by Δ-stepping (Meyer and Sanders, 2003).

Graphs with negative weights are left to NetworkX's Dijkstra, which raises its own error when it
meets one. `backend.py` has the rules for return values and exceptions. A length is in units of
weight, a path a list of nodes; ``cutoff`` leaves out nodes with greater lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx

from groute_py.networkx.graph import BackendGraph, Node
from groute_py.networkx.solves import nearest, options, tree, trees, vertex_of

METHOD = "delta-stepping"
"""It refuses negative weights, also where `auto` would take another method."""

Paths = dict[Node, list[Node]]
Lengths = dict[Node, Any]


def multi_source_dijkstra(
    G: BackendGraph,
    sources: Iterable[Node],
    target: Node | None = None,
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> tuple[Any, Any]:
    """Lengths and paths from the nearest source, to all nodes or to ``target``."""
    sources = list(sources)
    if target is not None and target in sources:
        for source in sources:
            vertex_of(G, source)
        return 0, [target]
    found = nearest(G, G.arcs(weight), sources, options(algorithm=METHOD, cutoff=cutoff))
    if target is None:
        return found.lengths(), found.paths()
    if target not in G or target not in found:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return found.length(target), found.path(target)


def multi_source_dijkstra_path(
    G: BackendGraph,
    sources: Iterable[Node],
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> Paths:
    """Paths from the nearest source."""
    choices = options(algorithm=METHOD, cutoff=cutoff)
    return nearest(G, G.arcs(weight), sources, choices).paths()


def multi_source_dijkstra_path_length(
    G: BackendGraph,
    sources: Iterable[Node],
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> Lengths:
    """Lengths from the nearest source."""
    choices = options(algorithm=METHOD, cutoff=cutoff)
    return nearest(G, G.arcs(weight), sources, choices).lengths()


def single_source_dijkstra(
    G: BackendGraph,
    source: Node,
    target: Node | None = None,
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> tuple[Any, Any]:
    """Lengths and paths, to all nodes or to ``target``."""
    vertex_of(G, source)
    if target is not None and target == source:
        return 0, [target]
    found = tree(G, G.arcs(weight), source, options(algorithm=METHOD, cutoff=cutoff), target)
    if target is None:
        return found.lengths(), found.paths()
    if target not in G or target not in found:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return found.length(target), found.path(target)


def single_source_dijkstra_path(
    G: BackendGraph, source: Node, cutoff: float | None = None, weight: str | None = "weight"
) -> Paths:
    """Paths to all nodes."""
    return tree(G, G.arcs(weight), source, options(algorithm=METHOD, cutoff=cutoff)).paths()


def single_source_dijkstra_path_length(
    G: BackendGraph, source: Node, cutoff: float | None = None, weight: str | None = "weight"
) -> Lengths:
    """Lengths to all nodes."""
    choices = options(algorithm=METHOD, cutoff=cutoff, predecessors=False)
    return tree(G, G.arcs(weight), source, choices).lengths()


def dijkstra_path(
    G: BackendGraph, source: Node, target: Node, weight: str | None = "weight"
) -> list[Node]:
    """A path to ``target``."""
    path: list[Node] = single_source_dijkstra(G, source, target, weight=weight)[1]
    return path


def dijkstra_path_length(
    G: BackendGraph, source: Node, target: Node, weight: str | None = "weight"
) -> Any:
    """The length of a path to ``target``."""
    vertex_of(G, source)
    if source == target:
        return 0
    found = tree(G, G.arcs(weight), source, options(algorithm=METHOD, predecessors=False), target)
    if target not in G or target not in found:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return found.length(target)


def bidirectional_dijkstra(
    G: BackendGraph, source: Node, target: Node, weight: str | None = "weight"
) -> tuple[Any, list[Node]]:
    """Length and path to ``target``; the search goes forwards only."""
    vertex_of(G, source)
    vertex_of(G, target, "Target")
    if source == target:
        return 0, [source]
    found = tree(G, G.arcs(weight), source, options(algorithm=METHOD), target)
    if target not in found:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return found.length(target), found.path(target)


def dijkstra_predecessor_and_distance(
    G: BackendGraph, source: Node, cutoff: float | None = None, weight: str | None = "weight"
) -> tuple[Paths, Lengths]:
    """For each node its predecessors on all shortest paths, and the length."""
    arcs = G.arcs(weight)
    choices = options(algorithm=METHOD, cutoff=cutoff, predecessors=False)
    found = tree(G, arcs, source, choices)
    return found.all_predecessors(arcs), found.lengths()


def all_pairs_dijkstra(
    G: BackendGraph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Node, tuple[Lengths, Paths]]]:
    """Each node with lengths and paths from it."""
    return (
        (node, (found.lengths(), found.paths()))
        for node, found in trees(G, G.arcs(weight), G, options(algorithm=METHOD, cutoff=cutoff))
    )


def all_pairs_dijkstra_path(
    G: BackendGraph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Node, Paths]]:
    """Each node with paths from it."""
    return (
        (node, found.paths())
        for node, found in trees(G, G.arcs(weight), G, options(algorithm=METHOD, cutoff=cutoff))
    )


def all_pairs_dijkstra_path_length(
    G: BackendGraph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Node, Lengths]]:
    """Each node with lengths from it."""
    choices = options(algorithm=METHOD, cutoff=cutoff, predecessors=False)
    all_trees = trees(G, G.arcs(weight), G, choices)
    return ((node, found.lengths()) for node, found in all_trees)
