"""The solves behind the functions of the backend, and trees of their answers by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from groute_py.centrality.dependencies import Accumulated, accumulated
from groute_py.centrality.distances import Reduced, reduced
from groute_py.comm.base import SoloChannel
from groute_py.device.base import unreached
from groute_py.engine.options import Options
from groute_py.errors import InputError, NegativeCycleError, RunError
from groute_py.graph.csr import Graph
from groute_py.many.johnson import solve_nearest
from groute_py.many.opened import Opened, source_of
from groute_py.many.rows import solve_each
from groute_py.networkx.graph import BackendGraph, Node, Weight


@dataclass(eq=False)
class SourceTree:
    """Shortest paths from one source, or from the nearest of several; −1 precedes sources."""

    graph: BackendGraph
    distances: NDArray[Any]
    predecessors: NDArray[np.int64] | None

    def __contains__(self, node: Node) -> bool:
        is_node = node in self.graph
        return is_node and bool(self.length(node) != unreached(self.distances.dtype))

    def length(self, node: Node) -> Any:
        """A Python int or float."""
        return self.distances[self.graph.index[node]].item()

    def lengths(self) -> dict[Node, Any]:
        """Lengths of all nodes that paths lead to, from the nearest to the farthest."""
        order = self._in_order()
        nodes = (self.graph.nodes[vertex] for vertex in order)
        return dict(zip(nodes, self.distances[order].tolist(), strict=True))

    def paths(self) -> dict[Node, list[Node]]:
        """To all nodes that paths lead to, from the nearest to the farthest."""
        assert self.predecessors is not None
        parents, nodes = self.predecessors.tolist(), self.graph.nodes
        paths: dict[int, list[Node]] = {-1: []}
        order = self._in_order()
        for vertex in order:
            waiting = []
            while vertex not in paths:  # a level or negative arc may put a child first
                waiting.append(vertex)
                vertex = parents[vertex]
            for child in reversed(waiting):
                paths[child] = [*paths[parents[child]], nodes[child]]
        return {nodes[vertex]: paths[vertex] for vertex in order}

    def path(self, node: Node) -> list[Node]:
        """From the source to ``node``."""
        assert self.predecessors is not None
        vertex, vertices = self.graph.index[node], []
        while vertex >= 0:
            vertices.append(vertex)
            vertex = int(self.predecessors[vertex])
        return [self.graph.nodes[vertex] for vertex in reversed(vertices)]

    def all_predecessors(self, arcs: Graph) -> dict[Node, list[Node]]:
        """Every node before each reached node on some shortest path."""
        nodes, distances = self.graph.nodes, self.distances
        tails, reached = arcs.tails(), distances != unreached(distances.dtype)
        there = reached[tails] & reached[arcs.heads]  # a sum can be what unreached ones have
        tails, heads, weights = tails[there], arcs.heads[there], arcs.weights[there]
        with np.errstate(over="ignore"):  # an infinite sum is not tight
            tight = distances[tails] + weights.astype(distances.dtype) == distances[heads]
        pairs = np.unique(np.stack([tails[tight], heads[tight]]), axis=1)  # parallel arcs once
        pairs = pairs[:, np.argsort(distances[pairs[0]], kind="stable")]
        before: dict[Node, list[Node]] = {nodes[vertex]: [] for vertex in self._in_order()}
        for tail, head in pairs.T.tolist():
            before[nodes[head]].append(nodes[tail])
        return before

    def _in_order(self) -> list[int]:
        reached = np.flatnonzero(self.distances != unreached(self.distances.dtype))
        order: list[int] = reached[np.argsort(self.distances[reached], kind="stable")].tolist()
        return order


def options(**choices: Any) -> Options:
    """Options for the device that the environment names, checked."""
    result = Options.of_environment(**choices)
    with networkx_errors():
        result.check("sssp")
    return result


def vertex_of(graph: BackendGraph, node: Node, role: str = "Source") -> int:
    """The vertex of a node; `nx.NodeNotFound` calls one that is not in the graph by its role."""
    try:
        return graph.index[node]
    except (KeyError, TypeError):
        raise nx.NodeNotFound(f"{role} {node} is not in G") from None


def nodes_in(graph: BackendGraph, bunch: Any) -> list[Node]:
    """Return the nodes of the graph that a node or a container names; all for None."""
    if bunch is None:
        return list(graph)
    bare = nx.Graph()
    bare.add_nodes_from(graph)
    return list(bare.nbunch_iter(bunch))


@contextmanager
def networkx_errors() -> Iterator[None]:
    """Translate errors to NetworkX's; NotImplementedError leaves the call to NetworkX."""
    try:
        yield
    except NegativeCycleError as error:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from error
    except (InputError, RunError) as error:
        raise NotImplementedError(str(error)) from error


