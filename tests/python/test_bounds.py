"""Cutoffs and the bound of targets are compared as they are: nothing is rounded on the way."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command import Run, as_json
from support.graphs import graph_of, graphs, scipy_distances
from support.methods import needs
from support.solving import solve

from groute_py import UNREACHED, Graph, InputError, verify
from groute_py.device.base import bound_within, unreached

METHODS = ("delta-stepping", "bellman-ford", "heap-dijkstra", "csr-bellman-ford")
TYPES = [np.dtype(kind) for kind in ("int32", "int64", "float32", "float64")]


def test_an_integer_of_the_command_line(tmp_path: Path, run: Run) -> None:
    """Beyond what float64 holds."""
    (tmp_path / "g.txt").write_text("".join(f"a {k} {2**53 + k}\n" for k in range(4)))
    solved = ("sssp", tmp_path / "g.txt", "-s", "a", "--device", "cpu", "--cutoff", 2**53 + 1)
    assert as_json(run(*solved, "-o", tmp_path / "r.npz", "--json"))["reached"] == 3
    done = run("verify", tmp_path / "g.txt", tmp_path / "r.npz", "--cutoff", 2**53 + 1)
    assert done.exit_code == 0
    with pytest.raises(InputError, match="'2x' is no amount"):
        run(*solved[:-1], "2x")


@pytest.mark.parametrize("kind", TYPES, ids=str)
@given(data=st.data())
def test_the_greatest_that_is_no_more(kind: np.dtype[Any], data: st.DataObject) -> None:
    whole = st.integers(0, 2**70)
    value = data.draw(st.one_of(whole, st.floats(0, 1e300), whole.map(lambda n: n / 1000)))
    bound, nothing = bound_within(value, kind), unreached(kind)
    assert bound.dtype == kind
    if bound == nothing:
        most = np.finfo(kind).max if kind.kind == "f" else np.iinfo(kind).max - 1
        assert Fraction(most.item() if kind.kind == "f" else most) < Fraction(value)
        return
    above = np.nextafter(bound, nothing) if kind.kind == "f" else bound + kind.type(1)
    assert Fraction(bound.item()) <= Fraction(value)
    assert above == nothing or Fraction(above.item()) > Fraction(value)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_a_cutoff_between_two_floats(device: str, method: str, ranks: int) -> None:
    needs(method, device)
    graph = graph_of(3, [(0, 1, 0.1), (0, 2, 0.7)], "float32")
    near, far = (float(np.float32(w)) for w in (0.1, 0.7))
    assert near > 0.1  # so it lies beyond a cutoff of 0.1, which float32 rounds up
    assert far < 0.7
    for cutoff, reached in ((0.1, 1), (near, 2), (far, 3), (0.7, 3), (np.nextafter(far, 0), 2)):
        options = {"algorithm": method, "device": device, "cutoff": float(cutoff)}
        result = solve(graph, 0, ranks, **options)
        assert result.reached.sum() == reached
        verify(graph, result, cutoff=float(cutoff))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@given(graph=graphs("float32"), cutoff=st.integers(0, 60), data=st.data())
def test_what_lies_beyond_is_dropped(
    dtype: str, graph: Graph, cutoff: int, data: st.DataObject
) -> None:
    weights = graph.weights if dtype.startswith("float") else graph.weights.round()
    graph = Graph.from_arrays(graph.offsets, graph.heads, weights.astype(dtype))
    whole = solve(graph, 0, device="cpu")
    exact = float(whole.distances[whole.reached].max())
    limit = data.draw(st.sampled_from([cutoff, cutoff / 10, exact, np.nextafter(exact, 0) or 0]))
    result = solve(graph, 0, device="cpu", cutoff=float(limit))
    distances = whole.distances.astype(np.float64)
    kept = whole.reached & (distances <= limit)
    np.testing.assert_array_equal(result.reached, kept)
    verify(graph, result, cutoff=float(limit))


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("cutoff", [2**53 + 1, 2**60 + 1, Fraction(2**54 + 3, 2), 6.5])
def test_cutoffs_of_integers(device: str, ranks: int, cutoff: Any) -> None:
    least = int(cutoff)
    graph = graph_of(4, [(0, 1, least - 1), (1, 2, 1), (2, 3, 1)], "int64")
    result = solve(graph, 0, ranks, device=device, cutoff=cutoff)
    assert result.distances.tolist() == [0, least - 1, least, UNREACHED]
    verify(graph, result, cutoff=cutoff)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["int64", "float64", "float32"])
@given(graph=graphs("int64"), target=st.integers(0, 23))
def test_the_bound_is_the_farthest_target(
    dtype: str, ranks: int, graph: Graph, target: int
) -> None:
    scale = 2**55 if dtype == "int64" else 1
    graph = Graph.from_arrays(graph.offsets, graph.heads, (graph.weights * scale).astype(dtype))
    target %= graph.vertex_count
    full = solve(graph, 0, device="cpu")
    result = solve(graph, 0, ranks, device="cpu", targets=[target])
    if not full.reached[target]:
        assert result.statistics["bound"] is None
        return
    bound = full.distances[target]
    assert result.statistics["bound"] == bound.item()
    nothing = unreached(full.distances.dtype)
    expected = np.where(full.distances <= bound, full.distances, nothing)
    np.testing.assert_array_equal(result.distances, expected)
    verify(graph, result)
    if dtype != "int64":
        np.testing.assert_allclose(full.distances, scipy_distances(graph, 0))
