"""NetworkX's functions of weights; most are there for two methods.

Those named after Dijkstra use Δ-stepping (Meyer and Sanders, 2003), and leave graphs with negative
weights to NetworkX, whose Dijkstra raises its own error when it meets one. The others use
Bellman-Ford with a worklist (Moore, 1959) and Johnson's algorithm (1977). `backend.py` has the
rules for return values and exceptions. A length is in units of weight, a path a list of nodes;
``cutoff``, of which Bellman-Ford's functions have none, leaves out nodes with greater lengths.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import networkx as nx

from groute_py.many.johnson import potentials, solve_johnson
from groute_py.networkx.graph import BackendGraph, Node
from groute_py.networkx.solves import nearest, networkx_errors, options, tree, trees, vertex_of
from groute_py.networkx.tree import Tree

DIJKSTRA, BELLMAN_FORD = "delta-stepping", "bellman-ford"
"""The methods. The first refuses negative weights, also where `auto` would take another one."""

BY_BOTH: dict[str, Callable[..., Any]] = {}
"""Functions that are there for both methods, by NetworkX's names."""

Paths = dict[Node, list[Node]]
Lengths = dict[Node, Any]


def by_both(names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make two functions of NetworkX of one; ``{}`` in their names stands for the method."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for method, word in ((DIJKSTRA, "dijkstra"), (BELLMAN_FORD, "bellman_ford")):
            name = names.format(word)
            BY_BOTH[name] = _as_in_networkx(name, function, method)
        return function

    return register


def _as_in_networkx(name: str, function: Callable[..., Any], method: str) -> Callable[..., Any]:
    signature = inspect.signature(getattr(nx, name).orig_func)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return function(**bound.arguments, method=method)

    call.__name__, call.__doc__ = name, function.__doc__
    return call


def _tree(
    graph: BackendGraph,
    source: Node,
    weight: str | None,
    method: str,
    cutoff: float | None = None,
    target: Node | None = None,
    *,
    paths: bool = True,
) -> Tree:
    choices = options(algorithm=method, cutoff=cutoff, predecessors=paths)
    last = target if method == DIJKSTRA else None
    return tree(graph, graph.arcs(weight), source, choices, last)


def _trees(
    graph: BackendGraph, weight: str | None, method: str, cutoff: float | None, *, paths: bool
) -> Iterator[tuple[Node, Tree]]:
    choices = options(algorithm=method, cutoff=cutoff, predecessors=paths)
    return trees(graph, graph.arcs(weight), graph, choices)


@by_both("single_source_{}")
def single_source(
    G: BackendGraph,
    source: Node,
    target: Node | None,
    weight: str | None,
    cutoff: float | None = None,
    *,
    method: str,
) -> tuple[Any, Any]:
    """Lengths and paths, to all nodes or to ``target``."""
    vertex_of(G, source)
    if target is not None and target == source:
        return 0, [target]
    result = _tree(G, source, weight, method, cutoff, target)
    if target is None:
        return result.lengths(), result.paths()
    if target not in G or target not in result:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return result.length(target), result.path(target)


@by_both("single_source_{}_path")
def paths_from(
    G: BackendGraph, source: Node, weight: str | None, cutoff: float | None = None, *, method: str
) -> Paths:
    """Paths to all nodes."""
    return _tree(G, source, weight, method, cutoff).paths()


@by_both("single_source_{}_path_length")
def lengths_from(
    G: BackendGraph, source: Node, weight: str | None, cutoff: float | None = None, *, method: str
) -> Lengths:
    """Lengths to all nodes."""
    return _tree(G, source, weight, method, cutoff, paths=False).lengths()


@by_both("{}_path")
def path_to(
    G: BackendGraph, source: Node, target: Node, weight: str | None, *, method: str
) -> list[Node]:
    """A path to ``target``."""
    path: list[Node] = single_source(G, source, target, weight, method=method)[1]
    return path


@by_both("{}_path_length")
def length_to(
    G: BackendGraph, source: Node, target: Node, weight: str | None, *, method: str
) -> Any:
    """The length of a path to ``target``."""
    vertex_of(G, source)
    if source == target:
        return 0
    result = _tree(G, source, weight, method, target=target, paths=False)
    if target not in G or target not in result:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return result.length(target)


@by_both("all_pairs_{}_path")
def all_paths(
    G: BackendGraph, weight: str | None, cutoff: float | None = None, *, method: str
) -> Iterator[tuple[Node, Paths]]:
    """Each node with paths from it."""
    every = _trees(G, weight, method, cutoff, paths=True)
    return ((node, result.paths()) for node, result in every)


@by_both("all_pairs_{}_path_length")
def all_lengths(
    G: BackendGraph, weight: str | None, cutoff: float | None = None, *, method: str
) -> Iterator[tuple[Node, Lengths]]:
    """Each node with lengths from it."""
    every = _trees(G, weight, method, cutoff, paths=False)
    return ((node, result.lengths()) for node, result in every)


def all_pairs_dijkstra(
    G: BackendGraph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Node, tuple[Lengths, Paths]]]:
    """Each node with lengths and paths from it."""
    every = _trees(G, weight, DIJKSTRA, cutoff, paths=True)
    return ((node, (result.lengths(), result.paths())) for node, result in every)


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
    result = _nearest(G, sources, cutoff, weight)
    if target is None:
        return result.lengths(), result.paths()
    if target not in G or target not in result:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return result.length(target), result.path(target)


