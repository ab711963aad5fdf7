"""Bellman–Ford's methods: negative weights and cycles, matrices, rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from support.graphs import all_lengths, graph_of, graphs, random_graph, scipy_distances
from support.methods import NEGATIVE, WEIGHTED, needs
from support.solving import LONG_S, solve

from groute_py import UNREACHED, Graph, InputError, NegativeCycleError, generate, verify
from groute_py.engine import negative_cycle
from groute_py.engine.algorithms.methods import algorithms
from groute_py.engine.negative_cycle import CycleWatch

LOOK = CycleWatch.look


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

    @pytest.mark.parametrize("ranks", [1, 2])
    def test_a_sum_out_of_range_hides_no_cycle(self, device: str, method: str, ranks: int) -> None:
        """Wrapped around, the loop's would be the best way to where it is."""
        needs(method, device)
        arcs = [(0, 1, -(2**61)), (1, 2, 2**63 - 2), (2, 1, 1 - 2**63), (2, 2, 2**62)]
        with pytest.raises(NegativeCycleError) as caught:
            solve(graph_of(3, arcs, "int64"), 0, ranks, algorithm=method, device=device)
        assert sorted(caught.value.cycle[:-1]) == [1, 2]
        assert caught.value.weight == -1

    @pytest.mark.parametrize("ranks", [1, 2])
    def test_ties_hide_no_cycle(self, device: str, method: str, ranks: int) -> None:
        """Of the last ways to 1 two are equally good, and one of them closes a cycle of weight 0
        with the first; distances repeat after three rounds but for what they sink by."""
        needs(method, device)
        arcs = [(0, 2, -2), (0, 1, 1), (0, 1, 9), (1, 2, 2), (1, 0, -1), (1, 1, 2), (2, 1, 9)]
        arcs += [(2, 1, 2), *((3, vertex, 0) for vertex in range(3))]
        with pytest.raises(NegativeCycleError) as caught:
            solve(graph_of(4, arcs), 3, ranks, algorithm=method, device=device, time_limit_s=LONG_S)
        assert caught.value.cycle in ([0, 2, 1, 0], [1, 0, 2, 1], [2, 1, 0, 2])
        assert caught.value.weight == -1

    @pytest.mark.parametrize("ranks", [1, 2, 3])
    @settings(max_examples=40)
    @given(graph=graphs(least=-2, greatest=5))
    def test_it_is_found_wherever_it_is(
        self, device: str, method: str, ranks: int, graph: Graph
    ) -> None:
        needs(method, device)
        lengths = all_lengths(graph)
        closed = (np.diag(lengths) < 0) & (lengths[0] < np.inf)
        words: dict[str, Any] = {"algorithm": method, "device": device, "time_limit_s": 20}
        if closed.any():
            with pytest.raises(NegativeCycleError):
                solve(graph, 0, ranks, **words)
        else:
            result = solve(graph, 0, ranks, **words).distances
            np.testing.assert_array_equal(np.where(result == UNREACHED, np.inf, result), lengths[0])

    @pytest.mark.parametrize("ranks", [2, 3, 5])
    @settings(max_examples=25)
    @given(graph=graphs(least=-2, greatest=5))
    def test_looks_at_every_vote(self, device: str, method: str, ranks: int, graph: Graph) -> None:
        """With as many sweeps as could ever be needed: distances go to and fro between ranks."""
        needs(method, device)
        lengths = all_lengths(graph)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(negative_cycle, "BEFORE_A_LOOK", 0)
            patch.setattr(CycleWatch, "look", lambda watch, *_: LOOK(watch, 99))
            if ((np.diag(lengths) < 0) & (lengths[0] < np.inf)).any():
                with pytest.raises(NegativeCycleError) as caught:
                    solve(graph, 0, ranks, 1, algorithm=method, device=device, time_limit_s=LONG_S)
                assert (np.diag(lengths)[caught.value.cycle] < 0).all()
            else:
                result = solve(graph, 0, ranks, 1, algorithm=method, device=device).distances
                assert (np.where(result == UNREACHED, np.inf, result) == lengths[0]).all()

    def test_it_is_found_early(self, device: str, method: str) -> None:
        """Within n rounds, and far sooner: by the watch, in a pass over the arcs now and then."""
        needs(method, device)
        base = random_graph(3000, 12000, seed=4, greatest=90)
        tails = np.repeat(np.arange(3000), np.diff(base.offsets))
        arcs = list(zip(tails, base.heads, base.weights, strict=True))
        arcs += [(0, 7, 1), (7, 8, -50), (8, 7, 40)]
        graph = graph_of(3000, [tuple(map(int, arc)) for arc in arcs])
        with pytest.raises(NegativeCycleError):
            solve(graph, 0, algorithm=method, device=device, time_limit_s=LONG_S)


def test_negative_weights_are_refused(device: str) -> None:
    graph = graph_of(2, [(0, 1, -1)])
    for method in set(WEIGHTED) - set(NEGATIVE):
        if device in algorithms()[method].devices:
            with pytest.raises(InputError, match="negative weight"):
                solve(graph, 0, algorithm=method, device=device)


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


@pytest.mark.parametrize("order", ["", "-slf", "-slf-lll"])
def test_steps_of_a_queue(order: str) -> None:
    """The vertices that are taken from it: each that is reached at least once."""
    graph = generate("random:300,4000")
    result = solve(graph, 0, algorithm=f"queue-bellman-ford{order}", device="cpu")
    assert result.statistics["steps"] >= result.reached.sum()
