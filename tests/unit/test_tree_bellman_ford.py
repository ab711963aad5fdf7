"""Bellman-Ford with a tree: right for every graph, and its tree is whole whatever cycles weigh."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.graphs import all_lengths, graph_of, graphs, scipy_distances
from support.zero_cycles import grid

from groute_py import Graph
from groute_py.kernels.cpu import tree_bellman_ford as kernel
from groute_py.results.tolerance import sum_slack


def solve(graph: Graph, source: int, tolerance: float = 0.0, slack: float = 0.0) -> kernel.Tree:
    tree = kernel.planted(graph.vertex_count, source)
    while tree.at[kernel.COUNT] and tree.at[kernel.CYCLE_TAIL] < 0:  # in many slices
        weights = graph.weights.astype(np.float64)
        kernel.relax(graph.offsets, graph.heads, weights, tolerance, slack, tree, 5)
        check_ring(tree, source)
    return tree


def check_ring(tree: kernel.Tree, source: int) -> None:
    vertex, seen = int(tree.after[source]), {source}
    while vertex != source:
        assert tree.in_tree[vertex]
        assert tree.parents[vertex] in seen
        assert tree.depth[vertex] == tree.depth[tree.parents[vertex]] + 1
        assert tree.before[tree.after[vertex]] == vertex
        seen.add(vertex)
        vertex = int(tree.after[vertex])
    assert len(seen) == tree.in_tree.sum()


@given(graph=graphs("float64", least=-4, greatest=9), source=st.integers(0, 23))
def test_against_floyd(graph: Graph, source: int) -> None:
    graph = graph_of(  # whole numbers: exact
        graph.vertex_count,
        [
            (int(u), int(v), round(w * 1000))
            for u, v, w in zip(
                np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)),
                graph.heads,
                graph.weights,
                strict=True,
            )
        ],
        "float64",
    )
    source %= graph.vertex_count
    tree, lengths = solve(graph, source), all_lengths(graph)
    behind = np.isfinite(lengths[source])
    is_negative = bool((np.diagonal(lengths)[behind] < 0).any())
    assert (tree.at[kernel.CYCLE_TAIL] >= 0) == is_negative
    if not is_negative:
        np.testing.assert_array_equal(tree.labels, lengths[source])
        assert (tree.in_tree == behind).all()


@given(graph=graphs("float64"), source=st.integers(0, 23))
def test_without_negative_weights(graph: Graph, source: int) -> None:
    source %= graph.vertex_count
    tree = solve(graph, source)
    np.testing.assert_allclose(tree.labels, scipy_distances(graph, source), rtol=1e-12)


def cycle_of(weights: list[float]) -> Graph:
    count = len(weights)
    return graph_of(count, [(k, (k + 1) % count, w) for k, w in enumerate(weights)], "float64")


@pytest.mark.parametrize(
    ("weights", "is_negative"),
    [
        ([1.0, 2.0, -3.0], False),
        ([1.0, 2.0, -3.0 - 2.0**-51], False),
        ([1.0, 2.0, -3.0 - 2.0**-40], True),
        ([0.1, 0.2, -0.3], False),
        ([1e16, 1.0, -1e16], False),
        ([1e16, -1.0, -1e16], False),
        ([1e10, -1.0, -1e10], True),
        ([-1e-300], True),
        ([0.0, 0.0], False),
    ],
)
def test_the_tolerance_is_relative_to_the_cycle(weights: list[float], is_negative: bool) -> None:
    tree = solve(cycle_of(weights), 0, tolerance=2.0**-46)
    assert (tree.at[kernel.CYCLE_TAIL] >= 0) == is_negative
    assert tree.labels[0] == 0


@given(graph=graphs("float64", least=0, greatest=9), source=st.integers(0, 23))
def test_what_rounding_prefers_is_left(graph: Graph, source: int) -> None:
    source %= graph.vertex_count
    tree, expected = solve(graph, source, slack=2.0**-50), scipy_distances(graph, source)
    np.testing.assert_allclose(tree.labels, expected, rtol=1e-12)
    assert (tree.in_tree == np.isfinite(expected)).all()


def test_a_grid_whose_paths_are_equal_is_relaxed_a_few_times() -> None:
    """An improvement by rounding would cut off all that lies below it, again and again."""
    graph, exact = grid(150, 3)
    weights = graph.weights.astype(np.float64)
    tree = kernel.planted(graph.vertex_count, 0)
    tolerances = 2.0**-46, sum_slack(graph.weights.dtype)
    kernel.relax(graph.offsets, graph.heads, weights, *tolerances, tree, 10**9)
    np.testing.assert_allclose(tree.labels, exact / 100, rtol=0, atol=1e-10)
    assert tree.at[kernel.RELAXATIONS] < 20 * graph.arc_count


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_sums_along_the_tree(kind: Any) -> None:
    graph = graph_of(4, [(0, 1, 0.1), (1, 2, 0.2), (0, 2, 9)], "float64")
    tree, sums = solve(graph, 0), np.full(4, np.inf, kind)
    weights = graph.weights.astype(kind)
    kernel.sums_along(weights, tree, 0, sums)
    expected = np.array([0, weights[0], weights[0] + weights[2], np.inf], kind)
    np.testing.assert_array_equal(sums, expected)
