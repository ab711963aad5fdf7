"""Float cycles of weight 0: distances within rounding and a whole tree, by every method.

The reference counts in hundredths, exactly.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse
from numpy.typing import NDArray
from support.graphs import graph_of
from support.local_ranks import on_ranks
from support.methods import NEGATIVE, needs
from support.solving import LONG_S, solve, source_solver
from support.zero_cycles import KINDS, chain, tree

from groute_py import Graph, NegativeCycleError, Result, VerificationError, apsp, csgraph, verify

ROUNDING = {"float64": 1e-10, "float32": 2e-2}
"""Of distances up to 20 by paths of up to 300 arcs."""

FAR = 10**9
"""The reference's distance of what no path reaches."""


def check(graph: Graph, exact: NDArray[np.int64], result: Result) -> None:
    reached = exact < FAR
    np.testing.assert_array_equal(result.reached, reached)
    rounding = ROUNDING[graph.weights.dtype.name]
    np.testing.assert_allclose(
        result.distances[reached], exact[reached] / 100, rtol=0, atol=rounding
    )
    assert result.distances[result.source] == 0
    if result.predecessors is not None:
        for vertex in np.flatnonzero(reached):
            assert result.path_to(int(vertex))[0] == result.source
    verify(graph, result)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", NEGATIVE)
def test_one_source(method: str, kind: str, ranks: int, device: str) -> None:
    needs(method, device)
    for seed in range(3 if ranks == 1 else 1):
        graph, exact = KINDS[kind](seed, "float64")
        result = solve(graph, 0, ranks, algorithm=method, device=device, time_limit_s=LONG_S)
        check(graph, exact, result)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_float32(kind: str, ranks: int, device: str) -> None:
    graph, exact = KINDS[kind](5, "float32")
    result = solve(graph, 0, ranks, device=device, order="bfs", time_limit_s=LONG_S)
    assert result.distances.dtype == np.float32
    check(graph, exact, result)


@pytest.mark.parametrize("ranks", [1, 3])
def test_distances_alone(ranks: int, device: str) -> None:
    for seed in range(10):
        graph, exact = tree(100, seed)
        result = solve(graph, 0, ranks, device=device, predecessors=False, time_limit_s=LONG_S)
        assert result.predecessors is None
        check(graph, exact, result)


def test_one_solver_for_many_sources(device: str) -> None:
    graph, exact = tree(60, 1)

    def work(channel: Any) -> None:
        with source_solver(channel, graph, device=device) as solver:
            for source in range(0, 60, 7):
                result = solver.sssp(source)
                if result is not None:
                    check(graph, exact - exact[source], result)

    on_ranks(2, work)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("method", NEGATIVE)
def test_a_negative_cycle_among_cycles_of_weight_zero(method: str, ranks: int, device: str) -> None:
    needs(method, device)
    graph, _ = chain(40, 3)
    tails = np.repeat(np.arange(40), np.diff(graph.offsets)).tolist()
    arcs = list(zip(tails, graph.heads.tolist(), graph.weights.tolist(), strict=True))
    back = {(u, v): w for u, v, w in arcs}[39, 38]
    arcs = [(u, v, w - 0.01 if (u, v) == (39, 38) else w) for u, v, w in arcs]
    assert back - 0.01 < back
    with pytest.raises(NegativeCycleError) as caught:
        solve(graph_of(40, arcs, "float64"), 0, ranks, algorithm=method, device=device)
    assert caught.value.weight == pytest.approx(-0.01)
    assert set(caught.value.cycle) == {38, 39}


@pytest.mark.parametrize("method", NEGATIVE)
def test_a_cycle_within_the_tolerance_counts_as_zero(method: str, device: str) -> None:
    needs(method, device)
    graph = graph_of(3, [(0, 1, 5.0), (1, 2, 3.0), (2, 1, -3.0 - 2.0**-50)], "float64")
    result = solve(graph, 0, algorithm=method, device=device, time_limit_s=LONG_S)
    assert result.distances.tolist() == [0, 5, 8]
    assert result.predecessors is not None
    assert result.predecessors.tolist() == [-1, 0, 1]


def matrix_of(graph: Graph) -> Any:
    return sparse.csr_array((graph.weights, graph.heads, graph.offsets))


def all_exact(exact: NDArray[np.int64]) -> NDArray[np.float64]:
    return (exact - exact[:, np.newaxis]) / 100


POTENTIAL = [kind for kind in KINDS if kind not in ("detours of 60", "chain of 300")]
"""Where all is reached, and each distance is a difference of heights."""


@pytest.mark.parametrize("kind", POTENTIAL)
def test_all_pairs(kind: str) -> None:
    graph, exact = KINDS[kind](2, "float64")
    expected, matrix = all_exact(exact), matrix_of(graph)
    result = [
        csgraph.floyd_warshall(matrix),
        csgraph.shortest_path(matrix, method="FW"),
        csgraph.shortest_path(matrix),
        csgraph.johnson(matrix),
        csgraph.bellman_ford(matrix),
        *(apsp(graph, algorithm=name, device="cpu") for name in ("floyd", "heap", "batch")),
    ]
    for answer in result:
        distances = getattr(answer, "distances", answer)
        np.testing.assert_allclose(distances, expected, rtol=0, atol=1e-10)
        assert (np.diagonal(distances) == 0).all()


