"""The certificate of distances with turn costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.turn_cases import GRAPH, TURNS, WAY_BACK, rows_of

import groute_py
from groute_py import VerificationError
from groute_py.results.result import read_result


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_verify(tmp_path: Path, reverse: bool, dtype: str) -> None:
    """A saved answer is certified; one of other turns, and each wrong distance, is not."""
    graph = GRAPH.with_weights(GRAPH.weights.astype(dtype))
    rows = rows_of(TURNS)
    result = groute_py.sssp(graph, 7, turns=rows, reverse=reverse, device="cpu")
    near = groute_py.sssp(graph, 7, turns=rows, reverse=reverse, cutoff=12, device="cpu")
    assert result is not None
    assert near is not None
    result.save(tmp_path / "it.npz")
    saved = read_result(tmp_path / "it.npz")
    groute_py.verify(graph, saved, turns=rows)
    groute_py.verify(graph, near, turns=rows, cutoff=12)
    for vertex in (7, 40, int(np.argmin(result.reached))):
        for off in (-1, 1):
            wrong = saved.distances.copy()
            wrong[vertex] = wrong[vertex] + off if result.reached[vertex] else off
            with pytest.raises(VerificationError, match=f"vertex {vertex} has distance"):
                groute_py.verify(graph, replace(saved, distances=wrong), turns=rows)
    with pytest.raises(VerificationError, match="with these turns"):
        groute_py.verify(graph, saved, turns=rows[::2])
    with pytest.raises(VerificationError, match="with these turns"):
        groute_py.verify(graph, near, turns=rows)


def test_verify_negative_costs() -> None:
    for graph in (WAY_BACK, WAY_BACK.with_weights(WAY_BACK.weights * 0.1)):
        turns = [(0, 1, 2, -1 if graph is WAY_BACK else -0.1)]
        result = groute_py.sssp(graph, 0, turns=turns, device="cpu")
        assert result is not None
        groute_py.verify(graph, result, turns=turns)
        with pytest.raises(VerificationError, match="vertex 2 has distance"):
            groute_py.verify(graph, result, turns=[(0, 1, 2, 0)])
        with pytest.raises(VerificationError, match="negative cycle"):
            groute_py.verify(graph, result, turns=[(0, 1, 0, -20)])
