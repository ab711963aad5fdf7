"""Nearest facilities by one sweep over a hierarchy: answers, ties, zeros, directions, fallbacks."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of, random_graph
from support.reference import check_nearest, turned_round
from support.skips import needs_gpu

import groute_py
from groute_py import Graph, InputError, PreparedGraph, TimeLimitError, generate, nearest
from groute_py.graph.symmetrize import mirrored
from groute_py.jobs.facilities import DeviceNearest

pytestmark = needs_gpu

FACILITIES = [7, 3, 20, 20, 0, 31]
"""In no order, one twice."""


def prepared(graph: Graph, core: int = 4, kind: Any = np.int32) -> PreparedGraph:
    from groute_py.device.cpu.contraction import contract

    arcs = graph.offsets, graph.heads, graph.weights
    return PreparedGraph(graph, contract(*arcs, np.dtype(kind), core=core))


@pytest.fixture(autouse=True)
def solves(monkeypatch: pytest.MonkeyPatch) -> list[Graph]:
    """The graphs that were solved from a root, as those are that are not swept."""
    import groute_py.jobs.nearest as job

    result: list[Graph] = []
    rooted = job.rooted

    def noted(graph: Graph, heads: Any) -> Graph:
        result.append(graph)
        return rooted(graph, heads)

    monkeypatch.setattr(job, "rooted", noted)
    return result


def grid(side: int, weight: int) -> Graph:
    """Arcs of one weight both ways between neighbours."""
    arcs = [(v, v + 1, weight) for v in range(side * side) if (v + 1) % side]
    arcs += [(v, v + side, weight) for v in range(side * (side - 1))]
    return mirrored(graph_of(side * side, arcs))


def zeros_between(parts: int) -> Graph:
    """Directed cycles of four arcs that weigh 0, and arcs of 1 from each to the next two."""
    arcs = [(4 * p + k, 4 * p + (k + 1) % 4, 0) for p in range(parts) for k in range(4)]
    steps = [(p, p + s) for p in range(parts) for s in (1, 2) if p + s < parts]
    arcs += [(4 * p + s % 4, 4 * q + p % 4, 1) for s, (p, q) in enumerate(steps)]
    return graph_of(4 * parts, arcs)


GRAPHS = {
    "road": lambda: generate("road:8x8"),
    "ties": lambda: grid(7, 5),
    "nothing but zeros": lambda: grid(6, 0),
    "zero cycles": lambda: zeros_between(10),
    "one way": lambda: random_graph(60, 130, 3, 9),
    "few weights": lambda: random_graph(60, 140, 4, 1),
    "parallel arcs and loops": lambda: mirrored(random_graph(35, 60, 5, 3)),
    "unreachable parts": lambda: random_graph(80, 50, 6, 4),
}


@pytest.mark.parametrize("core", [1, 12, 1000])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_same_as_one_by_one(name: str, core: int, solves: list[Graph]) -> None:
    """In both directions, by calls on one open solver, which is of one direction itself."""
    graph = GRAPHS[name]()
    town = prepared(graph, core)
    with groute_py.open(town, device="cuda", reverse=core == 12) as solver:
        for to_facility in (False, True, False):
            result = solver.nearest(FACILITIES, to_facility=to_facility)
            check_nearest(graph, FACILITIES, result, to_facility=to_facility)
            few = solver.nearest([5], to_facility=to_facility)
            check_nearest(graph, [5], few, to_facility=to_facility)
    assert not solves


@pytest.mark.parametrize("to_facility", [False, True])
@pytest.mark.parametrize("name", ["ties", "zero cycles", "few weights"])
def test_the_function(name: str, to_facility: bool, solves: list[Graph]) -> None:
    """Without a solver; all vertices are facilities, and some are nearest to another."""
    graph = GRAPHS[name]()
    every = np.arange(graph.vertex_count)[::-1]
    result = nearest(prepared(graph), every, to_facility=to_facility, device="cuda")
    check_nearest(graph, every.tolist(), result, to_facility=to_facility)
    assert not solves
    assert result is not None
    assert result.statistics["algorithm"] == "contraction"
    assert result.facilities.dtype == result.distances.dtype == result.next.dtype == np.int64


def test_other_solvers_of_the_graph(solves: list[Graph]) -> None:
    graph = GRAPHS["one way"]()
    with (
        groute_py.open(prepared(graph), device="cuda") as solver,
        solver.reversed() as turned,
        groute_py.open(prepared(graph), device="cuda", algorithm="delta-stepping") as near_far,
    ):
        for one in (solver, turned, near_far):
            for to_facility in (False, True):
                answer = one.nearest(FACILITIES, to_facility=to_facility)
                check_nearest(graph, FACILITIES, answer, to_facility=to_facility)
        result = solver.sssp(3)
    assert result is not None
    groute_py.verify(graph, result)
    assert not solves


@pytest.mark.parametrize("facilities", [[0], [0, 0]])
def test_one_vertex(facilities: Sequence[int]) -> None:
    graph = graph_of(1, [(0, 0, 3)])
    check_nearest(
        graph, [0], nearest(prepared(graph), facilities, device="cuda"), to_facility=False
    )


def test_ids_decide_ties(solves: list[Graph]) -> None:
    """Vertex 0 has the last id, and vertex 2 is as far from it as from vertex 1."""
    graph = graph_of(3, [(0, 2, 4), (1, 2, 4)]).changed(ids=np.array(["zoo", "pub", "inn"]))
    result = nearest(prepared(graph), ["zoo", "pub"], device="cuda")
    assert result is not None
    assert result.facilities.tolist() == [0, 1, 1]
    assert not solves


@pytest.mark.parametrize("last", [2, 3])
def test_sums_up_to_32_bits_and_beyond(last: int, solves: list[Graph]) -> None:
    """A distance of 2^31 − 2 is the greatest; the next number stands for none."""
    far = 2**31 - 6
    graph = graph_of(4, [(0, 1, far), (1, 2, 2), (2, 3, last)])
    town = prepared(graph, 2, np.int32 if last == 2 else np.int64)
    result = nearest(town, [0], device="cuda")
    check_nearest(graph, [0], result, to_facility=False)
    assert bool(solves) == (last == 3)


def test_a_sum_that_only_a_sweep_makes(solves: list[Graph]) -> None:
    """Both ends leave before the middle, without a shortcut between them."""
    graph = graph_of(5, [(1, 0, 2**31 - 9), (0, 2, 8), (0, 3, 1), (0, 4, 1)])
    result = nearest(prepared(graph, 1, np.int32), [1], device="cuda")
    check_nearest(graph, [1], result, to_facility=False)
    assert solves


def test_after_a_solve_in_wider_distances(solves: list[Graph]) -> None:
    """One that makes the solver load the graph in 64 bits; the sweep keeps its arrays."""
    far = 2**29
    graph = prepared(graph_of(5, [(v, v + 1, far) for v in range(4)]), 1)
    with groute_py.open(graph, device="cuda") as solver:
        first = solver.nearest([3])
        assert first is not None
        assert first.distances.tolist()[3:] == [0, far]
        result = solver.sssp(0)
        assert result is not None
        assert result.distances[4] == 4 * far
        answer = solver.nearest([1], to_facility=True)
        assert answer is not None
        assert (answer.distances[0], answer.next[0]) == (far, 1)
        assert answer.facilities.tolist() == [1, 1, -1, -1, -1]
    assert not solves


def test_a_closed_solver_keeps_no_sweep() -> None:
    with groute_py.open(prepared(GRAPHS["one way"]()), device="cuda") as solver:
        solver.nearest(FACILITIES)
        opened: Any = solver._opened
        sweep, device = weakref.ref(opened.memo("nearest", None)), opened.source_solver.device
        assert device.is_loaded
    gc.collect()
    assert sweep() is None
    assert not device.is_loaded


def test_weights_that_take_64_bits(solves: list[Graph]) -> None:
    """Only of a loop, which the hierarchy does not have."""
    graph = graph_of(3, [(0, 1, 4), (1, 1, 2**40), (1, 2, 1)], "int64")
    result = nearest(prepared(graph), [0], device="cuda")
    check_nearest(graph, [0], result, to_facility=False)
    assert solves


def test_long_paths_of_zeros(monkeypatch: pytest.MonkeyPatch, solves: list[Graph]) -> None:
    """After so many passes the root's solve answers."""
    from groute_py.device.cuda.hierarchy import nearest as sweeps

    graph = graph_of(300, [(v, v + 1, 0) for v in range(299)][::-1])
    check_nearest(graph, [0], nearest(prepared(graph), [0], device="cuda"), to_facility=False)
    solves.clear()
    monkeypatch.setattr(sweeps, "MOST_PASSES", 0)
    check_nearest(graph, [0], nearest(prepared(graph), [0], device="cuda"), to_facility=False)
    assert solves


