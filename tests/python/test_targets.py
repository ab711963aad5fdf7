"""An early end, where all targets are final."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, scipy_distances
from support.methods import hops_from, needs
from support.solving import solve

from groute_py import UNREACHED, Graph, InputError, generate, sssp, verify

METHODS = ("delta-stepping", "bellman-ford", "frontier-dijkstra", "heap-dijkstra", "bfs")


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(
    graph=graphs(),
    source=st.integers(0, 23),
    targets=st.lists(st.integers(0, 23), min_size=1, max_size=3),
    patience=st.integers(0, 2),
)
def test_what_is_nearer_is_final(
    device: str,
    method: str,
    ranks: int,
    graph: Graph,
    source: int,
    targets: list[int],
    patience: int,
) -> None:
    needs(method, device)
    source %= graph.vertex_count
    targets = [target % graph.vertex_count for target in targets]
    hops = method == "bfs"
    options = {"algorithm": method, "hops": hops, "device": device, "targets": targets}
    result = solve(graph, source, ranks, patience, **options)
    full = hops_from(graph, source) if hops else scipy_distances(graph, source)
    bound = full[targets].max()
    np.testing.assert_array_equal(result.distances, np.where(full <= bound, full, UNREACHED))
    limit = None if bound == UNREACHED else float(bound)
    assert result.statistics["bound"] == limit
    verify(graph.with_unit_weights() if hops else graph, result, cutoff=limit)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("method", [method for method in METHODS if method != "bfs"])
@pytest.mark.parametrize("far", [2**53 + 1, 2**60 + 1, 2**62 - 1])
def test_targets_between_two_floats(device: str, method: str, ranks: int, far: int) -> None:
    needs(method, device)
    graph = graph_of(4, [(0, 1, far), (1, 2, 1), (0, 3, 7)], "int64")
    options = {"algorithm": method, "device": device, "targets": [1]}
    result = solve(graph, 0, ranks, **options)
    assert result.distances[[0, 1, 3]].tolist() == [0, far, 7]
    assert result.path_to(1) == [0, 1]
    assert result.statistics["bound"] == far
    assert result.distances[2] == UNREACHED
    verify(graph, result, cutoff=far)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_less_is_relaxed(device: str, method: str, ranks: int) -> None:
    needs(method, device)
    if method == "bellman-ford":
        pytest.skip("nothing is final before everything is")
    graph = generate("road:400x400")
    source = 400 * 200 + 200
    options = {"algorithm": method, "hops": method == "bfs", "device": device}
    full = solve(graph, source, ranks, **options)
    near = int(np.flatnonzero(full.distances == np.quantile(full.distances, 0.01).round())[0])
    part = solve(graph, source, ranks, **options, targets=[near])
    assert part.statistics["relaxations"] < full.statistics["relaxations"] / 3
    assert part.path_to(near)[-1] == near


def test_negative_weights_are_solved_to_the_end(device: str) -> None:
    graph = graph_of(4, [(0, 1, 1), (0, 2, 5), (2, 1, -4), (1, 3, 9)])
    result = solve(graph, 0, device=device, targets=[1])
    assert result.distances.tolist() == [0, 1, 5, 10]
    assert result.statistics["bound"] is None


def test_a_target_that_is_none(device: str) -> None:
    with pytest.raises(InputError, match="target 9 is not a vertex"):
        sssp(graph_of(2, []), 0, device=device, targets=[9])
