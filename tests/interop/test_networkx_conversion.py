"""Graphs converted for the NetworkX backend, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from support.networks import needs_backend, networks

from groute_py.networkx.graph import convert_from_nx, convert_to_nx

pytestmark = needs_backend


@pytest.fixture(autouse=True)
def _no_word_of_the_cache() -> Iterator[None]:
    with nx.config(warnings_to_ignore={"cache"}):
        yield


def test_small_graphs_are_not_converted_by_themselves() -> None:
    small, large = nx.path_graph(10), nx.path_graph(2000)
    with nx.config(backend_priority=["groute"]):
        for network, converted in ((small, False), (large, True)):
            assert nx.shortest_path_length(network, 0, 5) == 5
            assert ("groute" in network.__networkx_cache__.get("backends", {})) == converted


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
