"""Turn costs and forbidden turns in every job, against labels of arcs in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph
from support.line_graph import (
    Turns,
    by_arc,
    check_walk,
    distances_by_arc,
    distances_over_arcs,
    labels_of_arcs,
    least_cost,
    pairs_of,
    turns_of,
)
from support.local_ranks import on_ranks

import groute_py
from groute_py import (
    Graph,
    InputError,
    NearestFacilities,
    NegativeCycleError,
    Result,
    VerificationError,
)
from groute_py.engine.options import Options
from groute_py.engine.supply.choose import supply_of
from groute_py.jobs.nearest import solve_nearest
from groute_py.jobs.solver import Solver
from groute_py.results.result import load
from groute_py.turns.expanded import expanded

COSTS = (None, None, 0, 1, 7, 30)


def rows_of(turns: Turns) -> list[tuple[Any, ...]]:
    return [(*turn, cost) for turn, cost in turns.items()]


def some_turns(graph: Graph, seed: int, count: int = 60) -> dict[tuple[int, int, int], Any]:
    random = np.random.default_rng(seed)
    every = turns_of(graph)
    drawn = random.choice(len(every), min(count, len(every)), replace=False)
    return {every[turn]: COSTS[random.integers(len(COSTS))] for turn in drawn.tolist()}


GRAPH = random_graph(50, 170, seed=5, greatest=9)
"""With parallel arcs, loops, weights of 0, and vertices that nothing reaches."""

TURNS = some_turns(GRAPH, seed=1, count=150)

ROWS = np.array([distances_over_arcs(GRAPH, TURNS, source) for source in range(50)])


def check(
    graph: Graph, turns: Turns, source: int, result: Result | None, *, reverse: bool = False
) -> None:
    assert result is not None
    assert result.predecessors is None
    wanted = distances_over_arcs(graph, turns, source, reverse=reverse)
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(result.distances, wanted, rtol=1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(result.distances, wanted)
    for vertex in range(0, graph.vertex_count, 3):
        path = result.path_to(vertex)
        assert bool(path) == result.reached[vertex]
        if path:
            assert (path[0], path[-1]) == ((vertex, source) if reverse else (source, vertex))
            check_walk(graph, turns, path, result.distances[vertex])


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
    saved = load(tmp_path / "it.npz")
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


@settings(max_examples=15)
@given(
    graph=graphs(greatest=12),
    limits=st.lists(st.integers(1, 40), min_size=1, max_size=3, unique=True),
    reverse=st.booleans(),
    each=st.booleans(),
    data=st.data(),
)
def test_isochrones(
    device: str,
    graph: Graph,
    limits: list[int],
    reverse: bool,
    each: bool,
    data: st.DataObject,
) -> None:
    """Vertices, and how much of each arc is within each limit."""
    every, turns = pairs_of(graph), {}
    if every:
        listed = st.dictionaries(st.sampled_from(every), st.sampled_from(COSTS), max_size=20)
        turns = data.draw(listed)
    sources = data.draw(st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=2))
    how: Any = {"turns": [(*pair, cost) for pair, cost in turns.items()], "device": device}
    found = groute_py.isochrone(graph, sources, limits, each=each, reverse=reverse, **how)
    assert found is not None
    groups = [[source] for source in sources] if each else [sources]
    for group, reach in zip(groups, found.reaches, strict=True):
        way = {"reverse": reverse}
        rows = [distances_by_arc(graph, turns, source, **way) for source in group]
        row = np.min(rows, axis=0)
        within = np.flatnonzero(row <= max(limits))
        np.testing.assert_array_equal(reach.vertices, within)
        np.testing.assert_array_equal(reach.distances, row[within])
        labels = [labels_of_arcs(graph, turns, source, **way) for source in group]
        pieces = found.pieces(reach)
        columns = pieces.bands, pieces.tails, pieces.heads, pieces.begins, pieces.ends
        parts = sorted(zip(*(column.tolist() for column in columns), strict=True))
        assert parts == parts_within(graph, labels, sorted(limits), reverse=reverse)


def parts_within(
    graph: Graph, labels: list[dict[int, int]], limits: list[int], *, reverse: bool
) -> list[tuple[int, int, int, float, float]]:
    """The limit's number, the ends and the part of each arc that is within no lesser limit."""
    found = []
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)).tolist()
    for arc, (tail, head) in enumerate(zip(tails, graph.heads.tolist(), strict=True)):
        weight, passed = int(graph.weights[arc]), 0.0
        begin = min(label.get(arc, np.inf) for label in labels) - weight
        for band, limit in enumerate(limits):
            whole = 1.0 if weight == 0 else min((limit - begin) / weight, 1.0)
            share = whole if begin <= limit else 0.0
            if share > passed and tail != head:
                part = (1 - share, 1 - passed) if reverse else (passed, share)
                found.append((band, tail, head, *part))
            passed = max(share, passed)
    return sorted(found)


