"""Negative weights and cycles: textbook graphs, and all pairs of random ones.

Skipped where the data folder is missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.known_answers import from_arcs, length
from support.solving import solve

from groute_py import Graph, NegativeCycleError, verify
from groute_py.comm.base import SoloChannel
from groute_py.engine.algorithms.methods import algorithms
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.source.whole import GraphSupply

# Textbook graphs: `n`, `m`, then arcs with ids from 0.


def read_textbook(path: Path) -> Graph:
    count, _, *numbers = path.read_text().split()
    arcs = np.array(numbers, dtype=np.float64).reshape(-1, 3)
    return from_arcs(
        int(count), arcs[:, 0].astype(np.int64), arcs[:, 1].astype(np.int64), arcs[:, 2]
    )


@pytest.mark.parametrize("ranks", [1, 2, 4])
class TestTextbook:
    """Sedgewick and Wayne, Algorithms: 8 vertices."""

    @pytest.mark.parametrize(
        ("name", "distances"),
        [
            ("tinyEWD", [0, 1.05, 0.26, 0.99, 0.38, 0.73, 1.51, 0.60]),
            ("tinyEWDn", [0, 0.93, 0.26, 0.99, 0.26, 0.61, 1.51, 0.60]),
        ],
    )
    def test_distances(
        self, device: str, ranks: int, name: str, distances: list[float], data_folder: Path
    ) -> None:
        graph = read_textbook(data_folder / "textbook" / f"{name}.txt")
        result = solve(graph, 0, ranks, device=device)
        np.testing.assert_allclose(result.distances, distances, rtol=1e-12)
        verify(graph, result)

    def test_negative_cycle(self, device: str, ranks: int, data_folder: Path) -> None:
        graph = read_textbook(data_folder / "textbook" / "tinyEWDnc.txt")
        with pytest.raises(NegativeCycleError) as caught:
            solve(graph, 0, ranks, device=device)
        assert caught.value.cycle in ([4, 5, 4], [5, 4, 5])
        assert caught.value.weight == pytest.approx(-0.66 + 0.37 - 0.02, abs=0.4)


# Directed graphs with weights −100..99, and the least distance over all pairs of vertices.

PAIRS = [f"{number}_{2 ** ((number - 1) // 4 + 1)}" for number in range(1, 21)]
PAIRS += ["21_64", "22_64"]


def read_pairs(path: Path) -> Graph:
    numbers = np.loadtxt(path, dtype=np.int64, skiprows=1, ndmin=2)
    count = int(path.read_text().split()[0])
    return from_arcs(count, numbers[:, 0] - 1, numbers[:, 1] - 1, numbers[:, 2])


def rounds_of_bellman_ford(graph: Graph, source: int) -> Any | None:
    """Distances by the textbook's n rounds, or None where they still sink: an oracle."""
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    distances = np.full(graph.vertex_count, np.inf)
    distances[source] = 0
    for _ in range(graph.vertex_count):
        before = distances.copy()
        np.minimum.at(distances, graph.heads, before[tails] + graph.weights)
        if np.array_equal(distances, before):
            return distances
    return None


@pytest.mark.parametrize("name", PAIRS)
def test_all_pairs(device: str, name: str, data_folder: Path) -> None:
    """A source is refused where a negative cycle can be reached from it, else it is solved."""
    folder = data_folder / "all-pairs-negative"
    expected = (folder / f"output_random_{name}.txt").read_text().strip()
    graph = read_pairs(folder / f"input_random_{name}.txt")
    least, refused = np.inf, False
    for source in range(graph.vertex_count):
        oracle = rounds_of_bellman_ford(graph, source)
        if oracle is None:
            refused = True
            with pytest.raises(NegativeCycleError) as caught:
                solve(graph, source, device=device)
            assert length(graph, caught.value.cycle) <= caught.value.weight < 0
            continue
        result = solve(graph, source, 3 if source == 0 else 1, device=device)
        verify(graph, result)
        answer = np.where(result.reached, result.distances, np.inf)
        np.testing.assert_array_equal(answer, oracle)
        answer[source] = np.inf
        least = min(least, answer.min())
    assert refused == (expected == "NULL")
    if not refused:
        assert least == int(expected)


def test_a_solver_survives_a_negative_cycle(device: str, data_folder: Path) -> None:
    """A refused source spoils nothing for the next one."""
    path = data_folder / "textbook" / "tinyEWDnc.txt"
    whole = read_textbook(path)
    kept = Graph.from_arrays(
        [*whole.offsets, whole.arc_count], whole.heads, whole.weights, name="one more vertex"
    )
    solver = SourceSolver(GraphSupply(kept), SoloChannel(), Options(device=device))
    for _ in range(2):
        with pytest.raises(NegativeCycleError):
            solver.sssp(0)
        alone = solver.sssp(8)
        assert alone is not None
        assert alone.distances.tolist() == [np.inf] * 8 + [0.0]


NEGATIVE = [name for name, method in algorithms().items() if method.negative_weights]


@pytest.mark.parametrize("method", NEGATIVE)
class TestNegativeByEveryMethod:
    """The textbook's negative arcs and cycle, and graphs that may hold one anywhere."""

    def test_textbook(self, device: str, method: str, data_folder: Path) -> None:
        if device not in algorithms()[method].devices:
            pytest.skip(f"{method} has no device {device}")
        graph = read_textbook(data_folder / "textbook" / "tinyEWDn.txt")
        result = solve(graph, 0, algorithm=method, device=device)
        expected = [0, 0.93, 0.26, 0.99, 0.26, 0.61, 1.51, 0.60]
        np.testing.assert_allclose(result.distances, expected, rtol=1e-12)
        looped = read_textbook(data_folder / "textbook" / "tinyEWDnc.txt")
        with pytest.raises(NegativeCycleError) as caught:
            solve(looped, 0, algorithm=method, device=device)
        assert caught.value.cycle in ([4, 5, 4], [5, 4, 5])

    def test_against_the_rounds_of_the_textbook(
        self, device: str, method: str, data_folder: Path
    ) -> None:
        if device not in algorithms()[method].devices:
            pytest.skip(f"{method} has no device {device}")
        for name in ("13_16", "17_32", "20_32", "21_64", "22_64"):
            graph = read_pairs(data_folder / "all-pairs-negative" / f"input_random_{name}.txt")
            expected = rounds_of_bellman_ford(graph, 0)
            if expected is None:
                with pytest.raises(NegativeCycleError):
                    solve(graph, 0, algorithm=method, device=device)
                continue
            result = solve(graph, 0, algorithm=method, device=device)
            answer = np.where(result.reached, result.distances, np.inf)
            np.testing.assert_array_equal(answer, expected)
            verify(graph, result)
