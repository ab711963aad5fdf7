"""Every method against SciPy and the certificate, on every device and at 1 to 4 ranks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.opening import solver_on
from support.solving import LONG_S, solve, source_solver

import groute_py
from groute_py import (
    UNREACHED,
    Graph,
    InputError,
    NegativeCycleError,
    Result,
    RunError,
    generate,
    verify,
)
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.jobs.solver import Solver
from groute_py.source.whole import GraphSupply

METHODS = ["delta-stepping", "bellman-ford"]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(graph=graphs(), source=st.integers(0, 23), patience=st.integers(0, 3))
def test_distances_and_tree(
    device: str, method: str, ranks: int, graph: Graph, source: int, patience: int
) -> None:
    source %= graph.vertex_count
    result = solve(graph, source, ranks, patience, algorithm=method, device=device, delta=3)
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
    verify(graph, result)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "float32", "float64"])
@pytest.mark.parametrize("ranks", [1, 3])
@settings(max_examples=15)
@given(data=st.data())
def test_weight_types(device: str, dtype: str, ranks: int, data: st.DataObject) -> None:
    graph = data.draw(graphs(dtype))
    result = solve(graph, 0, ranks, device=device)
    expected = scipy_distances(graph, 0)
    np.testing.assert_allclose(result.distances, expected, rtol=1e-5)
    assert result.distances.dtype == (dtype if dtype.startswith("float") else np.int64)
    verify(graph, result)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_target_is_final_also_where_slices_end_within_a_bucket(
    monkeypatch: pytest.MonkeyPatch, device: str, ranks: int
) -> None:
    """What waits in an open bucket is in no order: nearer vertices may stand behind others."""
    home, names = {
        "cpu": ("cpu.buffers", ("SLICE_ARCS", "SLICE_ARCS_ALONE")),
        "cuda": ("cuda.sssp.near_far", ("SLICE_STEPS_ALONE",)),
    }[device]
    module = import_module(f"groute_py.device.{home}")
    for name in names:
        monkeypatch.setattr(module, name, 1)
    for seed in range(16):
        graph = random_graph(40, 160, seed, greatest=30)
        expected = scipy_distances(graph, 0)
        for target in (5, 17, 33):
            result = solve(graph, 0, ranks, 2, [target], device=device, delta=60)
            assert result.distances[target] == expected[target]


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("spec", ["road:60x50", "rmat:10,8", "random:2000,9000"])
def test_generated(device: str, ranks: int, spec: str) -> None:
    graph = generate(spec)
    source = int(np.argmax(np.diff(graph.offsets)))
    result = solve(graph, source, ranks, patience=1, device=device)
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
    verify(graph, result)
    needed = result.statistics["relaxations"] - result.statistics["useless_relaxations"]
    assert needed == np.diff(graph.offsets)[result.reached].sum()


@pytest.mark.parametrize("ranks", [1, 3])
def test_same_distances_and_bits_for_floats_at_every_rank_count(device: str, ranks: int) -> None:
    whole = random_graph(500, 3000, seed=5, greatest=1000)
    graph = Graph(whole.offsets, whole.heads, (whole.weights * 0.1).astype(np.float32))
    one = solve(graph, 0, 1, device="cpu")
    many = solve(graph, 0, ranks, device=device)
    np.testing.assert_array_equal(one.distances, many.distances)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
class TestShapes:
    """Graphs that are all edge case."""

    def test_one_vertex(self, device: str, ranks: int) -> None:
        result = solve(graph_of(1, []), 0, ranks, device=device)
        assert result.distances.tolist() == [0]
        assert result.predecessors is not None
        assert result.predecessors.tolist() == [-1]

    def test_no_arcs(self, device: str, ranks: int) -> None:
        result = solve(graph_of(5, []), 3, ranks, device=device)
        assert result.distances.tolist() == [UNREACHED] * 3 + [0, UNREACHED]

    def test_self_loops_only(self, device: str, ranks: int) -> None:
        graph = graph_of(2, [(0, 0, 0), (0, 0, 5), (1, 1, 0)])
        result = solve(graph, 0, ranks, device=device)
        assert result.distances.tolist() == [0, UNREACHED]
        verify(graph, result)

    def test_zero_weight_cycle(self, device: str, ranks: int) -> None:
        arcs = [(v, (v + 1) % 8, 0) for v in range(8)] + [((v + 1) % 8, v, 0) for v in range(8)]
        graph = graph_of(9, [*arcs, (8, 3, 7)])
        result = solve(graph, 8, ranks, patience=2, device=device)
        assert result.distances.tolist() == [7] * 8 + [0]
        verify(graph, result)

    def test_long_zero_path(self, device: str, ranks: int) -> None:
        graph = graph_of(300, [(v, v - 1, 0) for v in range(1, 300)])
        result = solve(graph, 299, ranks, device=device)
        assert result.path_to(0) == list(range(299, -1, -1))

    def test_star_with_a_hub(self, device: str, ranks: int) -> None:
        arcs = [(0, v, v % 7 + 1) for v in range(1, 6000)] + [(v, 0, 1) for v in range(1, 6000)]
        graph = graph_of(6000, arcs)
        result = solve(graph, 5, ranks, device=device)
        np.testing.assert_array_equal(result.distances, scipy_distances(graph, 5))
        verify(graph, result)

    def test_many_arcs_and_deep(self, device: str, ranks: int) -> None:
        """A band: frontiers never grow, though every vertex has six arcs."""
        tails = np.repeat(np.arange(6000), 6)
        heads = np.minimum(tails + np.tile(np.arange(1, 7), 6000), 5999).astype(np.int32)
        weights = np.random.default_rng(3).integers(1, 100, 36000).astype(np.int32)
        graph = Graph(6 * np.arange(6001), heads, weights)
        result = solve(graph, 0, ranks, device=device)
        np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))
        verify(graph, result)

    def test_negative_arcs(self, device: str, ranks: int) -> None:
        graph = graph_of(4, [(0, 1, 5), (0, 2, 2), (2, 1, -4), (1, 3, 1), (3, 2, 4)])
        result = solve(graph, 0, ranks, device=device)
        assert result.distances.tolist() == [0, -2, 2, -1]
        alone = device == "cpu" and ranks == 1
        chosen = "queue-bellman-ford-slf-lll" if alone else "bellman-ford"
        assert result.statistics["algorithm"] == chosen
        verify(graph, result)

    def test_zero_cycle_of_negative_arcs(self, device: str, ranks: int) -> None:
        graph = graph_of(4, [(0, 1, 3), (1, 2, -2), (2, 3, 1), (3, 1, 1)])
        result = solve(graph, 0, ranks, patience=1, device=device)
        assert result.distances.tolist() == [0, 3, 1, 2]
        verify(graph, result)

    def test_negative_cycle_is_shown(self, device: str, ranks: int) -> None:
        graph = graph_of(6, [(0, 1, 1), (1, 2, 2), (2, 3, -4), (3, 1, 1), (4, 5, -1), (5, 4, -1)])
        with pytest.raises(NegativeCycleError) as caught:
            solve(graph, 0, ranks, device=device)
        assert sorted(caught.value.cycle[:-1]) == [1, 2, 3]
        assert caught.value.cycle[0] == caught.value.cycle[-1]
        assert caught.value.weight == -1

    def test_cycles_that_weigh_nothing_but_for_rounding(self, device: str, ranks: int) -> None:
        random = np.random.default_rng(5)
        tails, heads = np.nonzero(random.random((20, 20)) < 0.2)
        apart = tails != heads
        tails, heads = tails[apart], heads[apart]
        height = random.random(20) * 1.7  # every cycle weighs nothing, but for rounding
        weights = height[heads] - height[tails]
        graph = Graph.from_arrays(np.searchsorted(tails, np.arange(21)), heads, weights)
        for source in (0, 5):
            result = solve(graph, source, ranks, device=device, time_limit_s=LONG_S)
            assert result.distances[source] == 0
            expected = height[result.reached] - height[source]
            np.testing.assert_allclose(result.distances[result.reached], expected, atol=1e-13)
            verify(graph, result)

    def test_unreachable_negative_cycle(self, device: str, ranks: int) -> None:
        graph = graph_of(4, [(0, 1, 1), (2, 3, -1), (3, 2, -1)])
        assert solve(graph, 0, ranks, device=device).distances[1] == 1

    def test_sums_beyond_32_bits(self, device: str, ranks: int) -> None:
        graph = graph_of(4, [(v, v + 1, 2_000_000_000) for v in range(3)])
        result = solve(graph, 0, ranks, device=device)
        assert result.distances.tolist() == [0, 2 * 10**9, 4 * 10**9, 6 * 10**9]
        assert result.statistics["distance_type"] == "int64"
        verify(graph, result)

    def test_sums_beyond_64_bits(self, device: str, ranks: int) -> None:
        graph = graph_of(4, [(v, v + 1, 2**62) for v in range(3)], "int64")
        with pytest.raises(RunError, match="does not fit"):
            solve(graph, 0, ranks, device=device)

    def test_cutoff(self, device: str, ranks: int) -> None:
        graph = random_graph(400, 1600, seed=ranks, greatest=50)
        full = scipy_distances(graph, 0)
        cutoff = float(np.median(full[full < UNREACHED]))
        result = solve(graph, 0, ranks, device=device, cutoff=cutoff)
        np.testing.assert_array_equal(result.distances, np.where(full <= cutoff, full, UNREACHED))
        verify(graph, result, cutoff=cutoff)


@settings(max_examples=60)
@given(graph=graphs(least=-3, greatest=12), ranks=st.sampled_from([1, 2, 3]))
def test_negative_weights(device: str, graph: Graph, ranks: int) -> None:
    from scipy.sparse.csgraph import NegativeCycleError as ScipyNegativeCycle

    answer = result = None
    try:
        result = solve(graph, 0, ranks, device=device, algorithm="bellman-ford")
    except NegativeCycleError as error:
        answer = error
    if answer is not None:
        assert _weight(graph, answer.cycle) == answer.weight < 0
        assert _reachable(graph, 0)[answer.cycle[0]]
        return
    assert result is not None
    verify(graph, result)
    try:
        expected = scipy_distances(graph, 0)
    except ScipyNegativeCycle:
        return  # SciPy also refuses for cycles that cannot be reached
    np.testing.assert_array_equal(result.distances, expected)


def _weight(graph: Graph, cycle: list[int]) -> int:
    total = 0
    for tail, head in pairwise(cycle):
        row = slice(graph.offsets[tail], graph.offsets[tail + 1])
        total += int(graph.weights[row][graph.heads[row] == head].min())
    return total


def _reachable(graph: Graph, source: int) -> Any:
    positive = Graph(graph.offsets, graph.heads, np.ones_like(graph.weights))
    return scipy_distances(positive, source) < UNREACHED


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("cutoff", (None, 10)),
        ("algorithm", ("auto", "bellman-ford")),
        ("predecessors", (True, False)),
        ("delta", (3, 4)),
    ],
)
def test_ranks_with_other_options(name: str, values: tuple[Any, Any]) -> None:
    """They would wait for each other, or give an answer that nobody has asked for."""
    graph = generate("road:9x9")

    def work(channel: Any) -> str:
        options = Options(device="cpu", **{name: values[channel.rank == 1]})
        with pytest.raises(InputError) as raised:
            SourceSolver(GraphSupply(graph if channel.rank == 0 else None), channel, options)
        assert raised.value.on_all_ranks
        return str(raised.value)

    said = f"rank 1 was called with {name} {values[1]!r}, rank 0 with {values[0]!r}; every rank"
    assert all(message.startswith(said) for message in on_ranks(3, work))


@pytest.mark.parametrize(
    ("others", "what"), [((200,), "source"), ((1,), "source"), ((0, [5]), "targets")]
)
def test_ranks_with_other_sources(others: tuple[Any, ...], what: str) -> None:
    graph = generate("road:9x9")

    def work(channel: Any) -> None:
        solver = solver_on(channel, graph, device="cpu")
        with pytest.raises(InputError, match=f"rank 2 was called with {what} "):
            solver.sssp(*(others if channel.rank == 2 else (0,)))
        result = solver.sssp(0)
        assert (result is None) == (channel.rank > 0)

    on_ranks(3, work)


def test_ranks_with_other_methods() -> None:
    graph = generate("road:9x9")
    methods: list[tuple[str, Callable[[Solver], object]]] = [
        ("sssp", lambda solver: solver.sssp(0)),
        ("bfs", lambda solver: solver.bfs(0)),
        ("nearest", lambda solver: solver.nearest([0])),
        ("isochrone", lambda solver: solver.isochrone([0], 3)),
        ("closeness", lambda solver: solver.closeness([0])),
    ]

    def work(channel: Any) -> None:
        with solver_on(channel, graph, device="cpu") as solver:
            for (first, call), (second, other) in permutations(methods, 2):
                said = f"rank 1 was called with .* '{second}', rank 0 with '{first}'"
                with pytest.raises(InputError, match=said):
                    (other if channel.rank == 1 else call)(solver)

    on_ranks(3, work)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_tree_that_nobody_asks_for_stays_there(device: str, ranks: int) -> None:
    """Distances and statistics are the same, and the next solve brings its tree."""
    graph = generate("road:9x9")

    def work(channel: Any) -> None:
        with source_solver(channel, graph, device=device) as solver:
            one, other = solver.sssp(7, brings_tree=False), solver.sssp(7)
        if one is None or other is None:
            assert channel.rank > 0
            return
        np.testing.assert_array_equal(one.distances, other.distances)
        assert one.statistics.keys() == other.statistics.keys()
        assert one.predecessors is None
        verify(graph, other)
        assert other.predecessors is not None

    on_ranks(ranks, work)


def test_threads_share_a_solver(device: str) -> None:
    """They take turns; none of them has had to do with the device before."""
    graph = generate("rmat:10,8")
    sources = list(range(0, 1000, 25))
    with groute_py.open(graph, device=device) as solver:
        wanted = [solver.sssp(source) for source in sources]
        with ThreadPoolExecutor(6) as pool:
            result = list(pool.map(solver.sssp, sources))
    for one, other in zip(result, wanted, strict=True):
        assert one is not None
        assert other is not None
        np.testing.assert_array_equal(one.distances, other.distances)
        verify(graph, one)


def test_a_solver_within_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the handler of a signal may call it; a lock would never be let go of."""
    solve_one, calls = SourceSolver.sssp, []

    def within(engine: SourceSolver, source: int, *words: Any, **named: Any) -> Result | None:
        with pytest.raises(RunError, match="is solving already"):
            solver.sssp(1)
        calls.append(source)
        return solve_one(engine, source, *words, **named)

    with groute_py.open(generate("road:9x9"), device="cpu") as solver:
        monkeypatch.setattr(SourceSolver, "sssp", within)
        for source in (0, 5):
            assert solver.sssp(source) is not None
    assert calls == [0, 5]
