"""NetworkX's functions of paths and their lengths; most are there for several methods.

Those named after Dijkstra use Δ-stepping (Meyer and Sanders, 2003), and leave graphs with negative
weights to NetworkX, whose Dijkstra raises its own error when it meets one. Those named after
Bellman and Ford use their method with a worklist (Moore, 1959). Others count edges, or use
Johnson's algorithm (1977). `backend.py` has the rules for return values and exceptions. A length is
in units of weight, a path a list of nodes; ``cutoff`` leaves out nodes with greater lengths.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from groute_py.engine.options import Options
from groute_py.many.johnson import potentials, solve_johnson
from groute_py.networkx import solves
from groute_py.networkx.graph import BackendGraph, Node, Weight, entries, entry
from groute_py.networkx.solves import SourceTree

DIJKSTRA, BELLMAN_FORD, UNWEIGHTED = "dijkstra", "bellman_ford", "shortest"
"""The methods, by their words in NetworkX's names."""

ALGORITHMS = {DIJKSTRA: "delta-stepping", BELLMAN_FORD: "bellman-ford", UNWEIGHTED: "auto"}
"""Δ-stepping refuses negative weights, also where `auto` would take another method."""

Cutoff = float | None
Target = Node | None
Paths = dict[Node, list[Node]]
Lengths = dict[Node, Any]


def _options(method: str, cutoff: Cutoff = None, *, paths: bool = True) -> Options:
    if method == UNWEIGHTED and cutoff is not None and not math.isinf(cutoff):
        cutoff = math.ceil(cutoff)  # a fraction of a step is a step, as in NetworkX
    return solves.options(algorithm=ALGORITHMS[method], cutoff=cutoff, predecessors=paths)


def _tree(
    graph: BackendGraph,
    source: Node,
    weight: Weight,
    method: str,
    cutoff: Cutoff = None,
    target: Target = None,
    *,
    paths: bool = True,
    backwards: bool = False,
) -> SourceTree:
    arcs = graph.arcs(weight).reversed() if backwards else graph.arcs(weight)
    last = None if method == BELLMAN_FORD else target
    return solves.tree(graph, arcs, source, _options(method, cutoff, paths=paths), last)


def _trees(
    graph: BackendGraph, weight: Weight, method: str, cutoff: Cutoff, *, paths: bool
) -> Iterator[tuple[Node, SourceTree]]:
    return solves.trees(graph, graph.arcs(weight), graph, _options(method, cutoff, paths=paths))


def _paths_to(
    graph: BackendGraph, target: Node, weight: Weight, method: str, cutoff: Cutoff = None
) -> Paths:
    paths = _tree(graph, target, weight, method, cutoff, backwards=True).paths()
    return {node: path[::-1] for node, path in paths.items()}


def _lengths_and_paths(result: SourceTree, target: Target) -> tuple[Any, Any]:
    """Return lengths and paths to all nodes, or to a target."""
    if target is None:
        return result.lengths(), result.paths()
    if target not in result:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return result.length(target), result.path(target)


@entries("single_source_{}", DIJKSTRA, BELLMAN_FORD)
def single_source(
    G: BackendGraph,
    source: Node,
    target: Target,
    weight: Weight,
    method: str,
    cutoff: Cutoff = None,
) -> tuple[Any, Any]:
    """Lengths and paths, to all nodes or to ``target``."""
    solves.vertex_of(G, source)
    if target is not None and target == source:
        return 0, [target]
    return _lengths_and_paths(_tree(G, source, weight, method, cutoff, target), target)


@entries("single_source_{}_path", *ALGORITHMS)
def paths_from(
    G: BackendGraph, source: Node, method: str, weight: Weight = None, cutoff: Cutoff = None
) -> Paths:
    """Paths to all nodes."""
    return _tree(G, source, weight, method, cutoff).paths()


@entries("single_source_{}_path_length", *ALGORITHMS)
def lengths_from(
    G: BackendGraph, source: Node, method: str, weight: Weight = None, cutoff: Cutoff = None
) -> Lengths:
    """Lengths to all nodes."""
    return _tree(G, source, weight, method, cutoff, paths=False).lengths()


