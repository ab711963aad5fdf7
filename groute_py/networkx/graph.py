"""From a NetworkX graph to ours, and back, and the functions of the backend by NetworkX's names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import networkx as nx

from groute_py.errors import GraphError
from groute_py.graph.csr import Graph
from groute_py.interop.networkx import graph_from_networkx

Node = Hashable

Weight = str | None  # the attribute with the weights; None counts edges


@dataclass(eq=False)
class BackendGraph:
    """A graph as NetworkX's dispatch hands it to the functions of this backend.

    Vertex v is ``nodes[v]``. An edge of an undirected graph is two arcs, of a multigraph as many as
    it has keys.
    """

    __networkx_backend__ = "groute"

    nodes: list[Node]
    weighted: Graph
    directed: bool
    weight: str | None  # the attribute of the weights; None if every arc weighs 1
    keys: list[Hashable] | None = None  # of each arc, in a multigraph

    @cached_property
    def index(self) -> dict[Node, int]:
        """The vertex of each node."""
        return {node: vertex for vertex, node in enumerate(self.nodes)}

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __contains__(self, node: Node) -> bool:
        return node in self.index

    def is_directed(self) -> bool:
        return self.directed

    def is_multigraph(self) -> bool:
        return self.keys is not None

    def arcs(self, weight: str | None) -> Graph:
        """The graph with the weights that a function was asked to use; None for 1 everywhere."""
        if weight is None:
            return self._unit
        if weight != self.weight:
            raise NotImplementedError(
                f"the graph was converted with the weights {self.weight!r}, not {weight!r}; "
                "call the function with the NetworkX graph"
            )
        return self.weighted

    @cached_property
    def _unit(self) -> Graph:
        return self.weighted.with_unit_weights()


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: dict[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    **_others: Any,
) -> BackendGraph:
    """Convert a NetworkX graph."""
    if hasattr(graph, "_graph"):  # a view: NetworkX does not clear its cache as the graph changes
        graph.__networkx_cache__ = None
    if preserve_edge_attrs or (edge_attrs is not None and len(edge_attrs) > 1):
        raise NotImplementedError("only one attribute can be the weight")
    weight, default = next(iter(edge_attrs.items())) if edge_attrs else (None, 1)
    try:
        arcs = graph_from_networkx(graph, weight, default)
    except GraphError as problem:
        raise NotImplementedError(str(problem)) from problem
    keys = None
    if graph.is_multigraph():  # of each arc, in the order of the rows
        keys = [key for _, row in graph.adjacency() for keys in row.values() for key in keys]
    return BackendGraph(list(graph), arcs, graph.is_directed(), weight, keys)


def convert_to_nx(graph: Any) -> Any:
    """Convert a `BackendGraph` to a NetworkX graph; other values are returned unchanged."""
    if not isinstance(graph, BackendGraph):
        return graph
    kinds = [[nx.Graph, nx.MultiGraph], [nx.DiGraph, nx.MultiDiGraph]]
    network = kinds[graph.is_directed()][graph.is_multigraph()]()
    network.add_nodes_from(graph.nodes)
    arcs = graph.weighted
    tails, heads, weights = arcs.tails().tolist(), arcs.heads.tolist(), arcs.weights.tolist()
    keys = [()] * len(heads) if graph.keys is None else [(key,) for key in graph.keys]
    for tail, head, key, weight in zip(tails, heads, keys, weights, strict=True):
        if graph.is_directed() or tail <= head:
            network.add_edge(graph.nodes[tail], graph.nodes[head], *key)
            if graph.weight is not None:
                network.edges[graph.nodes[tail], graph.nodes[head], *key][graph.weight] = weight
    return network


BY_NAME: dict[str, Callable[..., Any]] = {}

Function = TypeVar("Function", bound=Callable[..., Any])


def entry(function: Function) -> Function:
    """Register a function by its name; it takes those of NetworkX's parameters that it needs."""
    _register(function.__name__, function)
    return function


def entries(names: str, *methods: str) -> Callable[[Function], Function]:
    """Register a function for several methods, whose words take the place of ``{}`` in names."""

    def register(function: Function) -> Function:
        for method in methods:
            _register(names.format(method), function, method=method)
        return function

    return register


def _register(name: str, function: Callable[..., Any], **more: str) -> None:
    signature = inspect.signature(getattr(nx, name).orig_func)
    unused = signature.parameters.keys() - inspect.signature(function).parameters.keys()

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = {key: bound.arguments[key] for key in bound.arguments if key not in unused}
        return function(**arguments | more)

    call.__name__, call.__doc__ = name, function.__doc__
    vars(call)["__signature__"] = signature  # for the documents
    BY_NAME[name] = call
