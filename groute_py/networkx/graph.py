"""From a NetworkX graph to ours, and back."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.kernels.cpu.build import csr_from_arcs

Node = Hashable


class BackendGraph:
    """A graph as NetworkX's dispatch hands it to the functions of this backend.

    Args:
        nodes: in NetworkX's order; vertex v of the arrays is ``nodes[v]``.
        graph: an edge of an undirected graph is two arcs, of a multigraph as many as it has keys.
        directed, multigraph: as in NetworkX.
        weight: the attribute that the weights are from, None if every arc weighs 1.
    """

    __networkx_backend__ = "groute"

    def __init__(
        self,
        nodes: list[Node],
        graph: Graph,
        *,
        directed: bool,
        multigraph: bool,
        weight: str | None,
    ) -> None:
        self.nodes, self.weighted, self.weight = nodes, graph, weight
        self._directed, self._multigraph = directed, multigraph
        self.index = {node: vertex for vertex, node in enumerate(nodes)}

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __contains__(self, node: Node) -> bool:
        return node in self.index

    def is_directed(self) -> bool:
        """As in NetworkX."""
        return self._directed

    def is_multigraph(self) -> bool:
        """As in NetworkX."""
        return self._multigraph

    def arcs(self, weight: str | None) -> Graph:
        """The graph with the weights that a function was asked to use; None for 1 everywhere.

        Raises:
            NotImplementedError: the graph was converted with another attribute.
        """
        if weight is None:
            return self._unit
        if weight != self.weight:
            raise NotImplementedError(
                f"the graph was converted with the weights {self.weight!r}, not {weight!r}; "
                "call the function with the NetworkX graph"
            )
        return self.weighted

    def backwards(self, weight: str | None) -> Graph:
        """As `arcs`, with every arc turned round."""
        graph = self.arcs(weight)
        return _graph_of(len(self), graph.heads, _tails(graph), graph.weights)

    @cached_property
    def _unit(self) -> Graph:
        graph = self.weighted
        return Graph(graph.offsets, graph.heads, np.ones(graph.arc_count, np.int32))


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: dict[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    **_others: Any,
) -> BackendGraph:
    """Convert a NetworkX graph.

    Args:
        graph: of any of NetworkX's four classes.
        edge_attrs: the attribute with the weights and its default; None for 1 everywhere.
        preserve_edge_attrs: all attributes are asked for; that cannot be.

    Raises:
        NotImplementedError: weights that are no finite machine numbers; NetworkX then runs its own
            function, if it may.
    """
    if preserve_edge_attrs or (edge_attrs is not None and len(edge_attrs) > 1):
        raise NotImplementedError("only one attribute can be the weight")
    weight, default = next(iter(edge_attrs.items())) if edge_attrs else (None, 1)
    nodes = list(graph)
    index = {node: vertex for vertex, node in enumerate(nodes)}
    tails, heads, values = [], [], []
    for tail, neighbours in graph.adjacency():
        for head, data in neighbours.items():
            for attributes in data.values() if graph.is_multigraph() else (data,):
                tails.append(index[tail])
                heads.append(index[head])
                values.append(attributes.get(weight, default))
    return BackendGraph(
        nodes,
        _graph_of(len(nodes), np.array(tails, int), np.array(heads, int), _weights(values)),
        directed=graph.is_directed(),
        multigraph=graph.is_multigraph(),
        weight=weight,
    )


def convert_to_nx(graph: Any) -> Any:
    """Convert back; what is no `BackendGraph` is returned as it is."""
    if not isinstance(graph, BackendGraph):
        return graph
    kinds = [[nx.Graph, nx.MultiGraph], [nx.DiGraph, nx.MultiDiGraph]]
    made = kinds[graph.is_directed()][graph.is_multigraph()]()
    made.add_nodes_from(graph.nodes)
    arcs = graph.weighted
    tails, heads, weights = _tails(arcs).tolist(), arcs.heads.tolist(), arcs.weights.tolist()
    for tail, head, weight in zip(tails, heads, weights, strict=True):
        if graph.is_directed() or tail <= head:
            attributes = {} if graph.weight is None else {graph.weight: weight}
            made.add_edge(graph.nodes[tail], graph.nodes[head], **attributes)
    return made


def _weights(values: list[Any]) -> NDArray[Any]:
    try:
        weights = np.array(values) if values else np.zeros(0, np.int32)
    except ValueError as problem:  # lists of several lengths
        raise NotImplementedError("a weight is not a number") from problem
    if weights.ndim != 1 or weights.dtype.kind not in "iufb" or weights.dtype == np.uint64:
        raise NotImplementedError("a weight is no machine number: None, text, or beyond 64 bits")
    if weights.dtype.kind == "f":
        if not np.isfinite(weights).all():
            raise NotImplementedError("a weight is infinite or NaN")
        return weights.astype(np.float64, copy=False)
    return weights


def _graph_of(count: int, tails: NDArray[Any], heads: NDArray[Any], weights: NDArray[Any]) -> Graph:
    return Graph.from_arrays(*csr_from_arcs(count, tails, heads, weights), name="the graph")


def _tails(graph: Graph) -> NDArray[np.int64]:
    return np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
