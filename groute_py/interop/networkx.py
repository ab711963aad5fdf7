"""Conversion of NetworkX graphs, through their own methods, without importing NetworkX."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, quote, quoted
from groute_py.graph.arrays import array_of, as_weights
from groute_py.graph.csr import Graph
from groute_py.graph.geography import OPENSTREETMAP
from groute_py.io.tables.titles import is_weight_title

NAME = "NetworkX graph"


def is_networkx(graph: Any) -> bool:
    """Find out whether it has the methods of NetworkX's graphs."""
    return hasattr(graph, "adjacency") and hasattr(graph, "is_multigraph")


def weight_of(network: Any, named: Any = None) -> Any:
    """The edge attribute of weights: the named one, ``weight``, or the one with such a title."""
    attributes: dict[Any, None] = {}
    for _, _, data in network.edges(data=True):
        attributes.update(dict.fromkeys(data))
    if named is not None:
        if named not in attributes and network.number_of_edges():
            there = ", ".join(map(repr, attributes)) or "none"
            raise GraphError(
                f"no edge has an attribute {quote(named)}; attributes there are: {quoted(there)}"
            )
        return named
    if "weight" in attributes:
        return "weight"
    weights = [name for name in attributes if is_weight_title(name)]
    if len(weights) > 1:
        names = quoted(" or ".join(map(str, weights)))
        raise GraphError(f"weights may be {names}; choose one with weight=")
    return weights[0] if weights else "weight"


def graph_from_networkx(
    network: Any, weight: Any = "weight", default: Any = 1, carry: Sequence[str] = ()
) -> Graph:
    """A graph whose vertex k is the k-th node, ``list(network)[k]``.

    An edge of an undirected graph is two arcs, one of a multigraph as many as it has keys. Where
    every node has numbers ``x`` and ``y``, as of OSMnx, they are its coordinates. ``carry`` names
    more attributes that each edge has, for the graph's columns.
    """
    if not is_networkx(network):
        raise GraphError(f"a NetworkX graph is expected, not {type(network).__name__}")
    vertex = {node: k for k, node in enumerate(network)}
    rows = [neighbours for _, neighbours in network.adjacency()]
    if network.is_multigraph():
        degrees = [sum(map(len, row.values())) for row in rows]
        heads = [vertex[head] for row in rows for head, keys in row.items() for _ in keys]
        edges = [data for row in rows for keys in row.values() for data in keys.values()]
    else:
        degrees = [len(row) for row in rows]
        heads = [vertex[head] for row in rows for head in row]
        edges = [data for row in rows for data in row.values()]
    weights = _weights([data.get(weight, default) for data in edges])
    columns = {
        name: as_weights(_weights([data.get(name) for data in edges], name)) for name in carry
    }
    offsets = np.cumsum([0, *degrees])
    graph = Graph.from_arrays(offsets, np.array(heads, np.int32), weights, copy=False, name=NAME)
    about = {"coordinates": _places(network), "attribution": _attribution(network)}
    return graph.changed(**about, columns=columns)


def with_node_ids(graph: Graph, network: Any) -> Graph:
    """The graph with its nodes as ids, if all of them are integers or all are strings."""
    nodes = list(network)
    kinds = {type(node) for node in nodes}
    if kinds == {str}:
        return graph.changed(ids=np.array(nodes))
    if kinds != {int} or not all(-(2**63) <= node < 2**63 for node in nodes):
        return graph
    first = nodes[0]
    if nodes == list(range(first, first + len(nodes))):
        return graph.changed(first_id=first)
    return graph.changed(ids=np.array(nodes, np.int64))


def _places(network: Any) -> NDArray[np.float64] | None:
    """Coordinates of the nodes, if those of each are known."""
    pairs = [(data.get("x"), data.get("y")) for _, data in network.nodes(data=True)]
    if not pairs or any(value is None for value in chain(*pairs)):
        return None
    try:
        places = np.array(pairs, np.float64)
    except (TypeError, ValueError):
        return None
    return places if places.ndim == 2 and np.isfinite(places).all() else None


def _attribution(network: Any) -> str:
    """The credit of graphs that OSMnx has made."""
    made_by = getattr(network, "graph", {}).get("created_with", "")
    return OPENSTREETMAP if str(made_by).startswith("OSMnx") else ""


def _weights(values: list[Any], name: str = "weight") -> NDArray[Any]:
    weights: NDArray[Any] = array_of(_numbers(values)) if values else np.zeros(0, np.int32)
    if weights.ndim != 1 or weights.dtype.kind not in "iufb" or weights.dtype == np.uint64:
        problem = "is None, text or beyond 64 bits; it must be a number"
        raise GraphError(f"an edge's {name} {problem}")
    # float64 also for float16 and the like, as Python would add them up
    return weights.astype(np.float64, copy=False) if weights.dtype.kind == "f" else weights


def _numbers(values: list[Any]) -> list[Any]:
    """Words that are all numbers as such, as in GraphML that OSMnx has written; else as given."""
    words = [value for value in values if isinstance(value, str)]
    if not words:
        return values
    for kind in (int, float):
        try:
            numbers = iter([kind(word) for word in words])
        except ValueError:
            continue
        return [next(numbers) if isinstance(value, str) else value for value in values]
    return values