@pytest.mark.parametrize("kind", POTENTIAL)
def test_all_trees(kind: str) -> None:
    graph, exact = KINDS[kind](4, "float64")
    count, matrix, expected = len(exact), matrix_of(graph), all_exact(exact)
    weights = matrix.toarray()
    for solver in (csgraph.floyd_warshall, csgraph.johnson, csgraph.bellman_ford):
        distances, parents = solver(matrix, return_predecessors=True)
        np.testing.assert_allclose(distances, expected, rtol=0, atol=1e-10)
        for source in range(count):
            for target in range(count):
                vertex, length, steps = target, 0.0, 0
                while vertex != source:
                    length += weights[parents[source, vertex], vertex]
                    vertex, steps = parents[source, vertex], steps + 1
                    assert steps < count
                assert length == pytest.approx(expected[source, target], abs=1e-10)


@pytest.mark.parametrize("count", [2, 45, 130, 400])
def test_floyd_warshall_of_chains(count: int) -> None:
    """Of 400 vertices blocks and threads take part."""
    graph, exact = chain(count, count)
    distances = csgraph.floyd_warshall(matrix_of(graph))
    np.testing.assert_allclose(distances, all_exact(exact), rtol=0, atol=1e-9)
    assert (np.diagonal(distances) == 0).all()


def test_networkx() -> None:
    graph, exact = tree(40, 6)
    network = nx.from_scipy_sparse_array(matrix_of(graph), create_using=nx.DiGraph)
    network.__networkx_cache__ = None  # or NetworkX warns that it uses it
    expected = all_exact(exact)
    arrays = [nx.floyd_warshall_numpy(network, backend="groute")]
    lengths = [nx.floyd_warshall(network, backend="groute")]
    lengths.append(dict(nx.all_pairs_bellman_ford_path_length(network, backend="groute")))
    arrays += [np.array([[row[u][v] for v in range(40)] for u in range(40)]) for row in lengths]
    for array in arrays:
        np.testing.assert_allclose(array, expected, rtol=0, atol=1e-10)
    paths = nx.single_source_bellman_ford_path(network, 0, backend="groute")
    johnson = nx.johnson(network, backend="groute")
    for target in range(40):
        for path in (paths[target], johnson[0][target]):
            assert path[0] == 0
            assert nx.path_weight(network, path, "weight") == pytest.approx(expected[0, target])
    assert not nx.negative_edge_cycle(network, backend="groute")


def test_the_first_of_them() -> None:
    network = nx.DiGraph()
    network.add_weighted_edges_from([("s", "a", 0.1), ("a", "b", 6.8), ("b", "a", -6.8)])
    assert nx.bellman_ford_path(network, "s", "b", backend="groute") == ["s", "a", "b"]


def test_wrong_answers_are_refused_all_the_same() -> None:
    graph, exact = chain(20, 7)
    right = solve(graph, 0, device="cpu")
    check(graph, exact, right)
    for vertex in range(20):
        for error in (-0.01, -1e-6, 1e-6, 0.01):
            distances = right.distances.copy()
            distances[vertex] += error
            with pytest.raises(VerificationError):
                verify(graph, Result(0, distances, right.predecessors))
            with pytest.raises(VerificationError):
                verify(graph, Result(0, distances))


def test_a_longer_way_is_refused() -> None:
    """Tight arcs lead everywhere, but one arc is a shorter way by more than rounding."""
    graph = graph_of(3, [(0, 1, 1.0), (0, 2, 0.5), (2, 1, -0.25)], "float64")
    with pytest.raises(
        VerificationError, match=r"vertex 1 has distance 1\.0, but vertex 2 has 0\.5"
    ):
        verify(graph, Result(0, np.array([0, 1.0, 0.5]), np.array([-1, 0, 0])))


def test_a_cycle_that_no_source_reaches() -> None:
    """It is no error of those sources; for all pairs every cycle counts."""
    graph = graph_of(4, [(0, 1, 2.5), (2, 3, 1.0), (3, 2, -2.0), (2, 0, -1.0)], "float64")
    for algorithm in ("auto", "floyd", "heap", "batch"):
        rows = apsp(graph, sources=[0, 1], algorithm=algorithm, device="cpu")
        assert rows is not None
        inf = np.inf
        assert rows.distances.tolist() == [[0, 2.5, inf, inf], [inf, 0, inf, inf]]
        for sources in ([0, 2], [3], None):
            with pytest.raises(NegativeCycleError):
                apsp(graph, sources=sources, algorithm=algorithm, device="cpu")
    whole = Graph.from_arrays(graph.offsets, graph.heads, [2, -1, 1, -2])
    part = apsp(whole, sources=[0], device="cpu")
    assert part is not None
    assert part.distances[0, :2].tolist() == [0, 2]
