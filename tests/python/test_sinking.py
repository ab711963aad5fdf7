"""Distances that sink by rounding are told from distances that get better."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support.graphs import graph_of
from support.methods import NEGATIVE, needs
from support.solving import LONG_S, solve

from groute_py import RunError, verify
from groute_py.engine.negative_cycle import PATIENCE, Sinking, SinkingError
from groute_py.graph.facts import facts_of

SMALL = facts_of(graph_of(3, [(0, 1, 1.0), (1, 2, -1.0)], "float64"))
FACTS = replace(SMALL, arc_count=10**12)


def look_often(dtype: str, sink: float, relaxations: int) -> None:
    sinking = Sinking(FACTS)
    for look in range(3 * PATIENCE):
        distances = np.array([0, 1, 0.5], dtype) - np.array([0, look * sink, 0], dtype)
        sinking.look(distances, relaxations << look)


@pytest.mark.parametrize(("dtype", "sink"), [("float64", 1e-13), ("float32", 1e-5)])
def test_roundings_are_told(dtype: str, sink: float) -> None:
    with pytest.raises(RunError, match="sink by rounding"):
        look_often(dtype, sink, 500)


@pytest.mark.parametrize("relaxations", [500, 10**6, 10**9])
@pytest.mark.parametrize(("dtype", "sink"), [("float64", 1e-2), ("float32", 1e-2)])
def test_progress_is_not_taken_for_rounding(dtype: str, sink: float, relaxations: int) -> None:
    look_often(dtype, sink, relaxations)


def test_a_vertex_that_is_reached_is_progress() -> None:
    sinking = Sinking(FACTS)
    for look in range(3 * PATIENCE):
        distances = np.full(40, np.inf)
        distances[: look + 1] = -1e-15 * look
        sinking.look(distances, 500)


def test_integers_do_not_round() -> None:
    sinking = Sinking(FACTS)
    for _ in range(3 * PATIENCE):
        sinking.look(np.zeros(3, np.int64), 500)


def test_far_too_much_work_is_told() -> None:
    sinking = Sinking(SMALL)
    with pytest.raises(SinkingError):
        sinking.look(np.array([0, 1, 0], np.float32), 10**4)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("method", [method for method in NEGATIVE if method != "auto"])
@pytest.mark.parametrize(
    ("base", "weights"),
    [
        (400.1, [4.8999999999999995, 0.2, 1.4000000000000001, -6.499999999999999]),
        (100.1, [2.0999999999999996, 3.3000000000000003, 0.6000000000000001, -6.0]),
    ],
)
def test_a_solve_that_sinks_has_an_answer(
    base: float, weights: list[float], method: str, ranks: int
) -> None:
    """Their exact sum is no less than 0, and that of floats from there is, lap after lap."""
    assert sum(map(Fraction, weights)) >= 0
    assert np.add.accumulate([base, *weights])[-1] < base
    needs(method, "cpu")
    ends = [(1 + k, 1 + (k + 1) % len(weights)) for k in range(len(weights))]
    arcs = [(0, 1, base), *((*pair, w) for pair, w in zip(ends, weights, strict=True))]
    graph = graph_of(1 + len(weights), arcs, "float64")
    result = solve(graph, 0, ranks, algorithm=method, device="cpu", time_limit_s=LONG_S)
    assert result.distances.tolist() == [0, *np.add.accumulate([base, *weights])[:-1]]
    assert result.path_to(len(weights)) == list(range(len(weights) + 1))
    verify(graph, result)
