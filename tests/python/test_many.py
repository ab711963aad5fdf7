"""Several sources in one process: rows, the nearest, potentials."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph, scipy_distances

from groute_py import UNREACHED, Graph, NegativeCycleError, Result, RunError, apsp, verify
from groute_py.engine.option_values import METHODS
from groute_py.engine.options import Options
from groute_py.many.johnson import potentials, solve_johnson, solve_nearest
from groute_py.many.rows import SourceRows, solve_rows


def check_rows(graph: Graph, rows: SourceRows) -> None:
    assert rows.predecessors is not None
    for source, distances, parents in zip(
        rows.sources, rows.distances, rows.predecessors, strict=True
    ):
        np.testing.assert_array_equal(distances, scipy_distances(graph, source))
        verify(graph, Result(int(source), distances, parents))


def test_rows(device: str) -> None:
    graph = random_graph(200, 900, seed=1, greatest=30)
    sources = np.array([5, 199, 5, 0])
    rows = solve_rows(graph, sources, Options(device=device))
    assert rows.sources is sources
    check_rows(graph, rows)
    distances = solve_rows(graph, sources, Options(device=device, predecessors=False))
    assert distances.predecessors is None
    np.testing.assert_array_equal(distances.distances, rows.distances)


@settings(max_examples=40)
@given(graph=graphs(), data=st.data())
def test_nearest(device: str, graph: Graph, data: st.DataObject) -> None:
    sources = data.draw(st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=5))
    result = solve_nearest(graph, np.array(sources), Options(device=device))
    every = np.array([scipy_distances(graph, source) for source in sources])
    np.testing.assert_array_equal(result.distances, every.min(axis=0))
    for vertex, origin in enumerate(result.origins.tolist()):
        if result.distances[vertex] == UNREACHED:
            assert (origin, result.predecessors[vertex]) == (-1, -1)
        else:
            assert every[sources.index(origin), vertex] == result.distances[vertex]


@settings(max_examples=60)
@given(graph=graphs(least=-3, greatest=12))
def test_johnson(device: str, graph: Graph) -> None:
    try:
        rows = solve_johnson(graph, np.arange(graph.vertex_count), Options(device=device))
    except NegativeCycleError as error:
        cycle = error
    else:
        check_rows(graph, rows)
        return
    with pytest.raises(NegativeCycleError):
        potentials(graph, Options(device=device))
    assert cycle.weight < 0


def test_potentials_make_no_weight_negative(device: str) -> None:
    graph = graph_of(3, [(0, 1, 5), (1, 2, -4), (2, 0, 0)])
    assert potentials(graph, Options(device=device)).tolist() == [-4, 0, -4]


def test_potentials_beyond_64_bits(device: str) -> None:
    low = -(2**62)
    graph = graph_of(4, [(0, 1, low), (1, 2, low + 2), (3, 0, 2**62)], "int64")
    with pytest.raises(RunError, match="do not fit"):
        solve_johnson(graph, np.array([0]), Options(device=device))


def test_distances_beyond_64_bits(device: str) -> None:
    """They fit in the reweighted graph, whose potentials are below zero, and not in this one."""
    great = 2**62
    graph = graph_of(4, [(3, 0, -100), (0, 1, great), (1, 2, great)], "int64")
    with pytest.raises(RunError, match="does not fit in int64"):
        solve_johnson(graph, np.array([0]), Options(device=device))
    methods = [method for method in METHODS if (device, method) != ("cpu", "single")]
    for method in methods:
        with pytest.raises(RunError, match="does not fit in int64"):
            apsp(graph, algorithm=method, device=device)
    graph = graph_of(4, [(3, 0, -100), (0, 1, great), (1, 2, great - 2)], "int64")
    for method in methods:
        rows = apsp(graph, algorithm=method, device=device)
        assert rows is not None
        assert rows.distances[0].tolist() == [0, great, 2**63 - 2, UNREACHED]
        assert rows.distances[3].tolist() == [-100, great - 100, 2**63 - 102, 0]


def test_an_arc_from_the_source_is_preferred(device: str) -> None:
    graph = graph_of(4, [(3, 0, 1), (3, 1, 2), (0, 1, 1), (1, 3, 0)])
    rows = solve_rows(graph, np.array([3]), Options(device=device))
    assert rows.predecessors is not None
    assert rows.predecessors.tolist() == [[3, 3, -1, -1]]


def test_rows_of_floats_widen_together(device: str) -> None:
    great = float(np.finfo(np.float32).max)
    graph = graph_of(3, [(0, 1, great), (1, 2, great)], "float32")
    rows = solve_rows(graph, np.array([1, 0, 2]), Options(device=device))
    assert rows.distances.dtype == np.float64
    assert rows.distances.tolist() == [
        [np.inf, 0, great],
        [0, great, 2 * great],
        [np.inf] * 2 + [0],
    ]
