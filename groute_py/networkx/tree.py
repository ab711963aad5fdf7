"""From arrays by vertex to dictionaries by node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.graph.csr import Graph
from groute_py.networkx.graph import BackendGraph, Node


class Tree:
    """Shortest paths from one source, or from the nearest of several; −1 precedes sources."""

    def __init__(
        self, graph: BackendGraph, distances: NDArray[Any], predecessors: NDArray[np.int64] | None
    ) -> None:
        self._graph, self.distances, self._predecessors = graph, distances, predecessors

    def __contains__(self, node: Node) -> bool:
        is_node = node in self._graph
        return is_node and bool(self.length(node) != unreached(self.distances.dtype))

    def length(self, node: Node) -> Any:
        """A Python int or float."""
        return self.distances[self._graph.index[node]].item()

    def lengths(self) -> dict[Node, Any]:
        """Lengths of all nodes that paths lead to, from the nearest to the farthest."""
        nodes = self._graph.nodes
        order = self._in_order()
        return {
            nodes[vertex]: length
            for vertex, length in zip(order, self.distances[order].tolist(), strict=True)
        }

    def paths(self) -> dict[Node, list[Node]]:
        """To all nodes that paths lead to, from the nearest to the farthest."""
        assert self._predecessors is not None
        parents, nodes = self._predecessors.tolist(), self._graph.nodes
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
        assert self._predecessors is not None
        vertex, vertices = self._graph.index[node], []
        while vertex >= 0:
            vertices.append(vertex)
            vertex = int(self._predecessors[vertex])
        return [self._graph.nodes[vertex] for vertex in reversed(vertices)]

    def all_predecessors(self, arcs: Graph) -> dict[Node, list[Node]]:
        """Every node before each reached node on some shortest path."""
        nodes, distances = self._graph.nodes, self.distances
        tails = arcs.tails()
        reached = np.zeros(arcs.vertex_count, bool)
        reached[self._in_order()] = True
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