@entries("{}_path", DIJKSTRA, BELLMAN_FORD)
def path_to(G: BackendGraph, source: Node, target: Node, weight: Weight, method: str) -> list[Node]:
    """A path to ``target``."""
    path: list[Node] = single_source(G, source, target, weight, method)[1]
    return path


@entries("{}_path_length", DIJKSTRA, BELLMAN_FORD)
def length_to(G: BackendGraph, source: Node, target: Node, weight: Weight, method: str) -> Any:
    """The length of a path to ``target``."""
    solves.vertex_of(G, source)
    if source == target:
        return 0
    result = _tree(G, source, weight, method, target=target, paths=False)
    if target not in result:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return result.length(target)


@entries("all_pairs_{}_path", *ALGORITHMS)
def all_paths(
    G: BackendGraph, method: str, weight: Weight = None, cutoff: Cutoff = None
) -> Iterator[tuple[Node, Paths]]:
    """Each node with paths from it."""
    every = _trees(G, weight, method, cutoff, paths=True)
    return ((node, result.paths()) for node, result in every)


@entries("all_pairs_{}_path_length", *ALGORITHMS)
def all_lengths(
    G: BackendGraph, method: str, weight: Weight = None, cutoff: Cutoff = None
) -> Iterator[tuple[Node, Lengths]]:
    """Each node with lengths from it."""
    every = _trees(G, weight, method, cutoff, paths=False)
    return ((node, result.lengths()) for node, result in every)


@entry
def all_pairs_dijkstra(
    G: BackendGraph, cutoff: Cutoff, weight: Weight
) -> Iterator[tuple[Node, tuple[Lengths, Paths]]]:
    """Each node with lengths and paths from it."""
    every = _trees(G, weight, DIJKSTRA, cutoff, paths=True)
    return ((node, (result.lengths(), result.paths())) for node, result in every)


@entry
def single_target_shortest_path(G: BackendGraph, target: Node, cutoff: Cutoff) -> Paths:
    """Paths from all nodes."""
    if target not in G:  # NetworkX's words here are others, and its tests look for them
        raise nx.NodeNotFound(f"Target {target} not in G")
    return _paths_to(G, target, None, UNWEIGHTED, cutoff)


@entry
def single_target_shortest_path_length(G: BackendGraph, target: Node, cutoff: Cutoff) -> Lengths:
    """Lengths from all nodes."""
    solves.vertex_of(G, target, "Target")
    return _tree(G, target, None, UNWEIGHTED, cutoff, paths=False, backwards=True).lengths()


@entry
def multi_source_dijkstra(
    G: BackendGraph, sources: Iterable[Node], target: Target, cutoff: Cutoff, weight: Weight
) -> tuple[Any, Any]:
    """Lengths and paths from the nearest source, to all nodes or to ``target``."""
    sources = list(sources)
    if target is not None and target in sources:
        for source in sources:
            solves.vertex_of(G, source)
        return 0, [target]
    return _lengths_and_paths(_nearest(G, sources, cutoff, weight), target)


@entry
def multi_source_dijkstra_path(
    G: BackendGraph, sources: Iterable[Node], cutoff: Cutoff, weight: Weight
) -> Paths:
    """Paths from the nearest source."""
    return _nearest(G, sources, cutoff, weight).paths()


@entry
def multi_source_dijkstra_path_length(
    G: BackendGraph, sources: Iterable[Node], cutoff: Cutoff, weight: Weight
) -> Lengths:
    """Lengths from the nearest source."""
    return _nearest(G, sources, cutoff, weight).lengths()


def _nearest(
    graph: BackendGraph, sources: Iterable[Node], cutoff: Cutoff, weight: Weight
) -> SourceTree:
    return solves.nearest(graph, graph.arcs(weight), sources, _options(DIJKSTRA, cutoff))


@entry
def bidirectional_dijkstra(
    G: BackendGraph, source: Node, target: Node, weight: Weight
) -> tuple[Any, list[Node]]:
    """Length and path to ``target``; the search goes forwards only."""
    solves.vertex_of(G, source)
    solves.vertex_of(G, target, "Target")
    return single_source(G, source, target, weight, DIJKSTRA)


