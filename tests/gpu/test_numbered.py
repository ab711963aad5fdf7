"""Linked ranks number vertices by degree before arcs are redistributed: when, and when not.

That arcs lie right by such numbers is seen in test_redistribution.py.
"""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from support import as_large
from support.local_ranks import on_ranks
from support.skips import needs_linked_gpus
from support.solving import checked

from groute_py import Result, generate
from groute_py.comm import team
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.source.whole import GraphSupply

pytestmark = needs_linked_gpus


@pytest.mark.parametrize("full", [[0], [2], [0, 1, 2]])
def test_without_room_for_numbers_all_keep_theirs(
    full: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from groute_py.device.cuda.graph.csr import DeviceGraph

    as_large.pull_deferred_arcs(monkeypatch.setattr)
    spare = DeviceGraph.spare

    def tried(self: DeviceGraph) -> int:
        redistributed = "leads" in self.arrays
        return 0 if self.gpu.id in full and not redistributed else spare(self)

    monkeypatch.setattr(DeviceGraph, "spare", tried)
    graph = generate("rmat:8,12")

    def work(channel: Any) -> tuple[Result | None, bool]:
        whole = GraphSupply(graph if channel.rank == 0 else None)
        with SourceSolver(
            whole, channel, Options(device="cuda", order="none", mode="fused")
        ) as solver:
            device: Any = solver._graph.device
            assert device.parts.graph.has_in_edges
            return solver.sssp(3), device.parts.order is None

    results, without = zip(*on_ranks(3, work), strict=True)
    assert all(without)
    checked(graph, 3, results[0])


def test_numbers_are_there_before_peers_read_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU they are made while the host goes on: here not before it waits for its stream."""
    from cupy.cuda import Stream  # which is emulated

    from groute_py.device.cuda.graph import degree_order

    as_large.pull_deferred_arcs(monkeypatch.setattr)
    number, due, synchronize = degree_order._number, threading.local(), Stream.synchronize
    late = list[int]()

    def number_later(share: Any, numbers: Any, order: Any) -> None:
        numbers.fill(0)
        due.work = lambda: number(share, numbers, order)

    def catch_up(stream: Any) -> None:
        synchronize(stream)
        if work := vars(due).pop("work", None):
            work()
            late.append(1)

    monkeypatch.setattr(degree_order, "_number", number_later)
    monkeypatch.setattr(Stream, "synchronize", catch_up)
    graph = generate("rmat:8,12")

    def work(channel: Any) -> Result | None:
        whole = GraphSupply(graph if channel.rank == 0 else None)
        with SourceSolver(
            whole, channel, Options(device="cuda", order="none", mode="fused")
        ) as solver:
            return solver.sssp(3)

    checked(graph, 3, on_ranks(3, work)[0])
    assert len(late) == 3


def test_teams_of_several_hosts_number_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    as_large.pull_deferred_arcs(monkeypatch.setattr)
    monkeypatch.setattr(team, "settings", lambda: SimpleNamespace(hosts=2))

    def work(channel: Any) -> tuple[str, bool]:
        whole = GraphSupply(generate("rmat:6") if channel.rank == 0 else None)
        with SourceSolver(whole, channel, Options(device="cuda", order="none")) as solver:
            device: Any = solver._graph.device
            return solver._graph.mode.name, device.parts.order is None

    assert on_ranks(4, work) == [("hierarchical", True)] * 4
