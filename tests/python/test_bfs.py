"""Breadth-first search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph
from support.methods import hops_from
from support.solving import solve

from groute_py import UNREACHED, Graph, InputError, bfs, generate, verify


@pytest.mark.parametrize("ranks", [1, 2, 3])
@settings(max_examples=30)
@given(graph=graphs(least=-5), source=st.integers(0, 23))
def test_hops_and_tree(device: str, ranks: int, graph: Graph, source: int) -> None:
    source %= graph.vertex_count
    result = solve(graph, source, ranks, algorithm="bfs", hops=True, device=device)
    np.testing.assert_array_equal(result.distances, hops_from(graph, source))
    verify(graph.with_unit_weights(), result)


@pytest.mark.parametrize("spec", ["road:300x300", "rmat:16", "rmat:13,4", "random:100000,300000"])
def test_generated(device: str, spec: str) -> None:
    graph = generate(spec)
    for source in (int(np.argmax(np.diff(graph.offsets))), 17):
        result = solve(graph, source, algorithm="bfs", hops=True, device=device)
        np.testing.assert_array_equal(result.distances, hops_from(graph, source))
        verify(graph.with_unit_weights(), result)


def test_directed(device: str) -> None:
    """Where arcs lead one way only, incoming arcs are others than outgoing ones."""
    graph = random_graph(50000, 800000, seed=8, greatest=9)
    result = solve(graph, 1, algorithm="bfs", hops=True, device=device)
    np.testing.assert_array_equal(result.distances, hops_from(graph, 1))
    verify(graph.with_unit_weights(), result)


def test_a_long_tail_behind_a_dense_part(device: str) -> None:
    dense = random_graph(20000, 400000, seed=2, greatest=1)
    tails = np.repeat(np.arange(20000), np.diff(dense.offsets))
    arcs = list(zip(tails.tolist(), dense.heads.tolist(), dense.weights.tolist(), strict=True))
    arcs += [(v, v + 1, 1) for v in range(19999, 20500)]
    graph = graph_of(20501, arcs)
    result = solve(graph, 0, algorithm="bfs", hops=True, device=device)
    np.testing.assert_array_equal(result.distances, hops_from(graph, 0))
    verify(graph.with_unit_weights(), result)


@pytest.mark.parametrize("ranks", [1, 2])
def test_cutoff(device: str, ranks: int) -> None:
    for spec, cutoff in (("road:60x50", 20), ("road:200x200", 100), ("rmat:12", 2)):
        graph = generate(spec)
        source = int(np.argmax(np.diff(graph.offsets)))
        options = {"algorithm": "bfs", "hops": True, "device": device, "cutoff": cutoff}
        result = solve(graph, source, ranks, **options)
        full = hops_from(graph, source)
        np.testing.assert_array_equal(result.distances, np.where(full <= cutoff, full, UNREACHED))
        verify(graph.with_unit_weights(), result, cutoff=cutoff)


def test_public_function(device: str) -> None:
    result = bfs("road:20x20", 3, device=device)
    assert result is not None
    assert result.statistics["algorithm"] == "bfs"
    assert result.distances.dtype == np.int64


def test_other_weights_are_refused(device: str) -> None:
    with pytest.raises(InputError, match="use groute-py bfs to count arcs"):
        solve(graph_of(2, [(0, 1, 3)]), 0, algorithm="bfs", device=device)
