"""What answers of large graphs are compared with is as right as a serial Dijkstra."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from support.graphs import arcs_by_id, random_graph
from support.places import ROOT

from groute_py import generate, prepare


@pytest.mark.parametrize("prepared", [False, True])
def test_both_ways_give_the_same(monkeypatch: pytest.MonkeyPatch, *, prepared: bool) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import reference

    graph = prepare("road:9x9", device="cpu") if prepared else generate("rmat:6")
    assert graph is not None
    serial = reference.right_distances(graph, 3)
    monkeypatch.setattr(reference, "SERIAL_UP_TO", 0)
    certified = reference.right_distances(graph, 3)
    assert certified.dtype == serial.dtype
    np.testing.assert_array_equal(certified, serial)


@pytest.mark.parametrize("greatest", [1, 3])
def test_dependencies(monkeypatch: pytest.MonkeyPatch, greatest: int) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.reference import right_dependencies

    graph = random_graph(40, 120, 3, greatest - 1)
    graph = graph.with_weights(graph.weights + 1)
    network = nx.DiGraph()
    network.add_nodes_from(range(40))
    network.add_weighted_edges_from(reversed(arcs_by_id(graph)))  # the lightest of parallel arcs
    theirs = nx.betweenness_centrality_subset(network, [7], list(network), weight="weight")
    expected = list(theirs.values())
    assert max(expected) > 1
    np.testing.assert_allclose(right_dependencies(graph, 7), expected, rtol=1e-12)
