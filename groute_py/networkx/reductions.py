"""The rows of distances behind measures of nodes, reduced where they are computed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np

from groute_py.centrality.dependencies import Accumulated, accumulated
from groute_py.centrality.distances import Reduced, reduced
from groute_py.comm.solo import SoloChannel
from groute_py.engine.options import Options
from groute_py.graph.csr import Graph
from groute_py.networkx.graph import BackendGraph, Node
from groute_py.networkx.solves import networkx_errors, vertex_of
from groute_py.solver.opened import Opened, source_of
from groute_py.system.settings import settings


def nodes_in(graph: BackendGraph, bunch: Any) -> list[Node]:
    """Those nodes of the graph that a node or a container names; all for None."""
    if bunch is None:
        return list(graph)
    bare = nx.Graph()
    bare.add_nodes_from(graph)
    return list(bare.nbunch_iter(bunch))


def rows_of(
    graph: BackendGraph,
    weight: str | None,
    nodes: Iterable[Node] | None = None,
    *,
    reverse: bool = False,
    measure: str,
) -> Reduced:
    """Reduce the rows of some nodes, at least one, for a measure of `reduced`; None for all."""
    arcs = non_negative(graph.arcs(weight))
    sources = None if nodes is None else np.array([vertex_of(graph, node) for node in nodes])
    with networkx_errors():
        found = reduced(_opened(arcs, reverse=reverse), sources, measure)
    assert found is not None
    return found


def dependencies_of(
    graph: BackendGraph,
    weight: str | None,
    nodes: Iterable[Node] | None,
    *,
    by_arc: bool = False,
    endpoints: bool = False,
) -> Accumulated:
    """Sums of dependencies of some nodes, at least one; None for all."""
    arcs = graph.arcs(weight)
    sources = None if nodes is None else np.array([vertex_of(graph, node) for node in nodes])
    with networkx_errors():
        opened = _opened(arcs, hops=weight is None)
        found = accumulated(opened, sources, by_arc=by_arc, endpoints=endpoints)
    assert found is not None
    return found


def _opened(arcs: Graph, *, reverse: bool = False, hops: bool = False) -> Opened:
    options = Options(device=settings().device, reverse=reverse, hops=hops)
    return Opened(source_of(arcs, options), SoloChannel(), options)


def non_negative(arcs: Graph) -> Graph:
    """The same arcs; NotImplementedError if a weight is negative."""
    if arcs.arc_count and arcs.weights.min() < 0:
        raise NotImplementedError("negative weights are left to NetworkX")
    return arcs
