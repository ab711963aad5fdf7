"""Figures of distances are those of NumPy and Python, whatever parts threads look at."""

from __future__ import annotations

import math

import numpy as np
import pytest

from groute_py.results.distances import UNREACHED, figures_of


@pytest.mark.parametrize("at_once", [3, 10, 1000])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_they_are_of_reached_vertices(
    dtype: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groute_py.results.distances.AT_ONCE", at_once)
    distances = np.random.default_rng(5).integers(0, 1 << 20, 100).astype(dtype)
    unreached = UNREACHED if dtype == "int64" else np.inf
    distances[[0, 1, 2, 40, 99]] = unreached
    result = figures_of(distances)
    values = distances[distances != unreached].tolist()
    assert result == (95, max(values), sum(values))


def test_integers_are_added_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.results.distances.AT_ONCE", 2)
    large = UNREACHED - 1
    assert figures_of(np.array([large, large, large, -3])).total == 3 * large - 3


def test_negative_distances_are_less_than_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.results.distances.AT_ONCE", 2)
    result = figures_of(np.array([-7, -3, UNREACHED, UNREACHED]))
    assert result == (2, -3, -10)


def test_floats_out_of_range_are_infinite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.results.distances.AT_ONCE", 1)
    assert math.isinf(figures_of(np.array([1.5e308, 1.5e308])).total)


def test_without_vertices_there_are_none() -> None:
    assert figures_of(np.zeros(0)) == (0, 0, 0)
