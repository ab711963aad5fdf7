"""Turns as they are given: arrays, Parquet, what is wrong, and what they do not go with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of
from support.turn_cases import WAY_BACK

import groute_py
from groute_py import Graph, InputError
from groute_py.jobs.solver import Solver


def test_arrays_and_parquet(tmp_path: Path) -> None:
    wanted = groute_py.sssp(WAY_BACK, 0, turns=[(0, 1, 2, 5), (2, 1, 0, None)], device="cpu")
    array = np.array([[0, 1, 2, 5], [2, 1, 0, np.inf]])
    result = groute_py.sssp(WAY_BACK, 0, turns=array, device="cpu")
    assert wanted is not None
    assert result is not None
    assert wanted.distances.tolist() == result.distances.tolist() == [0, 4, 11]
    arrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"tail": [0, 2], "via": [1, 1], "head": [2, 0], "cost": [5, None]}
    pq.write_table(arrow.table(columns), tmp_path / "turns.parquet")
    again = groute_py.sssp(WAY_BACK, 0, turns=tmp_path / "turns.parquet", device="cpu")
    assert again is not None
    assert again.distances.tolist() == [0, 4, 11]


FLOATS = graph_of(3, [(0, 1, 1), (1, 2, 1)], "float32")


@pytest.mark.parametrize(
    ("graph", "turns", "problem"),
    [
        (WAY_BACK, [(0, 1, 2, 1), (0, 2, 1, 1)], "turn 2: no arc of graph leads from 0 to 2"),
        (WAY_BACK, [(0, 1, 3, 1)], "turn 1: head 3 is not a vertex"),
        (WAY_BACK, [(0, 1, 2, 1), (0, 1, 2, 1), (0, 1, 2, None)], "turn 3: the same turn is at"),
        (WAY_BACK, [(0, 1, 2, np.nan)], "turn 1: a cost must be a number"),
        (WAY_BACK, [(0, 1, 2, -np.inf)], "turn 1: a cost must be a number"),
        (WAY_BACK, [(0, 1, 2, "much")], "turn 1: a cost must be a number"),
        (WAY_BACK, [(0, 1, 2, 1.5)], "turn 1: cost 1.5 is no integer"),
        (WAY_BACK, [(0, 1, 2, 2**63 - 2)], "do not fit in int64"),
        (FLOATS, [(0, 1, 2, 4e38)], "do not fit in float32"),
        (FLOATS, [(0, 1, 2, 10**400)], "does not fit in float64"),
        (WAY_BACK, [(0, 1, 2, 2**63)], "does not fit in int64"),
        (WAY_BACK, [(0, 1)], "turn 1 is"),
        (WAY_BACK, [(0, 1, 2, 3), (0, 1, 3)], "turn 2 is"),
        (WAY_BACK, [(0, 1, 5), (0, 3, 5)], "turn 2: no arc 3 of graph begins where arc 0 ends"),
        (WAY_BACK, [(0, 4, 5)], "turn 1: 4 is no number of an arc of graph"),
        (WAY_BACK, [(0, "a", 5)], "turn 1: 'a' is no number of an arc"),
        (WAY_BACK, [(0, 2, 5), (0, 2, 6)], "turn 2: the same turn is at cost 5 in a line above"),
        (WAY_BACK, 5, "rows of a tail"),
        (WAY_BACK, "turns.txt", "turns are read from .csv .parquet"),
    ],
)
def test_what_is_wrong(graph: Graph, turns: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        groute_py.sssp(graph, 0, turns=turns, device="cpu")


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda turns: groute_py.open(WAY_BACK, turns=turns, hops=True), "hops count arcs"),
        (lambda turns: groute_py.sssp(WAY_BACK, 0, turns=turns, download=False), "on the host"),
        (lambda turns: groute_py.sssp(WAY_BACK, 0, turns=turns, coordinates="a.co"), "coordinates"),
        (lambda turns: groute_py.apsp(WAY_BACK, turns=turns, predecessors=True), "are no tree"),
        (lambda turns: groute_py.sssp(WAY_BACK, 9, turns=turns), "vertices are 0..2"),
        (lambda turns: groute_py.route(WAY_BACK, [(0, 4)], turns=turns), "vertices are 0..2"),
        (lambda turns: groute_py.nearest(WAY_BACK, [3], turns=turns), "vertices are 0..2"),
    ],
)
def test_what_turns_do_not_go_with(call: Callable[[Any], Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        call([(0, 1, 2, None)])


@pytest.mark.parametrize(
    "ask",
    [
        lambda solver: solver.bfs(0),
        lambda solver: solver.closeness(),
        lambda solver: solver.with_weights([1, 1, 1]),
    ],
)
def test_methods_without_turns(ask: Callable[[Solver], Any]) -> None:
    crossing = graph_of(4, [(0, 1, 5), (1, 2, 1), (1, 3, 1)])
    with (
        groute_py.open(crossing, turns=[(0, 1, 2, 9)], device="cpu") as solver,
        pytest.raises(InputError, match="turns: "),
    ):
        ask(solver)
