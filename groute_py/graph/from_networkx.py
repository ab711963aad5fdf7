"""A graph from a NetworkX one. NetworkX is not imported: the object brings what is needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError
from groute_py.graph.csr import Graph
from groute_py.kernels.cpu.build import csr_from_arcs

NAME = "NetworkX graph"


def is_networkx(graph: Any) -> bool:
    """Whether it has what `graph_from_networkx` asks for."""
    return hasattr(graph, "adjacency") and hasattr(graph, "is_multigraph")


def graph_from_networkx(network: Any, weight: str | None = "weight", default: Any = 1) -> Graph:
    """A graph whose vertex k is the k-th node, ``list(network)[k]``.

    An edge of an undirected graph is two arcs, one of a multigraph as many as it has keys.

    Args:
        network: of any of NetworkX's four classes.
        weight: the edge attribute with the weights; None for ``default`` everywhere.
        default: the weight of edges without the attribute.

    Raises:
        GraphError: weights that are no finite machine numbers.
    """
    vertex = {node: k for k, node in enumerate(network)}
    tails, heads, values = [], [], []
    for tail, neighbours in network.adjacency():
        for head, data in neighbours.items():
            for attributes in data.values() if network.is_multigraph() else (data,):
                tails.append(vertex[tail])
                heads.append(vertex[head])
                values.append(attributes.get(weight, default))
    arcs = (np.array(tails, np.int64), np.array(heads, np.int64), _weights(values))
    return Graph.from_arrays(*csr_from_arcs(len(vertex), *arcs), name=NAME)


def _weights(values: list[Any]) -> NDArray[Any]:
    try:
        weights = np.array(values) if values else np.zeros(0, np.int32)
    except ValueError as problem:
        raise GraphError("an edge's weight is a sequence; it must be a number") from problem
    if weights.ndim != 1 or weights.dtype.kind not in "iufb" or weights.dtype == np.uint64:
        raise GraphError("an edge's weight is None, text or beyond 64 bits; it must be a number")
    # float64 also for float16 and the like, as Python would add them up
    return weights.astype(np.float64, copy=False) if weights.dtype.kind == "f" else weights
