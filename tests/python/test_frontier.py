"""Dijkstra in rounds."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import graph_of, random_graph, scipy_distances
from support.solving import solve

from groute_py import generate, verify
from groute_py.kernels.choices import CRITERIA

FRONTIER = ["frontier-dijkstra", "frontier-dijkstra-in", "frontier-dijkstra-in-out"]


def test_worked_example(device: str) -> None:
    """The thesis, 3.1.3 and table 3-1: nine vertices in four rounds."""
    arcs = [(0, 2, 1), (0, 3, 2), (0, 4, 3), (2, 1, 2), (2, 7, 3), (3, 8, 1)]
    arcs += [(4, 5, 4), (1, 6, 2), (8, 6, 2), (7, 6, 1)]
    graph = graph_of(9, arcs)
    result = solve(graph, 0, algorithm="frontier-dijkstra", device=device)
    assert result.distances.tolist() == [0, 3, 1, 2, 3, 7, 5, 4, 3]
    assert result.statistics["steps"] == 4
    assert result.statistics["settled"] == 9


@pytest.mark.parametrize("spec", ["road:60x50", "random:2000,9000"])
def test_nothing_is_relaxed_twice(device: str, spec: str) -> None:
    graph = generate(spec)
    source = int(np.argmax(np.diff(graph.offsets)))
    rounds = {}
    for method in (*FRONTIER, "reduction-dijkstra"):
        result = solve(graph, source, algorithm=method, device=device)
        answer = result.statistics
        assert answer["relaxations"] == np.diff(graph.offsets)[result.reached].sum()
        assert answer["settled"] == result.reached.sum()
        rounds[method] = answer["steps"]
    assert rounds["reduction-dijkstra"] == len(np.unique(result.distances[result.reached]))
    assert rounds["frontier-dijkstra-in-out"] <= rounds["frontier-dijkstra"]
    assert rounds["frontier-dijkstra"] < rounds["reduction-dijkstra"]


def test_the_same_rounds_on_all_devices(device: str) -> None:
    graph = generate("road:60x50")
    source = int(np.argmax(np.diff(graph.offsets)))
    for method in FRONTIER:
        here, cpu = (solve(graph, source, algorithm=method, device=d) for d in (device, "cpu"))
        # a vertex that has become nearer within a round may be settled in it on a GPU
        steps = here.statistics["steps"], cpu.statistics["steps"]
        assert 0.9 * steps[1] <= steps[0] <= steps[1]


def test_many_open_vertices(device: str) -> None:
    """More than a block takes, so that the whole grid goes on."""
    graph = random_graph(60000, 400000, seed=3, greatest=1000)
    for method in FRONTIER:
        result = solve(graph, 0, algorithm=method, device=device)
        np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))
        verify(graph, result)


def test_the_criteria_have_names() -> None:
    assert set(CRITERIA) == {"min", "out", "in", "in-out"}