def multi_source_dijkstra_path(
    G: BackendGraph,
    sources: Iterable[Node],
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> Paths:
    """Paths from the nearest source."""
    return _nearest(G, sources, cutoff, weight).paths()


def multi_source_dijkstra_path_length(
    G: BackendGraph,
    sources: Iterable[Node],
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> Lengths:
    """Lengths from the nearest source."""
    return _nearest(G, sources, cutoff, weight).lengths()


def _nearest(
    graph: BackendGraph, sources: Iterable[Node], cutoff: float | None, weight: str | None
) -> Tree:
    return nearest(graph, graph.arcs(weight), sources, options(algorithm=DIJKSTRA, cutoff=cutoff))


def bidirectional_dijkstra(
    G: BackendGraph, source: Node, target: Node, weight: str | None = "weight"
) -> tuple[Any, list[Node]]:
    """Length and path to ``target``; the search goes forwards only."""
    vertex_of(G, source)
    vertex_of(G, target, "Target")
    length, path = single_source(G, source, target, weight, method=DIJKSTRA)
    return length, path


def dijkstra_predecessor_and_distance(
    G: BackendGraph, source: Node, cutoff: float | None = None, weight: str | None = "weight"
) -> tuple[Paths, Lengths]:
    """For each node its predecessors on all shortest paths, and the length."""
    result = _tree(G, source, weight, DIJKSTRA, cutoff, paths=False)
    return result.all_predecessors(G.arcs(weight)), result.lengths()


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
    result = _tree(G, source, weight, BELLMAN_FORD, paths=False)
    if len(G) == 1:  # NetworkX leaves out a loop of weight 0 that a node alone has, and no other
        return {source: []}, result.lengths()
    return result.all_predecessors(arcs), result.lengths()


def johnson(G: BackendGraph, weight: str | None = "weight") -> dict[Node, Paths]:
    """Each node with paths from it."""
    if not len(G):
        return {}
    with networkx_errors():
        rows = solve_johnson(G.arcs(weight), range(len(G)), options())
    assert rows.predecessors is not None
    every = zip(G, rows.distances, rows.predecessors, strict=True)
    return {node: Tree(G, lengths, parents).paths() for node, lengths, parents in every}


def negative_edge_cycle(
    G: BackendGraph, weight: str | None = "weight", heuristic: bool = True
) -> bool:
    """Find out whether the graph has a negative cycle; ``heuristic`` is ignored."""
    try:
        with networkx_errors():
            potentials(G.arcs(weight), options())
    except nx.NetworkXUnbounded:
        return True
    return False