def test_what_is_not_swept(solves: list[Graph]) -> None:
    graph = GRAPHS["one way"]()
    result = nearest(prepared(graph), FACILITIES, cutoff=4, device="cuda")
    assert result is not None
    assert result.distances[result.reached].max() <= 4
    check_nearest(graph, FACILITIES, nearest(graph, FACILITIES, device="cuda"), to_facility=False)
    assert len(solves) == 2


@pytest.mark.parametrize("name", ["one way", "road"])
def test_answers_stay_on_the_gpu(name: str) -> None:
    cupy = pytest.importorskip("cupy")
    graph = GRAPHS[name]()
    corners = np.stack([np.arange(graph.vertex_count), np.zeros(graph.vertex_count)], axis=1)
    home = {"x": [3], "y": [0], "name": ["home"]}
    points = groute_py.Points(home, corners, planar=True, connected=False)
    for town in (prepared(graph), graph):
        with groute_py.open(town, device="cuda", download=False) as solver:
            result = solver.nearest(FACILITIES, to_facility=True)
            several = solver.nearest(FACILITIES, k=2)
            named = solver.nearest(points)
        assert isinstance(named, DeviceNearest)
        assert named.part(slice(3, 4))["facility_name"].shown == ["home"]
        assert isinstance(result, DeviceNearest)
        arrays = result.facilities_device, result.distances_device, result.next_device
        assert all(isinstance(array, cupy.ndarray) for array in arrays)
        assert all(array.dtype == np.int64 for array in arrays)
        assert result.distances_device.tolist() == result.distances.tolist()
        check_nearest(graph, FACILITIES, result, to_facility=True)
        assert several is not None
        assert several.facilities.shape == (graph.vertex_count, 2)


