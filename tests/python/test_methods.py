"""Every method of the registry on every device it has, against SciPy and the certificate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph, scipy_distances
from support.methods import WEIGHTED, needs
from support.solving import solve

from groute_py import UNREACHED, Graph, InputError, RunError, generate, verify
from groute_py.engine.algorithms.methods import algorithms


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("method", WEIGHTED)
@settings(max_examples=25)
@given(graph=graphs(), source=st.integers(0, 23))
def test_distances_and_tree(
    device: str, method: str, ranks: int, graph: Graph, source: int
) -> None:
    needs(method, device)
    source %= graph.vertex_count
    result = solve(graph, source, ranks, algorithm=method, device=device)
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
    verify(graph, result)
    assert result.statistics["algorithm"] == method
    assert result.statistics["reason"] == "asked for"


@pytest.mark.parametrize("dtype", ["uint32", "int64", "float32", "float64"])
@pytest.mark.parametrize("method", WEIGHTED)
@settings(max_examples=10)
@given(data=st.data())
def test_weight_types(device: str, method: str, dtype: str, data: st.DataObject) -> None:
    needs(method, device)
    graph = data.draw(graphs(dtype))
    if np.dtype(dtype).kind == "f" and not algorithms()[method].float_weights:
        with pytest.raises(InputError, match="would round in another order"):
            solve(graph, 0, algorithm=method, device=device)
        return
    result = solve(graph, 0, algorithm=method, device=device)
    np.testing.assert_allclose(result.distances, scipy_distances(graph, 0), rtol=1e-5)
    verify(graph, result)


@pytest.mark.parametrize("method", WEIGHTED)
@pytest.mark.parametrize(
    "spec", ["road:60x50", "rmat:10,8", "random:2000,9000", "random:300,60000"]
)
def test_generated(device: str, method: str, spec: str) -> None:
    needs(method, device)
    graph = generate(spec)
    source = int(np.argmax(np.diff(graph.offsets)))
    if method == "ell-bellman-ford" and spec.startswith("rmat"):
        with pytest.raises(InputError, match="more than 8 slots an arc; use"):
            solve(graph, source, algorithm=method, device=device)
        return
    result = solve(graph, source, algorithm=method, device=device)
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
    verify(graph, result)


@pytest.mark.parametrize("method", WEIGHTED)
class TestShapes:
    """Graphs that are all edge case."""

    def test_one_vertex(self, device: str, method: str) -> None:
        needs(method, device)
        result = solve(graph_of(1, []), 0, algorithm=method, device=device)
        assert result.distances.tolist() == [0]

    def test_no_arcs_and_several_ranks(self, device: str, method: str) -> None:
        needs(method, device)
        result = solve(graph_of(5, []), 3, 2, algorithm=method, device=device)
        assert result.distances.tolist() == [UNREACHED] * 3 + [0, UNREACHED]

    def test_zero_weight_cycle(self, device: str, method: str) -> None:
        needs(method, device)
        arcs = [(v, (v + 1) % 8, 0) for v in range(8)] + [((v + 1) % 8, v, 0) for v in range(8)]
        graph = graph_of(9, [*arcs, (8, 3, 7), (8, 8, 0)])
        result = solve(graph, 8, algorithm=method, device=device)
        assert result.distances.tolist() == [7] * 8 + [0]
        verify(graph, result)

    def test_star_with_a_hub(self, device: str, method: str) -> None:
        needs(method, device)
        back = [] if method == "ell-bellman-ford" else [(v, 0, 1) for v in range(1, 6000)]
        graph = graph_of(6000, [(0, v, v % 7 + 1) for v in range(1, 6000)] + [(5, 0, 1), *back])
        result = solve(graph, 5, algorithm=method, device=device)
        np.testing.assert_array_equal(result.distances, scipy_distances(graph, 5))

    def test_sums_beyond_32_bits(self, device: str, method: str) -> None:
        needs(method, device)
        graph = graph_of(4, [(v, v + 1, 2_000_000_000) for v in range(3)])
        result = solve(graph, 0, algorithm=method, device=device)
        assert result.distances.tolist() == [0, 2 * 10**9, 4 * 10**9, 6 * 10**9]
        assert result.statistics["distance_type"] == "int64"

    def test_cutoff(self, device: str, method: str) -> None:
        needs(method, device)
        graph = random_graph(400, 1600, seed=1, greatest=50)
        full = scipy_distances(graph, 0)
        cutoff = float(np.median(full[full < UNREACHED]))
        result = solve(graph, 0, algorithm=method, device=device, cutoff=cutoff)
        np.testing.assert_array_equal(result.distances, np.where(full <= cutoff, full, UNREACHED))
        verify(graph, result, cutoff=cutoff)

    @pytest.mark.parametrize("ranks", [1, 2])
    def test_a_sum_that_is_the_mark_of_the_unreached(
        self, device: str, method: str, ranks: int
    ) -> None:
        """2^31 − 1 stands for that in 32 bits, and lies beyond the cutoff."""
        needs(method, device)
        greatest = 2**31 - 1
        graph = graph_of(4, [(0, 1, greatest - 3), (1, 2, 3), (2, 3, 1)])
        result = solve(graph, 0, ranks, algorithm=method, device=device, cutoff=greatest - 1)
        assert result.distances.tolist() == [0, greatest - 3, UNREACHED, UNREACHED]
        assert result.predecessors.tolist() == [-1, 0, -1, -1]

    def test_the_greatest_weight(self, device: str, method: str) -> None:
        """No sum with it fits, and no method forgets that there was one."""
        needs(method, device)
        graph = graph_of(3, [(0, 1, 2**63 - 1), (1, 2, 1)], "int64")
        pads = algorithms()[method].pads
        with pytest.raises(InputError if pads else RunError) as raised:
            solve(graph, 0, algorithm=method, device=device)
        assert ("is no arc; use" if pads else "does not fit in int64") in str(raised.value)


def test_a_device_that_a_method_has_not() -> None:
    with pytest.raises(InputError, match="has no device cuda; it runs on cpu"):
        solve(graph_of(1, []), 0, algorithm="heap-dijkstra", device="cuda")
