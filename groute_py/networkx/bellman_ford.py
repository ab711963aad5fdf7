"""NetworkX's functions for weights that may be negative.

They use Bellman-Ford with a worklist (Moore, 1959) and Johnson's algorithm (1977). `backend.py` has
the rules for return values and exceptions. A length is in units of weight, a path a list of nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from groute_py.many.johnson import potentials, solve_johnson
from groute_py.networkx.graph import BackendGraph, Node
from groute_py.networkx.solves import networkx_errors, options, tree, trees, vertex_of
from groute_py.networkx.tree import Tree

METHOD = "bellman-ford"

Paths = dict[Node, list[Node]]
Lengths = dict[Node, Any]


def single_source_bellman_ford(
    G: BackendGraph, source: Node, target: Node | None = None, weight: str | None = "weight"
) -> tuple[Any, Any]:
    """Lengths and paths, to all nodes or to ``target``."""
    vertex_of(G, source)
    if target is not None and target == source:
        return 0, [target]
    found = tree(G, G.arcs(weight), source, options(algorithm=METHOD))
    if target is None:
        return found.lengths(), found.paths()
    if target not in G or target not in found:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return found.length(target), found.path(target)


def single_source_bellman_ford_path(
    G: BackendGraph, source: Node, weight: str | None = "weight"
) -> Paths:
    """Paths to all nodes."""
    return tree(G, G.arcs(weight), source, options(algorithm=METHOD)).paths()


def single_source_bellman_ford_path_length(
    G: BackendGraph, source: Node, weight: str | None = "weight"
) -> Lengths:
    """Lengths to all nodes."""
    choices = options(algorithm=METHOD, predecessors=False)
    return tree(G, G.arcs(weight), source, choices).lengths()


def bellman_ford_path(
    G: BackendGraph, source: Node, target: Node, weight: str | None = "weight"
) -> list[Node]:
    """A path to ``target``."""
    path: list[Node] = single_source_bellman_ford(G, source, target, weight)[1]
    return path


def bellman_ford_path_length(
    G: BackendGraph, source: Node, target: Node, weight: str | None = "weight"
) -> Any:
    """The length of a path to ``target``."""
    return single_source_bellman_ford(G, source, target, weight)[0]


def bellman_ford_predecessor_and_distance(
    G: BackendGraph,
    source: Node,
    target: Node | None = None,
    weight: str | None = "weight",
    heuristic: bool = False,
) -> tuple[Paths, Lengths]:
    """For each node its predecessors on all shortest paths, and the length.

    ``target`` and ``heuristic`` do not change NetworkX's answer, and are ignored.
    """
    vertex_of(G, source)
    arcs = G.arcs(weight)
    loops = arcs.heads == arcs.tails()
    if (arcs.weights[loops] < 0).any():  # NetworkX refuses these also where no path leads
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    found = tree(G, arcs, source, options(algorithm=METHOD, predecessors=False))
    if len(G) == 1:  # NetworkX leaves out a loop of weight 0 that a node alone has, and no other
        return {source: []}, found.lengths()
    return found.all_predecessors(arcs), found.lengths()


def all_pairs_bellman_ford_path(
    G: BackendGraph, weight: str | None = "weight"
) -> Iterator[tuple[Node, Paths]]:
    """Each node with paths from it."""
    return (
        (node, found.paths())
        for node, found in trees(G, G.arcs(weight), G, options(algorithm=METHOD))
    )


def all_pairs_bellman_ford_path_length(
    G: BackendGraph, weight: str | None = "weight"
) -> Iterator[tuple[Node, Lengths]]:
    """Each node with lengths from it."""
    choices = options(algorithm=METHOD, predecessors=False)
    all_trees = trees(G, G.arcs(weight), G, choices)
    return ((node, found.lengths()) for node, found in all_trees)


def johnson(G: BackendGraph, weight: str | None = "weight") -> dict[Node, Paths]:
    """Each node with paths from it."""
    if not len(G):
        return {}
    with networkx_errors():
        rows = solve_johnson(G.arcs(weight), range(len(G)), options())
    assert rows.predecessors is not None
    found = zip(G, rows.distances, rows.predecessors, strict=True)
    return {node: Tree(G, lengths, parents).paths() for node, lengths, parents in found}


def negative_edge_cycle(
    G: BackendGraph, weight: str | None = "weight", heuristic: bool = True
) -> bool:
    """Whether the graph has a negative cycle; ``heuristic`` is ignored."""
    try:
        with networkx_errors():
            potentials(G.arcs(weight), options())
    except nx.NetworkXUnbounded:
        return True
    return False