@pytest.mark.parametrize("ranks", [1, 3])
def test_isochrones_of_a_solver(ranks: int) -> None:
    rows = rows_of(TURNS)

    def work(channel: Any) -> Any:
        supply = supply_of(GRAPH, channel, turns=rows)
        with Solver(supply, channel, Options(device="cpu", turns=rows)) as solver:
            return solver.isochrone([7], [12])

    found = on_ranks(ranks, work)[0]
    assert found.counts == [int((ROWS[7] <= 12).sum())]
    assert found.graph.vertex_count == 50
    once = groute_py.isochrone(GRAPH, [7], [12], turns=rows, device="cpu")
    assert once is not None
    np.testing.assert_array_equal(
        once.pieces(once.reaches[0]).ends, found.pieces(found.reaches[0]).ends
    )


def test_isochrones_of_negative_costs() -> None:
    with pytest.raises(InputError, match="a turn of graph has a cost below 0"):
        groute_py.isochrone(WAY_BACK, [0], [5], turns=[(0, 1, 2, -1)], device="cpu")


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
        found = groute_py.sssp(graph, source, turns=rows, reverse=reverse, device=device)
        assert found is not None
        wanted = distances_by_arc(graph, turns, source, reverse=reverse)
        np.testing.assert_array_equal(found.distances, wanted)
        for vertex in range(0, graph.vertex_count, 3):
            if path := found.path_to(vertex):
                assert least_cost(graph, turns, path) == wanted[vertex]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_on_ranks(device: str, ranks: int, reverse: bool) -> None:
    rows = rows_of(TURNS)

    def work(channel: Any) -> Result | None:
        options = Options(device=device, reverse=reverse, turns=rows)
        supply = supply_of(GRAPH, channel, reverse=reverse, turns=rows)
        with Solver(supply, channel, options) as solver:
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
    some = groute_py.sssp(GRAPH, sources=[4, 9], predecessors=False, **how)
    assert rows is not None
    assert matrix is not None
    assert isinstance(some, groute_py.SourceRows)
    np.testing.assert_array_equal(rows.distances, wanted[[3, 17, 3]])
    np.testing.assert_array_equal(matrix.distances, wanted[[3, 9]][:, [40, 3, 9, 0]])
    assert (matrix.sources.tolist(), matrix.targets.tolist()) == ([3, 9], [40, 3, 9, 0])
    np.testing.assert_array_equal(some.distances, wanted[[4, 9]])
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
            found = solver.nearest([30, 3, 9], k=2, to_facility=to_facility)
            check_k_nearest(GRAPH, TURNS, [3, 9, 30], found, k=2)


def check_nearest(found: Any, *, to_facility: bool) -> None:
    rows = (ROWS.T if to_facility else ROWS)[[3, 9, 30]]
    np.testing.assert_array_equal(found.distances, rows.min(axis=0))
    owners = np.array([3, 9, 30])[rows.argmin(axis=0)]
    np.testing.assert_array_equal(found.facilities[found.reached], owners[found.reached])
    tails = np.repeat(np.arange(50), np.diff(GRAPH.offsets)).tolist()
    arcs = set(zip(tails, GRAPH.heads.tolist(), strict=True))
    for vertex in np.flatnonzero(found.reached).tolist():
        beside = int(found.next[vertex])
        assert (beside < 0) == (vertex == found.facilities[vertex])
        assert beside < 0 or ((vertex, beside) if to_facility else (beside, vertex)) in arcs


@pytest.mark.parametrize("to_facility", [False, True])
def test_nearest(device: str, to_facility: bool) -> None:
    how: Any = {"turns": rows_of(TURNS), "to_facility": to_facility, "device": device}
    check_nearest(groute_py.nearest(GRAPH, [30, 3, 9], **how), to_facility=to_facility)