def test_a_changed_answer_stays_too() -> None:
    """Of the graph's own solve and of one from the facilities."""
    cupy = pytest.importorskip("cupy")
    graph = GRAPHS["one way"]()
    answer = nearest(prepared(graph), FACILITIES, download=False, device="cuda")
    result = groute_py.sssp(graph, 3, download=False, device="cuda")
    assert answer is not None
    assert result is not None
    for one in (answer, result):
        changed = replace(one, attribution="somebody")
        assert changed.attribution == "somebody"
        assert isinstance(changed.distances_device, cupy.ndarray)
        assert changed.distances_device.tolist() == one.distances_device.tolist()
        assert changed.distances.tolist() == one.distances.tolist()
    assert replace(answer, to_facility=True).next_device.tolist() == answer.next.tolist()
    assert replace(result, source=3).predecessors_device.tolist() == result.predecessors.tolist()


@pytest.mark.parametrize("error", [MemoryError, "CUDARuntimeError"])
def test_no_room_for_an_answer_that_is_to_stay(error: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from cupy.cuda import runtime

    from groute_py.device.cuda.runtime import transfer

    def full(*_: object) -> None:
        raise error("full") if error is MemoryError else runtime.CUDARuntimeError(2)

    monkeypatch.setattr(transfer, "to_device", full)
    with pytest.raises(InputError, match=r"of 60 vertices does not fit .* leave out download=Fal"):
        nearest(GRAPHS["one way"](), FACILITIES, download=False, device="cuda")


def test_what_cannot_stay() -> None:
    town = prepared(GRAPHS["road"]())
    with pytest.raises(InputError, match="with k = 1 only"):
        nearest(town, FACILITIES, k=2, download=False, device="cuda")
    with pytest.raises(InputError, match="only where one rank solves, on a GPU"):
        nearest(town, FACILITIES, download=False, device="cpu")


def test_a_wrong_facility_and_a_time_limit(solves: list[Graph]) -> None:
    town = prepared(GRAPHS["road"]())
    with pytest.raises(InputError, match="64"):
        nearest(town, [3, 64], device="cuda")
    with pytest.raises(TimeLimitError):
        nearest(town, [3], device="cuda", time_limit_s=1e-6)
    assert not solves


def test_the_incoming_arcs_of_a_directed_graph() -> None:
    """The next vertices of both directions are those of the graph turned round."""
    graph = GRAPHS["one way"]()
    there = nearest(prepared(graph), FACILITIES, to_facility=True, device="cuda")
    back = nearest(prepared(turned_round(graph)), FACILITIES, device="cuda")
    assert there is not None
    assert back is not None
    np.testing.assert_array_equal(there.facilities, back.facilities)
    np.testing.assert_array_equal(there.distances, back.distances)
