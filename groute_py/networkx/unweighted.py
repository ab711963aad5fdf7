"""NetworkX's functions that count edges; lengths are numbers of edges.

`backend.py` has the rules for return values and exceptions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import networkx as nx

from groute_py.engine.options import Options
from groute_py.networkx.graph import BackendGraph, Node
from groute_py.networkx.solves import options, tree, trees, vertex_of

Paths = dict[Node, list[Node]]
Lengths = dict[Node, int]


def single_source_shortest_path(G: BackendGraph, source: Node, cutoff: int | None = None) -> Paths:
    """Paths to all nodes."""
    return tree(G, G.arcs(None), source, _up_to(cutoff)).paths()


def single_source_shortest_path_length(
    G: BackendGraph, source: Node, cutoff: int | None = None
) -> Lengths:
    """Lengths to all nodes."""
    return tree(G, G.arcs(None), source, _up_to(cutoff, paths=False)).lengths()


def single_target_shortest_path(G: BackendGraph, target: Node, cutoff: int | None = None) -> Paths:
    """Paths from all nodes."""
    if target not in G:  # NetworkX's words here are others, and its tests look for them
        raise nx.NodeNotFound(f"Target {target} not in G")
    found = tree(G, G.backwards(None), target, _up_to(cutoff)).paths()
    return {node: path[::-1] for node, path in found.items()}


def single_target_shortest_path_length(
    G: BackendGraph, target: Node, cutoff: int | None = None
) -> Lengths:
    """Lengths from all nodes."""
    vertex_of(G, target, "Target")
    return tree(G, G.backwards(None), target, _up_to(cutoff, paths=False)).lengths()


def all_pairs_shortest_path(
    G: BackendGraph, cutoff: int | None = None
) -> Iterator[tuple[Node, Paths]]:
    """Each node with paths from it."""
    all_trees = trees(G, G.arcs(None), G, _up_to(cutoff))
    return ((node, found.paths()) for node, found in all_trees)


def all_pairs_shortest_path_length(
    G: BackendGraph, cutoff: int | None = None
) -> Iterator[tuple[Node, Lengths]]:
    """Each node with lengths from it."""
    return (
        (node, found.lengths())
        for node, found in trees(G, G.arcs(None), G, _up_to(cutoff, paths=False))
    )


def bidirectional_shortest_path(G: BackendGraph, source: Node, target: Node) -> list[Node]:
    """A path to ``target``; the search goes forwards only."""
    vertex_of(G, source)
    vertex_of(G, target, "Target")
    found = tree(G, G.arcs(None), source, options(), target)
    if target not in found:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return found.path(target)


def has_path(G: BackendGraph, source: Node, target: Node) -> bool:
    """Find out whether a path leads to ``target``."""
    vertex_of(G, source)
    vertex_of(G, target, "Target")
    return target in tree(G, G.arcs(None), source, options(predecessors=False), target)


def _up_to(cutoff: int | None, *, paths: bool = True) -> Options:
    # a fraction of a step is a step, as in NetworkX
    steps = cutoff if cutoff is None or math.isinf(cutoff) else math.ceil(cutoff)
    return options(cutoff=steps, predecessors=paths)
