"""Jobs whose answer does not fit in the host's memory are refused before any work."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from support.graphs import random_graph
from support.local_ranks import on_ranks
from support.solving import source_solver

import groute_py
from groute_py import InputError, RunError
from groute_py.comm.base import Channel
from groute_py.engine.tree_solve import TreeSolver
from groute_py.graph.facts import facts_of
from groute_py.partition.order import Order
from groute_py.system import memory_limits


@pytest.mark.parametrize(
    ("job", "arguments", "options", "says"),
    [
        ("nearest", ([1],), {}, "facilities of 30 vertices, and a copy of the arcs, take 1,920"),
        ("nearest", ([1],), {"k": 2}, "2 facilities of each of 30 vertices take 2,700 bytes"),
        ("isochrone", ([1, 2], 9), {}, "distances of 30 vertices, and a copy of .* take 1,200"),
        ("isochrone", ([1, 2], 9), {"each": True}, "the distances of 30 vertices take 240 bytes"),
        ("route", ([(1, 2)],), {}, "searches, 1 at once, take 1,440 bytes"),
        ("route", ([(1, 2), (1, 3)],), {}, "searches, 1 at once, take 750 bytes"),
    ],
)
def test_it_is_refused(
    job: str,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, solve = random_graph(30, 90, seed=1, greatest=9), getattr(groute_py, job)
    solve(graph, *arguments, **options, device="cpu")
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 100)
    with pytest.raises(InputError, match=f"{says}.* and 100 bytes of memory are free; "):
        solve(graph, *arguments, **options, device="cpu")


@pytest.mark.parametrize("tree", [False, True])
def test_an_answer_that_rank_0_cannot_collect(tree: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """All ranks raise the error, and none waits for another; later the answer fits."""
    graph = random_graph(30, 90, seed=1, greatest=9)
    wanted = groute_py.sssp(graph, 3, device="cpu")
    together = threading.Barrier(3)

    def work(channel: Channel) -> tuple[str, Any]:
        solver = source_solver(channel, graph, device="cpu", predecessors=tree)
        together.wait(60)
        if channel.rank == 0:
            monkeypatch.setattr(memory_limits, "LITTLE", 0)
            monkeypatch.setattr(memory_limits, "available_bytes", lambda: 100)
        together.wait(60)
        with pytest.raises(InputError) as caught:
            solver.sssp(3)
        together.wait(60)
        if channel.rank == 0:
            monkeypatch.undo()
        together.wait(60)
        return str(caught.value), solver.sssp(3)

    (first, result), *others = on_ranks(3, work)
    assert {said for said, _ in others} == {first}
    assert first == (
        f"to collect the answer of {graph.name} on rank 0 would take {720 if tree else 360} bytes "
        "of memory, more than the 100 that are available"
    )
    np.testing.assert_array_equal(result.distances, wanted.distances)


def test_arcs_that_rank_0_cannot_collect(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(30, 90, seed=1, greatest=9)
    facts = facts_of(graph)
    monkeypatch.setattr(memory_limits, "LITTLE", 0)
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 100)

    def work(channel: Channel) -> str:
        with pytest.raises(RunError, match="rank 0 needs room for all of it") as caught:
            TreeSolver(channel, None, Order("none"), None, facts)  # type: ignore[arg-type]
        return str(caught.value)

    (said,) = set(on_ranks(3, work))
    assert "more than the 100 that are available" in said
