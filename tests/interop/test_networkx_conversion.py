"""Graphs converted for the NetworkX backend, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from support.networks import needs_backend, networks

from groute_py.networkx.graph import convert_from_nx, convert_to_nx

pytestmark = needs_backend


def test_small_graphs_are_not_converted_by_themselves() -> None:
    small, large = nx.path_graph(10), nx.path_graph(2000)
    with nx.config(backend_priority=["groute"]):
        for network, converted in ((small, False), (large, True)):
            assert nx.shortest_path_length(network, 0, 5) == 5
            assert ("groute" in network.__networkx_cache__.get("backends", {})) == converted


VIEWS: dict[str, Callable[[Any], Any]] = {
    "the graph": lambda graph: graph,
    "subgraph": lambda graph: graph.subgraph(["a", "b", "c"]),
    "subgraph of a subgraph": lambda graph: graph.subgraph(["a", "b", "c", "d"]).subgraph("abc"),
    "edge subgraph": lambda graph: graph.edge_subgraph(list(graph.edges)),
    "filtered": lambda graph: nx.subgraph_view(graph, filter_node=lambda node: node != "d"),
    "all of it": nx.graphviews.generic_graph_view,
    "turned twice": lambda graph: nx.reverse_view(nx.reverse_view(graph)),
    "copied": lambda graph: graph.copy(as_view=True),
}

CHANGES: dict[str, Callable[[Any], Any]] = {
    "edge removed": lambda graph: graph.remove_edge("b", "c"),
    "edge added": lambda graph: graph.add_edge("a", "c", weight=1),
    "edge of another weight": lambda graph: graph.add_edge("a", "b", weight=2),
    "other weights": lambda graph: nx.set_edge_attributes(graph, 3, "weight"),
    "node removed": lambda graph: graph.remove_node("b"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("view", VIEWS)
def test_an_answer_after_a_change(view: str, change: str) -> None:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 5), ("b", "c", 1), ("a", "c", 9), ("d", "c", 1)])
    seen = VIEWS[view](graph)
    lengths = nx.single_source_dijkstra_path_length
    lengths(seen, "a", backend="groute")
    CHANGES[change](graph)
    assert lengths(seen, "a", backend="groute") == lengths(seen, "a", backend="networkx")


def test_a_converted_graph_knows_its_weights() -> None:
    network = nx.Graph([(0, 1, {"weight": 3, "toll": 7})])
    ready = convert_from_nx(network, edge_attrs={"toll": 1})
    assert nx.dijkstra_path_length(ready, 0, 1, weight="toll") == 7
    assert nx.dijkstra_path_length(ready, 0, 1, weight=None) == 1
    with pytest.raises(NotImplementedError):
        nx.dijkstra_path_length(ready, 0, 1, backend="groute")


@given(network=networks(least=1))
def test_back_and_forth(network: Any) -> None:
    """Kind, nodes, edges with their keys, and weights are what they were."""
    weighted = network.__class__(network)
    nx.set_edge_attributes(weighted, 1, "weight")
    nx.set_edge_attributes(weighted, nx.get_edge_attributes(network, "weight"), "weight")
    back = convert_to_nx(convert_from_nx(network, edge_attrs={"weight": 1}))
    assert type(back) is type(weighted)
    assert nx.utils.graphs_equal(back, weighted)


def test_keys_of_a_function_that_networkx_runs_itself() -> None:
    network = nx.MultiGraph()
    network.add_edges_from([(0, 1, "a", {"weight": 2}), (1, 2, "b", {"weight": 0})])
    ready = convert_from_nx(network, edge_attrs={"weight": 1})
    with nx.config(backend_priority=["networkx"]):
        scores = nx.edge_betweenness_centrality(ready, weight="weight")
    assert scores == nx.edge_betweenness_centrality(network, weight="weight")