@entry
def bidirectional_shortest_path(G: BackendGraph, source: Node, target: Node) -> list[Node]:
    """A path to ``target``; the search goes forwards only."""
    solves.vertex_of(G, source)
    solves.vertex_of(G, target, "Target")
    result = _tree(G, source, None, UNWEIGHTED, target=target)
    if target not in result:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return result.path(target)


@entry
def has_path(G: BackendGraph, source: Node, target: Node) -> bool:
    """Find out whether a path leads to ``target``."""
    solves.vertex_of(G, source)
    solves.vertex_of(G, target, "Target")
    return target in _tree(G, source, None, UNWEIGHTED, target=target, paths=False)


@entry
def shortest_path(
    G: BackendGraph, source: Node | None, target: Target, weight: Weight, method: str
) -> Any:
    """Paths from ``source`` or all nodes, to ``target`` or all nodes."""
    method = _method(weight, method)
    if source is None and target is None:
        return all_paths(G, method, weight)
    if source is None:
        return _paths_to(G, target, weight, method)
    if target is None:
        return paths_from(G, source, method, weight)
    if method == UNWEIGHTED:
        return bidirectional_shortest_path(G, source, target)
    if method == DIJKSTRA:
        return bidirectional_dijkstra(G, source, target, weight)[1]
    return path_to(G, source, target, weight, method)


@entry
def shortest_path_length(
    G: BackendGraph, source: Node | None, target: Target, weight: Weight, method: str
) -> Any:
    """Lengths from ``source`` or all nodes, to ``target`` or all nodes."""
    method = _method(weight, method)
    if source is None and target is None:
        return all_lengths(G, method, weight)
    if source is None:
        return _tree(G, target, weight, method, paths=False, backwards=True).lengths()
    if target is None:
        return lengths_from(G, source, method, weight)
    if method == UNWEIGHTED:
        return len(bidirectional_shortest_path(G, source, target)) - 1
    return length_to(G, source, target, weight, method)


def _method(weight: Weight, name: str) -> str:
    """The method of NetworkX's choice ``method``."""
    methods = {"dijkstra": DIJKSTRA, "bellman-ford": BELLMAN_FORD}
    if name not in methods:
        raise ValueError(f"method not supported: {name}")
    return UNWEIGHTED if weight is None else methods[name]


@entry
def dijkstra_predecessor_and_distance(
    G: BackendGraph, source: Node, cutoff: Cutoff, weight: Weight
) -> tuple[Paths, Lengths]:
    """For each node its predecessors on all shortest paths, and the length."""
    result = _tree(G, source, weight, DIJKSTRA, cutoff, paths=False)
    return result.all_predecessors(G.arcs(weight)), result.lengths()


@entry
def bellman_ford_predecessor_and_distance(
    G: BackendGraph, source: Node, weight: Weight
) -> tuple[Paths, Lengths]:
    """For each node its predecessors on all shortest paths, and the length."""
    solves.vertex_of(G, source)
    arcs = G.arcs(weight)
    loops = arcs.heads == arcs.tails()
    if (arcs.weights[loops] < 0).any():  # NetworkX refuses these also where no path leads
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    result = _tree(G, source, weight, BELLMAN_FORD, paths=False)
    if len(G) == 1:  # NetworkX leaves out a loop of weight 0 that a node alone has, and no other
        return {source: []}, result.lengths()
    return result.all_predecessors(arcs), result.lengths()


@entry
def johnson(G: BackendGraph, weight: Weight) -> dict[Node, Paths]:
    """Each node with paths from it."""
    if not len(G):
        return {}
    with solves.networkx_errors():
        rows = solve_johnson(G.arcs(weight), np.arange(len(G)), solves.options())
    assert rows.predecessors is not None
    every = zip(G, rows.distances, rows.predecessors, strict=True)
    return {node: SourceTree(G, lengths, parents).paths() for node, lengths, parents in every}


@entry
def negative_edge_cycle(G: BackendGraph, weight: Weight) -> bool:
    """Find out whether the graph has a negative cycle."""
    try:
        with solves.networkx_errors():
            potentials(G.arcs(weight), solves.options())
    except nx.NetworkXUnbounded:
        return True
    return False