def non_negative(arcs: Graph) -> Graph:
    """The same arcs; NotImplementedError if a weight is negative."""
    if arcs.arc_count and arcs.weights.min() < 0:
        raise NotImplementedError("negative weights are left to NetworkX")
    return arcs


def trees(
    graph: BackendGraph,
    arcs: Graph,
    sources: Iterable[Node],
    choices: Options,
    targets: Sequence[int] = (),
) -> Iterator[tuple[Node, SourceTree]]:
    """Each source with its tree, up to its last target if there are any; the graph is loaded once.

    The first solve is done at once: what cannot be solved is left to NetworkX, which can take over
    as long as nothing has been returned.
    """
    nodes = list(sources)
    vertices = [vertex_of(graph, node) for node in nodes]

    def solved() -> Iterator[tuple[Node, SourceTree]]:
        results = solve_each(arcs, vertices, choices, targets) if nodes else ()
        with networkx_errors():
            for node, result in zip(nodes, results, strict=True):
                yield node, SourceTree(graph, result.distances, result.predecessors)

    every = solved()
    return chain([*islice(every, 1)], every)


def tree(
    graph: BackendGraph, arcs: Graph, source: Node, choices: Options, target: Node | None = None
) -> SourceTree:
    """The tree of one source; with a target that is a node it need not lead farther."""
    targets = [graph.index[target]] if target is not None and target in graph else []
    ((_, only),) = trees(graph, arcs, [source], choices, targets)
    return only


def nearest(
    graph: BackendGraph, arcs: Graph, sources: Iterable[Node], choices: Options
) -> SourceTree:
    """The paths from the nearest of several sources."""
    vertices = [vertex_of(graph, node) for node in sources]
    if not vertices:
        raise ValueError("sources must not be empty")
    with networkx_errors():
        result = solve_nearest(arcs, np.array(vertices), choices)
    return SourceTree(graph, result.distances, result.predecessors)


def rows_of(
    graph: BackendGraph,
    weight: Weight,
    nodes: Iterable[Node] | None = None,
    *,
    reverse: bool = False,
    measure: str,
) -> Reduced:
    """Reduce the rows of some nodes, at least one, for a measure of `reduced`; None for all."""
    arcs = non_negative(graph.arcs(weight))
    sources = None if nodes is None else np.array([vertex_of(graph, node) for node in nodes])
    with networkx_errors():
        result = reduced(_opened(arcs, options(reverse=reverse)), sources, measure)
    assert result is not None
    return result


def dependencies_of(
    graph: BackendGraph,
    weight: Weight,
    nodes: Iterable[Node] | None,
    *,
    by_arc: bool = False,
    endpoints: bool = False,
) -> Accumulated:
    """Sums of dependencies of some nodes, at least one; None for all."""
    arcs = graph.arcs(weight)
    sources = None if nodes is None else np.array([vertex_of(graph, node) for node in nodes])
    with networkx_errors():
        opened = _opened(arcs, options(hops=weight is None))
        result = accumulated(opened, sources, by_arc=by_arc, endpoints=endpoints)
    assert result is not None
    return result


def _opened(arcs: Graph, choices: Options) -> Opened:
    return Opened(source_of(arcs, choices), SoloChannel(), choices)