def check_k_nearest(graph: Graph, turns: Turns, every: list[int], found: Any, *, k: int) -> None:
    """Facilities by all distances from each; next vertices by the last arcs of shortest walks."""
    back, listed = found.to_facility, by_arc(graph, turns)
    rows = np.array([distances_by_arc(graph, listed, each, reverse=back) for each in every])
    nothing = np.inf if rows.dtype.kind == "f" else groute_py.UNREACHED
    order = np.argsort(rows, axis=0, kind="stable")[:k].T
    wanted = np.take_along_axis(rows.T, order, axis=1)
    np.testing.assert_array_equal(found.distances[:, : order.shape[1]], wanted)
    owners = np.where(wanted == nothing, -1, np.array(every)[order])
    np.testing.assert_array_equal(found.facilities[:, : order.shape[1]], owners)
    assert not found.reached[:, order.shape[1] :].any()
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)).tolist()
    arcs = list(zip(tails, graph.heads.tolist(), strict=True))
    labels = {each: labels_of_arcs(graph, listed, each, reverse=back) for each in every}
    for (vertex, rank), owner in np.ndenumerate(found.facilities):
        if owner in (-1, vertex):
            assert found.next[vertex, rank] == -1
            continue
        beside = found.next[vertex, rank]
        last = (vertex, beside) if back else (beside, vertex)
        lengths = [length for arc, length in labels[owner].items() if arcs[arc] == last]
        assert min(lengths) == found.distances[vertex, rank]


@settings(max_examples=20)
@given(graph=graphs(greatest=3), to_facility=st.booleans(), k=st.integers(2, 4), data=st.data())
def test_k_nearest(
    device: str, graph: Graph, to_facility: bool, k: int, data: st.DataObject
) -> None:
    """Small weights: many ties, and turns that change which facility is nearer."""
    vertices = st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=6)
    facilities, turns = data.draw(vertices), some_turns(graph, seed=k)
    found = groute_py.nearest(
        graph, facilities, k=k, to_facility=to_facility, turns=rows_of(turns), device=device
    )
    check_k_nearest(graph, turns, sorted(set(facilities)), found, k=k)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_k_nearest_on_ranks(device: str, ranks: int) -> None:
    turns = rows_of(TURNS)

    def work(channel: Any) -> NearestFacilities | None:
        options, how = Options(device=device), {"k": 3, "to_facility": ranks % 2 == 0}
        towns = expanded(GRAPH, turns), np.array([41, 7, 33, 2])
        return solve_nearest(channel, lambda: towns, options, **how)

    first, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    check_k_nearest(GRAPH, TURNS, [2, 7, 33, 41], first, k=3)


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


WAY_BACK = graph_of(3, [(0, 1, 4), (1, 0, 4), (1, 2, 2), (2, 1, 2)])


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


def test_arrays_and_parquet(tmp_path: Path) -> None:
    wanted = groute_py.sssp(WAY_BACK, 0, turns=[(0, 1, 2, 5), (2, 1, 0, None)], device="cpu")
    array = np.array([[0, 1, 2, 5], [2, 1, 0, np.inf]])
    found = groute_py.sssp(WAY_BACK, 0, turns=array, device="cpu")
    assert wanted is not None
    assert found is not None
    assert wanted.distances.tolist() == found.distances.tolist() == [0, 4, 11]
    arrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"tail": [0, 2], "via": [1, 1], "head": [2, 0], "cost": [5, None]}
    pq.write_table(arrow.table(columns), tmp_path / "turns.parquet")
    again = groute_py.sssp(WAY_BACK, 0, turns=tmp_path / "turns.parquet", device="cpu")
    assert again is not None
    assert again.distances.tolist() == [0, 4, 11]


def test_where_vertices_lie() -> None:
    places = np.array([[7.0, 0], [0, 7], [1, 1], [2, 2]])
    crossing = graph_of(4, [(0, 1, 5), (1, 2, 1), (1, 3, 1)]).changed(coordinates=places)
    result = groute_py.sssp(crossing, 0, turns=[(0, 1, 2, 9)], device="cpu")
    assert result is not None
    assert np.array_equal(result.coordinates, places)


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
