"""Turn costs and forbidden turns in every job, against labels of arcs in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs
from support.line_graph import check_walk, distances_by_arc, least_cost, pairs_of, turns_of
from support.local_ranks import on_ranks
from support.opening import solver_on
from support.turn_cases import (
    COSTS,
    GRAPH,
    ROWS,
    TURNS,
    WAY_BACK,
    check,
    check_k_nearest,
    rows_of,
    some_turns,
)

import groute_py
from groute_py import Graph, NegativeCycleError, Result
from groute_py.graph.turns.expanded import arcs_along, expanded


@settings(max_examples=15)
@given(
    graph=st.sampled_from(["int32", "float64"]).flatmap(lambda kind: graphs(kind)), data=st.data()
)
def test_one_source(device: str, graph: Graph, data: st.DataObject) -> None:
    source = data.draw(st.integers(0, graph.vertex_count - 1))
    every, turns = turns_of(graph), {}
    if every:
        listed = st.dictionaries(st.sampled_from(every), st.sampled_from(COSTS), max_size=20)
        turns = data.draw(listed)
    for reverse in (False, True):
        result = groute_py.sssp(graph, source, turns=rows_of(turns), reverse=reverse, device=device)
        check(graph, turns, source, result, reverse=reverse)


def check_arcs(graph: Graph, turns: dict[Any, Any], path: list[int], length: int) -> None:
    """The arcs that are found along a path have its vertices, and its length with their turns."""
    given = expanded(graph, [(*pair, cost) for pair, cost in turns.items()]).original
    assert given is not None
    arcs = arcs_along(given, path)
    assert [*graph.tails()[arcs].tolist(), path[-1]] == path
    assert graph.heads[arcs].tolist() == path[1:]
    costs = [turns.get(pair, 0) for pair in pairwise(arcs)]
    assert None not in costs
    assert graph.weights[arcs].sum() + sum(costs) == length


@settings(max_examples=15)
@given(graph=graphs(), data=st.data())
def test_by_arcs(device: str, graph: Graph, data: st.DataObject) -> None:
    """Of parallel arcs each has turns of its own."""
    source = data.draw(st.integers(0, graph.vertex_count - 1))
    every, turns = pairs_of(graph), {}
    if every:
        listed = st.dictionaries(st.sampled_from(every), st.sampled_from(COSTS), max_size=20)
        turns = data.draw(listed)
    rows = [(*pair, cost) for pair, cost in turns.items()]
    for reverse in (False, True):
        result = groute_py.sssp(graph, source, turns=rows, reverse=reverse, device=device)
        assert result is not None
        wanted = distances_by_arc(graph, turns, source, reverse=reverse)
        np.testing.assert_array_equal(result.distances, wanted)
        for vertex in range(0, graph.vertex_count, 3):
            if path := result.path_to(vertex):
                assert least_cost(graph, turns, path) == wanted[vertex]
                check_arcs(graph, turns, path, wanted[vertex])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_on_ranks(device: str, ranks: int, reverse: bool) -> None:
    rows = rows_of(TURNS)

    def work(channel: Any) -> Result | None:
        how: Any = {"device": device, "reverse": reverse, "turns": rows}
        with solver_on(channel, GRAPH, **how) as solver:
            assert (solver.facts.vertex_count, solver.facts.arc_count) == (50, 170)
            return solver.sssp(7)

    check(GRAPH, TURNS, 7, on_ranks(ranks, work)[0], reverse=reverse)


@pytest.mark.parametrize("reverse", [False, True])
def test_every_job(device: str, reverse: bool) -> None:
    wanted = ROWS.T if reverse else ROWS
    how: Any = {"turns": rows_of(TURNS), "reverse": reverse, "device": device}
    pairs = [(3, 40), (3, 8), (17, 17), (0, 49), (22, 5)]

    def check_routes(routes: Any) -> None:
        for (source, target), length, path in zip(
            pairs, routes.distances, routes.paths, strict=True
        ):
            assert length == wanted[source, target]
            if len(path):
                ends = (target, source) if reverse else (source, target)
                assert (path[0], path[-1]) == ends
                check_walk(GRAPH, TURNS, path.tolist(), length)

    rows = groute_py.apsp(GRAPH, sources=[3, 17, 3], **how)
    matrix = groute_py.matrix(GRAPH, [3, 9], [40, 3, 9, 0], **how)
    assert rows is not None
    assert matrix is not None
    np.testing.assert_array_equal(rows.distances, wanted[[3, 17, 3]])
    np.testing.assert_array_equal(matrix.distances, wanted[[3, 9]][:, [40, 3, 9, 0]])
    assert (matrix.sources.tolist(), matrix.targets.tolist()) == ([3, 9], [40, 3, 9, 0])
    check_routes(groute_py.route(GRAPH, pairs, paths=True, **how))
    with groute_py.open(GRAPH, **how) as solver:
        check(GRAPH, TURNS, 4, solver.sssp(4, targets=range(50)), reverse=reverse)
        early = solver.sssp(4, targets=[11])
        every, block = solver.apsp(), solver.matrix([3, 9], [40, 3])
        assert early is not None
        assert every is not None
        assert block is not None
        assert early.distances[11] == wanted[4, 11]
        np.testing.assert_array_equal(every.distances, wanted)
        np.testing.assert_array_equal(block.distances, wanted[[3, 9]][:, [40, 3]])
        check_routes(solver.route(pairs, paths=True))
        check_nearest(solver.nearest([3, 9, 30]), to_facility=False)
        for to_facility in (False, True):
            result = solver.nearest([30, 3, 9], k=2, to_facility=to_facility)
            check_k_nearest(GRAPH, TURNS, [3, 9, 30], result, k=2)


def check_nearest(result: Any, *, to_facility: bool) -> None:
    rows = (ROWS.T if to_facility else ROWS)[[3, 9, 30]]
    np.testing.assert_array_equal(result.distances, rows.min(axis=0))
    owners = np.array([3, 9, 30])[rows.argmin(axis=0)]
    np.testing.assert_array_equal(result.facilities[result.reached], owners[result.reached])
    tails = np.repeat(np.arange(50), np.diff(GRAPH.offsets)).tolist()
    arcs = set(zip(tails, GRAPH.heads.tolist(), strict=True))
    for vertex in np.flatnonzero(result.reached).tolist():
        beside = int(result.next[vertex])
        assert (beside < 0) == (vertex == result.facilities[vertex])
        assert beside < 0 or ((vertex, beside) if to_facility else (beside, vertex)) in arcs


@pytest.mark.parametrize("to_facility", [False, True])
def test_nearest(device: str, to_facility: bool) -> None:
    how: Any = {"turns": rows_of(TURNS), "to_facility": to_facility, "device": device}
    check_nearest(groute_py.nearest(GRAPH, [30, 3, 9], **how), to_facility=to_facility)


def test_contracted() -> None:
    graph = groute_py.generate("road:12x12")
    turns = some_turns(graph, seed=3)
    prepared = groute_py.sssp(graph, 40, turns=rows_of(turns), prepare=True, device="cpu")
    assert prepared is not None
    assert prepared.statistics["algorithm"] == "contraction"
    check(graph, turns, 40, prepared)
    town = groute_py.prepare(graph, device="cpu")
    check(graph, turns, 40, groute_py.sssp(town, 40, turns=rows_of(turns), device="cpu"))


def test_it_grows_by_what_is_listed() -> None:
    """A crossing of two roads: a copy for the street that comes from the west, and an arrival."""
    cross = groute_py.generate("road:50x50")
    (turn, *_) = turns_of(cross)
    one = expanded(cross, [(*turn, None)])
    assert one.vertex_count == cross.vertex_count + 2
    assert one.arc_count <= cross.arc_count + 5


def test_sources_targets_and_u_turns() -> None:
    """Only by a U-turn at 2; to begin at 1, and to end there, is no turn."""
    turns = {(0, 1, 2): None, (2, 1, 2): 5, (1, 2, 1): 3, (0, 1, 0): None}
    for source in range(3):
        check(WAY_BACK, turns, source, groute_py.sssp(WAY_BACK, source, turns=rows_of(turns)))
    blocked = groute_py.sssp(WAY_BACK, 0, turns=rows_of(turns), device="cpu")
    free = groute_py.sssp(WAY_BACK, 1, turns=rows_of(turns), device="cpu")
    assert blocked is not None
    assert free is not None
    assert blocked.reached.tolist() == [True, True, False]
    assert free.distances.tolist() == [4, 0, 2]


def test_negative_costs() -> None:
    turns = {(0, 1, 2): -5}
    result = groute_py.sssp(WAY_BACK, 0, turns=rows_of(turns), device="cpu")
    check(WAY_BACK, turns, 0, result)
    assert result is not None
    assert result.distances.tolist() == [0, 3, 1]  # by the U-turn at 2


CYCLE = rows_of({(0, 1, 0): -9})
"""0 → 1 → 0 weighs 8; with the turn at 1 it costs −1."""

CALLS: dict[str, Callable[[bool], Any]] = {
    "sssp": lambda back: groute_py.sssp(WAY_BACK, 0, turns=CYCLE, reverse=back),
    "apsp": lambda back: groute_py.apsp(WAY_BACK, sources=[0], turns=CYCLE, reverse=back),
    "route": lambda back: groute_py.route(WAY_BACK, [(0, 1)], turns=CYCLE, reverse=back),
    "nearest": lambda back: groute_py.nearest(WAY_BACK, [0], turns=CYCLE, to_facility=back),
    "k nearest": lambda back: groute_py.nearest(WAY_BACK, [0], k=2, turns=CYCLE, to_facility=back),
}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_a_negative_cycle_is_one_of_vertices(name: str, reverse: bool) -> None:
    with pytest.raises(NegativeCycleError) as caught:
        CALLS[name](reverse)
    assert set(pairwise(caught.value.cycle)) == {(0, 1), (1, 0)}
    assert caught.value.weight == -1


@pytest.mark.parametrize("dtype", ["uint32", "int32"])
def test_sums_beyond_the_type_of_the_weights(dtype: str) -> None:
    most = np.iinfo(dtype).max
    graph = graph_of(3, [(0, 1, 1), (1, 2, most)], dtype)
    result = groute_py.sssp(graph, 0, turns=[(0, 1, 2, 5)], device="cpu")
    assert result is not None
    assert result.distances.tolist() == [0, 1, most + 6]


def test_where_vertices_lie() -> None:
    places = np.array([[7.0, 0], [0, 7], [1, 1], [2, 2]])
    crossing = graph_of(4, [(0, 1, 5), (1, 2, 1), (1, 3, 1)]).changed(coordinates=places)
    result = groute_py.sssp(crossing, 0, turns=[(0, 1, 2, 9)], device="cpu")
    assert result is not None
    assert np.array_equal(result.coordinates, places)
