"""What a `Solver` answers beside one source, against the functions of the same names."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRuns
from threading import Event
from typing import Any

import numpy as np
import pytest
from support.graphs import random_graph
from support.keeping import row_by_row
from support.local_ranks import on_ranks
from support.opening import solver_on

import groute_py
from groute_py import Graph, InputError, RunError, TimeLimitError, centrality

GRAPH = random_graph(60, 240, seed=4, greatest=9)
ROAD = groute_py.generate("road:12x12")
MEASURES = centrality.__all__[2:]


def values_of(result: Any) -> Any:
    return result.values.tolist() if hasattr(result, "values") else result


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("how", [{}, {"reverse": True}, {"hops": True}], ids=str)
def test_centralities(measure: str, how: dict[str, Any]) -> None:
    options = {"weighted": False} if how == {"hops": True} else how
    with groute_py.open(GRAPH, device="cpu", **how) as solver:
        if how == {"reverse": True} and "betweenness" in measure:
            with pytest.raises(InputError, match="open without reverse"):
                getattr(solver, measure)()
            return
        try:
            wanted = getattr(centrality, measure)(GRAPH, device="cpu", **options)
        except InputError as error:
            with pytest.raises(InputError, match=str(error)[:20]):
                getattr(solver, measure)()
            return
        assert values_of(getattr(solver, measure)()) == values_of(wanted)
        some = getattr(centrality, measure)(GRAPH, sources=[5, 9], device="cpu", **options)
        assert values_of(getattr(solver, measure)([5, 9])) == values_of(some)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_on_ranks(ranks: int) -> None:
    def work(channel: Any) -> Any:
        with solver_on(channel, ROAD, device="cpu") as solver:
            result = [solver.bfs(3), solver.harmonic([1, 2]), solver.diameter()]
            with solver.with_weights(2 * ROAD.weights) as heavier, heavier.reversed() as turned:
                result += [heavier.sssp(3), turned.sssp(3)]
            with pytest.raises(InputError, match="no source reaches every vertex"):
                solver.radius()  # which rank 0 alone finds out
            return result

    first, *others = on_ranks(ranks, work)
    assert others == [[None] * 5] * (ranks - 1)
    arcs, harmonic, diameter, heavier, turned = first
    expected = groute_py.bfs(ROAD, 3, device="cpu")
    np.testing.assert_array_equal(arcs.distances, expected.distances)
    wanted = centrality.harmonic(ROAD, sources=[1, 2], device="cpu")
    assert wanted is not None
    assert harmonic.values.tolist() == wanted.values.tolist()
    assert diameter == centrality.diameter(ROAD, device="cpu")
    weighed = ROAD.with_weights(2 * ROAD.weights)
    groute_py.verify(weighed, heavier)
    groute_py.verify(weighed, turned)
    assert turned.reverse


def test_bfs_beside_sssp() -> None:
    with groute_py.open(GRAPH, device="cpu", reverse=True) as solver:
        result, lengths = solver.bfs(7, targets=[2]), solver.sssp(7)
        groute_py.verify(GRAPH, lengths)
        assert result is not None
        assert result.reverse
        assert result.distances[2] == groute_py.bfs(GRAPH, 7, reverse=True).distances[2]
    with pytest.raises(RunError, match="closed"):
        solver.bfs(7)
    with groute_py.open(GRAPH, device="cpu", cutoff=3) as solver:
        for method in (lambda: solver.bfs(0), solver.closeness):
            with pytest.raises(InputError, match="cutoff: not for "):
                method()


def test_other_weights_and_the_other_direction() -> None:
    """Arcs keep the order that was given, however often they are turned round."""
    weights = np.arange(GRAPH.arc_count) % 7 + 1
    weighed = GRAPH.with_weights(weights)
    with (
        groute_py.open(GRAPH, device="cpu") as solver,
        solver.reversed() as turned,
        turned.reversed() as back,
        turned.with_weights(weights) as other,
        back.with_weights(weights) as third,
    ):
        groute_py.verify(GRAPH, turned.sssp(5))
        groute_py.verify(weighed, other.sssp(5))
        groute_py.verify(weighed, third.sssp(5))
        assert other.sssp(5).reverse
        assert not third.sssp(5).reverse
        with pytest.raises(InputError):
            solver.with_weights(weights[1:])
        groute_py.verify(GRAPH, solver.sssp(5))
    with groute_py.open(GRAPH, device="cpu", reverse=True) as solver, solver.reversed() as back:
        groute_py.verify(GRAPH, back.sssp(5))
        with back.reversed() as again:
            assert again.sssp(5).reverse
            groute_py.verify(GRAPH, again.sssp(5))
        for one in (solver, back):
            with pytest.raises(InputError, match="open without reverse"):
                one.with_weights(weights)


def test_prepared_graphs_stay_prepared() -> None:
    town = groute_py.prepare(ROAD, device="cpu")
    with (
        groute_py.open(town, device="cpu") as solver,
        solver.with_weights(ROAD.weights + 1) as other,
    ):
        result = other.sssp(3)
    assert result is not None
    assert result.statistics["algorithm"] == "contraction"
    groute_py.verify(ROAD.with_weights(ROAD.weights + 1), result)


def test_threads_share_it() -> None:
    with groute_py.open(ROAD, device="cpu") as solver, ThreadPoolExecutor(4) as pool:
        ways: list[Any] = [
            lambda: solver.sssp(5).distances.tolist(),
            lambda: solver.bfs(5).distances.tolist(),
            lambda: solver.matrix([5, 6], [7]).distances.tolist(),
            lambda: solver.route([(5, 9), (9, 5)]).distances.tolist(),
            lambda: solver.nearest([3, 9]).facilities.tolist(),
            lambda: solver.closeness([5, 6]).values.tolist(),
        ]
        alone = [way() for way in ways]
        together = [pool.submit(way) for _ in range(4) for way in ways]
        assert [one.result(60) for one in together] == alone * 4


def test_closing_waits_for_a_solve_of_another_thread() -> None:
    solver = groute_py.open(ROAD, device="cpu")
    begun, ends = Event(), Event()

    def solve() -> Any:
        with solver._opened.alone():
            with pytest.raises(RunError, match="a handler of a signal"):
                solver.close()
            begun.set()
            assert ends.wait(60)
            return solver._opened.source_solver.sssp(5)

    with ThreadPoolExecutor(2) as pool:
        solving = pool.submit(solve)
        assert begun.wait(60)
        closing = pool.submit(solver.close)
        with pytest.raises(StillRuns):
            closing.result(0.1)
        ends.set()
        closing.result(60)
        groute_py.verify(ROAD, solving.result(60))
    with pytest.raises(RunError, match="closed"):
        solver.sssp(5)


def test_a_closed_solver_holds_nothing_but_the_graph() -> None:
    solver = groute_py.open(ROAD, device="cpu")
    result = solver.sssp(5)
    solver.route([(5, 9)])
    opened: Any = solver._opened
    router = opened.memo("route", None)
    held = [weakref.ref(opened.source_solver.device.parts.buffers), weakref.ref(router)]
    del router
    solver.close()
    gc.collect()
    assert [one() for one in held] == [None, None]
    groute_py.verify(ROAD, result)
    assert solver.facts.vertex_count == 144


def test_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends a job between two blocks; one that is complete is no more late."""
    row_by_row(monkeypatch)
    with groute_py.open(ROAD, device="cpu", time_limit_s=1e-9) as solver:
        for method in (solver.closeness, solver.diameter, solver.betweenness):
            with pytest.raises(TimeLimitError, match="of 144 sources were done; give more time"):
                method()
        for method in (solver.closeness, solver.betweenness):
            assert method([5]) is not None


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_time_limit_of_one_rank(ranks: int) -> None:
    """It ends the jobs of all, also those that rank 0 sums up."""

    def work(channel: Any) -> None:
        limit = 1e-9 if channel.rank == 1 else None
        with solver_on(channel, ROAD, device="cpu", time_limit_s=limit) as solver:
            for method in (solver.diameter, solver.radius):
                with pytest.raises(TimeLimitError, match="of 144 sources were done"):
                    method()

    on_ranks(ranks, work)


def test_graphs_that_are_no_more() -> None:
    """The weights of a solver do not change those of the graph that it was opened with."""
    graph = Graph.from_arrays([0, 1, 2], [1, 0], [4, 4])
    with groute_py.open(graph, device="cpu") as solver, solver.with_weights([1, 2]) as other:
        assert (solver.sssp(0).distances[1], other.sssp(0).distances[1]) == (4, 1)


def test_a_closed_solver_drops_its_graph(device: str) -> None:
    """So that the next one finds room, also while somebody still holds this one."""
    with groute_py.open(ROAD, device=device) as solver:
        assert solver.sssp(7) is not None
    with pytest.raises(AssertionError):
        _ = solver._opened.source_solver.device.parts  # type: ignore[attr-defined]
    with pytest.raises(RunError, match="is closed"):
        solver.sssp(7)


def test_an_error_of_the_caller_closes_it_too(device: str) -> None:
    with pytest.raises(ZeroDivisionError), groute_py.open(ROAD, device=device) as solver:
        raise ZeroDivisionError
    with pytest.raises(RunError, match="is closed"):
        solver.sssp(7)
