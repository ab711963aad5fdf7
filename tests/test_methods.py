"""Every method of the registry on every device it has, against SciPy and the certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from graphs import graph_of, graphs, random_graph, scipy_distances
from hypothesis import given, settings
from hypothesis import strategies as st
from test_solvers import solve

from groute_py import UNREACHED, Graph, InputError, NegativeCycleError, bfs, generate, verify
from groute_py.algorithms.choose import algorithms, automatic
from groute_py.algorithms.delta_stepping import PARALLELISM, automatic_delta
from groute_py.graph.facts import facts_of
from groute_py.kernels.choices import CRITERIA

WEIGHTED = [name for name, method in algorithms().items() if not method.unit_weights]
NEGATIVE = [name for name in WEIGHTED if algorithms()[name].negative_weights]
FRONTIER = ["frontier-dijkstra", "frontier-dijkstra-in", "frontier-dijkstra-in-out"]


def needs(method: str, device: str) -> None:
    if device not in algorithms()[method].devices:
        pytest.skip(f"{method} has no device {device}")


def hops_from(graph: Graph, source: int) -> Any:
    return scipy_distances(graph.with_unit_weights(), source)


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
    assert result.statistics["choice"] == "asked for"


@pytest.mark.parametrize("dtype", ["uint32", "int64", "float32", "float64"])
@pytest.mark.parametrize("method", WEIGHTED)
@settings(max_examples=10)
@given(data=st.data())
def test_weight_types(device: str, method: str, dtype: str, data: st.DataObject) -> None:
    needs(method, device)
    graph = data.draw(graphs(dtype))
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


@pytest.mark.parametrize("method", NEGATIVE)
class TestNegative:
    def test_arcs(self, device: str, method: str) -> None:
        needs(method, device)
        graph = graph_of(4, [(0, 1, 5), (0, 2, 2), (2, 1, -4), (1, 3, 1), (3, 2, 4)])
        result = solve(graph, 0, algorithm=method, device=device)
        assert result.distances.tolist() == [0, -2, 2, -1]
        verify(graph, result)

    @pytest.mark.parametrize("ranks", [1, 2])
    def test_the_cycle_is_returned(self, device: str, method: str, ranks: int) -> None:
        needs(method, device)
        graph = graph_of(6, [(0, 1, 1), (1, 2, 2), (2, 3, -4), (3, 1, 1), (4, 5, -1), (5, 4, -1)])
        with pytest.raises(NegativeCycleError) as caught:
            solve(graph, 0, ranks, algorithm=method, device=device)
        assert sorted(caught.value.cycle[:-1]) == [1, 2, 3]
        assert caught.value.weight == -1

    def test_it_is_found_early(self, device: str, method: str) -> None:
        """Within n rounds, and far sooner: by the watch, in a pass over the arcs now and then."""
        needs(method, device)
        base = random_graph(3000, 12000, seed=4, greatest=90)
        tails = np.repeat(np.arange(3000), np.diff(base.offsets))
        arcs = list(zip(tails, base.heads, base.weights, strict=True))
        arcs += [(0, 7, 1), (7, 8, -50), (8, 7, 40)]
        graph = graph_of(3000, [tuple(map(int, arc)) for arc in arcs])
        with pytest.raises(NegativeCycleError):
            solve(graph, 0, algorithm=method, device=device, time_limit_s=20)


def test_negative_weights_are_refused(device: str) -> None:
    graph = graph_of(2, [(0, 1, -1)])
    for method in set(WEIGHTED) - set(NEGATIVE):
        if device in algorithms()[method].devices:
            with pytest.raises(InputError, match="negative weight"):
                solve(graph, 0, algorithm=method, device=device)


def test_a_device_that_a_method_has_not() -> None:
    with pytest.raises(InputError, match="has no device cuda; it runs on cpu"):
        solve(graph_of(1, []), 0, algorithm="heap-dijkstra", device="cuda")


def test_a_matrix_that_is_too_large(device: str) -> None:
    graph = graph_of(1 << 15, [(0, 1, 1)])
    with pytest.raises(InputError, match="a matrix of 32,768 vertices is too large"):
        solve(graph, 0, algorithm="dense-bellman-ford", device=device)


def test_a_matrix_of_the_documents(device: str) -> None:
    """1,500 vertices, dense, some weights negative: several rows a block, and some not staged."""
    random = np.random.default_rng(7)
    weights = random.integers(1, 1000, (1500, 1500)).astype(np.int32)
    height = random.integers(0, 300, 1500).astype(np.int32)
    weights += height[:, None] - height[None, :]  # which keeps every cycle positive
    offsets = np.arange(1501) * 1500
    graph = Graph.from_arrays(offsets, np.tile(np.arange(1500), 1500), weights.ravel())
    for method in ("dense-bellman-ford", "csr-bellman-ford"):
        result = solve(graph, 0, algorithm=method, device=device)
        np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))
        verify(graph, result)


def test_rounds_of_the_textbook() -> None:
    """All n - 1 of them, where the plain form ends after a round that changes nothing."""
    graph = generate("random:300,4000")
    steps = {
        method: solve(graph, 0, algorithm=method, device="cpu").statistics["steps"]
        for method in ("textbook-bellman-ford", "plain-bellman-ford")
    }
    assert steps["textbook-bellman-ford"] == 299
    assert steps["plain-bellman-ford"] < 20


class TestFrontier:
    """Dijkstra in rounds."""

    def test_worked_example(self, device: str) -> None:
        """The thesis, 3.1.3 and table 3-1: nine vertices in four rounds."""
        arcs = [(0, 2, 1), (0, 3, 2), (0, 4, 3), (2, 1, 2), (2, 7, 3), (3, 8, 1)]
        arcs += [(4, 5, 4), (1, 6, 2), (8, 6, 2), (7, 6, 1)]
        graph = graph_of(9, arcs)
        result = solve(graph, 0, algorithm="frontier-dijkstra", device=device)
        assert result.distances.tolist() == [0, 3, 1, 2, 3, 7, 5, 4, 3]
        assert result.statistics["steps"] == 4
        assert result.statistics["settled"] == 9

    @pytest.mark.parametrize("spec", ["road:60x50", "random:2000,9000"])
    def test_nothing_is_relaxed_twice(self, device: str, spec: str) -> None:
        graph = generate(spec)
        source = int(np.argmax(np.diff(graph.offsets)))
        rounds = {}
        for method in (*FRONTIER, "reduction-dijkstra"):
            result = solve(graph, source, algorithm=method, device=device)
            found = result.statistics
            assert found["relaxations"] == np.diff(graph.offsets)[result.reached].sum()
            assert found["settled"] == result.reached.sum()
            rounds[method] = found["steps"]
        assert rounds["reduction-dijkstra"] == len(np.unique(result.distances[result.reached]))
        assert rounds["frontier-dijkstra-in-out"] <= rounds["frontier-dijkstra"]
        assert rounds["frontier-dijkstra"] < rounds["reduction-dijkstra"]

    def test_the_same_rounds_on_all_devices(self, device: str) -> None:
        graph = generate("road:60x50")
        source = int(np.argmax(np.diff(graph.offsets)))
        for method in FRONTIER:
            here, cpu = (solve(graph, source, algorithm=method, device=d) for d in (device, "cpu"))
            # a vertex that has become nearer within a round may be settled in it on a GPU
            steps = here.statistics["steps"], cpu.statistics["steps"]
            assert 0.9 * steps[1] <= steps[0] <= steps[1]

    def test_many_open_vertices(self, device: str) -> None:
        """More than a block takes, so that the whole grid goes on."""
        graph = random_graph(60000, 400000, seed=3, greatest=1000)
        for method in FRONTIER:
            result = solve(graph, 0, algorithm=method, device=device)
            np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))
            verify(graph, result)

    def test_the_criteria_have_names(self) -> None:
        assert set(CRITERIA) == {"min", "out", "in", "in-out"}


class TestHops:
    """Breadth-first search."""

    @pytest.mark.parametrize("ranks", [1, 2, 3])
    @settings(max_examples=30)
    @given(graph=graphs(least=-5), source=st.integers(0, 23))
    def test_hops_and_tree(self, device: str, ranks: int, graph: Graph, source: int) -> None:
        source %= graph.vertex_count
        result = solve(graph, source, ranks, algorithm="bfs", hops=True, device=device)
        np.testing.assert_array_equal(result.distances, hops_from(graph, source))
        verify(graph.with_unit_weights(), result)

    @pytest.mark.parametrize(
        "spec", ["road:300x300", "rmat:16", "rmat:13,4", "random:100000,300000"]
    )
    def test_generated(self, device: str, spec: str) -> None:
        graph = generate(spec)
        for source in (int(np.argmax(np.diff(graph.offsets))), 17):
            result = solve(graph, source, algorithm="bfs", hops=True, device=device)
            np.testing.assert_array_equal(result.distances, hops_from(graph, source))
            verify(graph.with_unit_weights(), result)

    def test_directed(self, device: str) -> None:
        """Where arcs lead one way only, incoming arcs are others than outgoing ones."""
        graph = random_graph(50000, 800000, seed=8, greatest=9)
        result = solve(graph, 1, algorithm="bfs", hops=True, device=device)
        np.testing.assert_array_equal(result.distances, hops_from(graph, 1))
        verify(graph.with_unit_weights(), result)

    def test_a_long_tail_behind_a_dense_part(self, device: str) -> None:
        dense = random_graph(20000, 400000, seed=2, greatest=1)
        tails = np.repeat(np.arange(20000), np.diff(dense.offsets))
        arcs = list(zip(tails.tolist(), dense.heads.tolist(), dense.weights.tolist(), strict=True))
        arcs += [(v, v + 1, 1) for v in range(19999, 20500)]
        graph = graph_of(20501, arcs)
        result = solve(graph, 0, algorithm="bfs", hops=True, device=device)
        np.testing.assert_array_equal(result.distances, hops_from(graph, 0))
        verify(graph.with_unit_weights(), result)

    @pytest.mark.parametrize("ranks", [1, 2])
    def test_cutoff(self, device: str, ranks: int) -> None:
        for spec, cutoff in (("road:60x50", 20), ("road:200x200", 100), ("rmat:12", 2)):
            graph = generate(spec)
            source = int(np.argmax(np.diff(graph.offsets)))
            options = {"algorithm": "bfs", "hops": True, "device": device, "cutoff": cutoff}
            result = solve(graph, source, ranks, **options)
            full = hops_from(graph, source)
            np.testing.assert_array_equal(
                result.distances, np.where(full <= cutoff, full, UNREACHED)
            )
            verify(graph.with_unit_weights(), result, cutoff=cutoff)

    def test_public_function(self, device: str) -> None:
        result = bfs("road:20x20", 3, device=device)
        assert result is not None
        assert result.statistics["algorithm"] == "bfs"
        assert result.distances.dtype == np.int64

    def test_other_weights_are_refused(self, device: str) -> None:
        with pytest.raises(InputError, match="use groute-py bfs to count arcs"):
            solve(graph_of(2, [(0, 1, 3)]), 0, algorithm="bfs", device=device)


class TestTargets:
    """An early end."""

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
        self,
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
    @pytest.mark.parametrize("method", METHODS)
    def test_less_is_relaxed(self, device: str, method: str, ranks: int) -> None:
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

    def test_negative_weights_are_solved_to_the_end(self, device: str) -> None:
        graph = graph_of(4, [(0, 1, 1), (0, 2, 5), (2, 1, -4), (1, 3, 9)])
        result = solve(graph, 0, device=device, targets=[1])
        assert result.distances.tolist() == [0, 1, 5, 10]
        assert result.statistics["bound"] is None

    def test_a_target_that_is_none(self, device: str) -> None:
        with pytest.raises(InputError, match="target 9 is not a vertex"):
            solve(graph_of(2, []), 0, device=device, targets=[9])


class TestChoice:
    """What ``auto`` takes."""

    @pytest.mark.parametrize(
        ("spec", "ranks", "chosen"),
        [
            ("random:5000,1242105", 1, "csr-bellman-ford"),
            ("random:5000,1242105", 2, "delta-stepping"),
            ("random:100,9000", 1, "bellman-ford"),
            ("random:10000,489476", 1, "delta-stepping"),
            ("road:60x60", 1, "delta-stepping"),
            ("random:5,0", 1, "bfs"),
        ],
    )
    def test_on_a_gpu(self, spec: str, ranks: int, chosen: str) -> None:
        choice = automatic(facts_of(generate(spec)), "cuda", ranks)
        assert choice.method.name == chosen
        assert choice.reason

    def test_a_hub_keeps_the_worklist(self) -> None:
        even = generate("random:2000,400000")
        heads = np.where(np.arange(400000) % 5 == 0, 7, even.heads).astype(np.int32)
        uneven = Graph(even.offsets, heads, even.weights)
        assert automatic(facts_of(even), "cuda", 1).method.name == "csr-bellman-ford"
        assert automatic(facts_of(uneven), "cuda", 1).method.name == "delta-stepping"
        assert automatic(facts_of(even), "cpu", 1).method.name == "delta-stepping"

    @pytest.mark.parametrize(
        ("scale", "degree", "ranks", "times"),
        [
            (24, 2, 1, 1.0),
            (24, 2, 4, 2.0),
            (21, 2, 1, 2.0),
            (10, 2, 1, 4.0),
            (24, 32, 1, 0.5),
            (24, 32, 4, 0.5),
            (20, 32, 1, 1.0),
            (20, 32, 4, 0.5),
        ],
    )
    def test_delta_grows_with_room(self, scale: int, degree: int, ranks: int, times: float) -> None:
        """In units of c · mean weight / mean degree."""
        size = {"vertex_count": 1 << scale, "arc_count": degree << scale}
        facts = replace(facts_of(generate("rmat:6")), mean=1000.0, **size)
        unit = PARALLELISM["cuda"] * 1000 / degree
        assert automatic_delta(facts, "cuda", ranks) == round(times * unit)
