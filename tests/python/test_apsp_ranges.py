"""Rows whose sums leave the range of a type, or its precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of, random_graph
from support.local_ranks import on_ranks
from support.opening import job_on
from support.row_checks import check_rows

import groute_py
from groute_py import RunError, SourceRows
from groute_py.comm.base import SoloChannel
from groute_py.engine.options import Options
from groute_py.many.choose import Choice
from groute_py.many.delivery import collect
from groute_py.many.solve import Solving
from groute_py.results.distances import public_distances


@pytest.fixture
def rounding(method: str) -> str:
    """A method that takes floats."""
    if method == "sweep":
        pytest.skip("sweep takes integers")
    return method


def test_distances_beyond_32_bits(device: str, method: str) -> None:
    great = 2**31 - 2
    graph = graph_of(4, [(0, 1, great), (1, 2, great), (2, 3, 5), (3, 0, 2**30)])
    rows = groute_py.apsp(graph, algorithm=method, device=device, predecessors=True)
    check_rows(graph, rows)
    assert rows is not None
    assert rows.distances[0].tolist() == [0, great, 2 * great, 2 * great + 5]


def test_distances_beyond_64_bits(device: str, method: str) -> None:
    graph = graph_of(3, [(0, 1, 2**62), (1, 2, 2**62)], "int64")
    with pytest.raises(RunError, match="does not fit in int64"):
        groute_py.apsp(graph, algorithm=method, device=device)


def test_sums_beyond_64_bits_that_nobody_needs(device: str, method: str) -> None:
    """A way too long for the type is tried, and a shorter one is there."""
    great = 2**63 - 2
    arcs = [(0, 1, 5), (0, 2, 6), (1, 2, great), (2, 1, great), (3, 0, 7)]
    graph = graph_of(4, arcs, "int64")
    rows = groute_py.apsp(graph, algorithm=method, device=device, predecessors=True)
    assert rows is not None
    no = groute_py.UNREACHED
    wanted = [[0, 5, 6, no], [no, 0, great, no], [no, great, 0, no], [7, 12, 13, 0]]
    assert rows.distances.tolist() == wanted
    assert rows.predecessors is not None
    assert rows.predecessors.tolist() == [
        [-1, 0, 0, -1],
        [-1, -1, 1, -1],
        [-1, 2, -1, -1],
        [3, 0, 0, -1],
    ]


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_rows_are_rounded_as_a_solve_is(device: str, rounding: str, kind: str) -> None:
    if rounding == "floyd":
        pytest.skip("it adds floats up in another order")
    graph = random_graph(120, 700, seed=4, greatest=9)
    weights = np.random.default_rng(4).random(graph.arc_count).astype(kind)
    graph = groute_py.Graph.from_arrays(graph.offsets, graph.heads, weights)
    rows = groute_py.apsp(graph, algorithm=rounding, device=device)
    assert rows is not None
    assert rows.distances.dtype == kind
    for source in range(graph.vertex_count):
        one = groute_py.sssp(graph, source, device="cpu")
        assert one is not None
        np.testing.assert_array_equal(rows.distances[source], one.distances)


def test_potentials_that_are_far_greater_than_distances(device: str, rounding: str) -> None:
    """Rounded to float32 they would take the distances' last digits with them."""
    arcs = [(0, 1, 1e6), (1, 2, -1e6), (2, 3, 0.1)]
    rows = groute_py.apsp(graph_of(4, arcs, "float32"), algorithm=rounding, device=device)
    assert rows is not None
    assert rows.distances.dtype == np.float64
    assert rows.distances[0, 3] == pytest.approx(np.float32(0.1), rel=1e-9)


def test_float32_sums_that_need_float64(device: str, rounding: str) -> None:
    great = float(np.finfo(np.float32).max)
    graph = graph_of(3, [(0, 1, great), (1, 2, great)], "float32")
    rows = groute_py.apsp(graph, algorithm=rounding, device=device)
    assert rows is not None
    assert rows.distances[0].tolist() == [0, great, 2 * great]


@pytest.mark.parametrize("ranks", [1, 2])
def test_all_rows_of_a_run_are_of_one_precision(device: str, rounding: str, ranks: int) -> None:
    """Also those that float32 would do for: here nothing but the last row overflows in it."""
    great = float(np.finfo(np.float32).max)
    arcs = [(0, 1, 0.1), (1, 2, 0.2), (2, 3, 0.3), (4, 5, great), (5, 6, great)]
    graph = graph_of(7, arcs, "float32")

    def work(channel: Any) -> SourceRows | None:
        return collect(channel, job_on(channel, graph, algorithm=rounding, device=device))

    if ranks > 1 and rounding == "floyd":
        pytest.skip("several ranks hold a matrix on GPUs only")
    rows = on_ranks(ranks, work)[0]
    assert rows is not None
    assert rows.distances.dtype == np.float64
    wanted = np.float32([0.1, 0.2, 0.3]).astype(np.float64).cumsum()
    np.testing.assert_allclose(rows.distances[0, 1:4], wanted, rtol=1e-15)
    assert rows.distances[4, 6] == 2 * great


def test_a_type_that_was_too_narrow_is_not_tried_again(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where an answer was left before its end, and its solver with it."""
    great = 2**31 - 2
    graph = graph_of(4, [(0, 1, great), (1, 2, great), (2, 3, 5), (3, 0, 2**30)])
    options = Options(algorithm="sweep", device=device, predecessors=False)
    choice = Choice("sweep", device, "asked for")
    solving = Solving(graph, None, options, choice, SoloChannel(), stays=True)
    tried: list[Any] = []
    opened = solving.opened
    monkeypatch.setattr(solving, "opened", lambda kind: tried.append(kind) or opened(kind))
    for source in (0, 3, 0):
        blocks = solving.blocks(np.array([source]))
        row = public_distances(next(blocks).distances)[0]
        assert row.tolist() == groute_py.sssp(graph, source, device="cpu").distances.tolist()
        blocks.close()
    assert tried == ["int32", "int64", "int64", "int64"]
