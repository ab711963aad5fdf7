"""Several hosts, each with ranks that exchange inside kernels: with devices that pretend to."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from itertools import count
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.graphs import graphs, random_graph, scipy_distances
from support.local_ranks import LocalChannel, on_ranks
from support.solving import source_solver

from groute_py import Graph, RunError, SetupError, TimeLimitError, generate, verify
from groute_py.comm import team as teams
from groute_py.comm.team import Team, team_of
from groute_py.device.base import Buckets, Linked, Terms
from groute_py.device.cpu.device import CpuDevice
from groute_py.engine import loading
from groute_py.partition.share import Share

CASES = [(2, 1), (3, 1), (2, 2), (3, 2), (4, 2), (4, 3)]
"""Ranks, and on how many hosts."""


class Floor:
    """What the kernels of a team see of each other."""

    def __init__(self, size: int) -> None:
        self.meeting = threading.Barrier(size)
        self.inboxes: list[SimpleQueue[Any]] = [SimpleQueue() for _ in range(size)]
        self.floors = [0.0] * size
        self.stop = False
        self.stops = [False] * size
        self.overflows = [False] * size


class Kernel(CpuDevice):
    """A core that runs as a GPU's kernel does: by itself, with its team, until all are quiet."""

    name = "cuda"
    floor = 0.0
    all_quiet = False
    runs = 0
    woken = False  # before the first run
    endless = False
    _team: Team | None = None

    def __init__(self) -> None:
        super().__init__()
        self.warmed_up: list[str] = []
        self.modes: list[str] = []

    def warm_up(self, terms: Terms) -> None:
        super().warm_up(terms)
        if not self.warmed_up or len(self.warmed_up) == len(self.modes):  # rank 0 does so twice
            self.warmed_up.append(terms.mode)

    def load(self, share: Share, terms: Terms) -> None:
        super().load(share, terms)
        self.modes.append(terms.mode)

    def why_not_linked(self, team: Team) -> str | None:
        return None

    def link(self, team: Team) -> Linked | str:
        self._team = team
        self._floor = team.channel.gather(Floor(team.channel.size))[0]
        self._leaving: list[Any] = []
        return self

    @property
    def arcs(self) -> int:
        return len(self.parts.buffers.share.heads)

    @property
    def overflowed(self) -> bool:
        return any(self._floor.overflows)

    def count(self) -> None:
        """As it goes along."""

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        """Without records: what comes from others says no tails."""
        super().start(source, buckets, cutoff, record=False)

    def wake(self) -> None:
        self.woken = self.runs == 0

    def prepare(self, lead: float, bound: float) -> None:
        assert lead >= 0
        self._bound = bound
        self._floor.stop = False

    def launch(self) -> None:
        self.runs += 1
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def finished(self) -> bool:
        self._thread.join(timeout=1e-3)
        return not self._thread.is_alive()

    def stop(self) -> None:
        self._floor.stop = True

    def outgoing(self) -> list[tuple[int, Any]]:
        if self._team is None:
            return super().outgoing()
        leaving, self._leaving = self._leaving, []
        return leaving

    def _run(self) -> None:
        assert self._team is not None
        floor, me, first = self._floor, self._team.channel.rank, self._team.first
        while True:
            while not floor.inboxes[me].empty():
                self.merge(floor.inboxes[me].get())
            floor.floors[me] = self.relax(self._bound)
            for peer, message in CpuDevice.outgoing(self):
                if 0 <= peer - first < len(floor.inboxes):
                    floor.inboxes[peer - first].put(message)
                else:
                    self._leaving.append((peer, message))
            floor.stops[me] = floor.stop  # as it was when all met
            floor.overflows[me] = self.counters.overflowed
            floor.meeting.wait(timeout=60)
            quiet = min(floor.floors) > self._bound or min(floor.floors) == math.inf
            quiet = quiet and all(inbox.empty() for inbox in floor.inboxes) and not self.endless
            stop = any(floor.stops)
            floor.meeting.wait(timeout=60)
            if quiet or stop:
                self.floor = floor.floors[me] if quiet else 0.0
                self.all_quiet = quiet
                return


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A solve on so many ranks and hosts, with what the devices are told beside the result."""

    def solve(
        graph: Graph,
        source: int,
        case: tuple[int, int],
        patience: int = 0,
        targets: Sequence[int] = (),
        **options: Any,
    ) -> Any:
        ranks, hosts = case
        monkeypatch.setattr(teams, "settings", lambda: SimpleNamespace(hosts=hosts))
        devices: list[Kernel] = []

        def choose(*_: object, **__: object) -> Kernel:
            devices.append(Kernel())
            return devices[-1]

        monkeypatch.setattr(loading, "choose", choose)

        def work(channel: LocalChannel) -> Any:
            with source_solver(channel, graph, **options) as solver:
                return solver.sssp(source, targets)

        return on_ranks(ranks, work, patience=patience, seed=2 * source)[0], devices

    return solve


def mode_of(ranks: int, hosts: int) -> str:
    return "fused" if hosts == 1 else "rounds" if hosts == ranks else "hierarchical"


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), source=st.integers(0, 23), patience=st.integers(0, 3))
def test_distances_and_tree(
    kernels: Any, case: tuple[int, int], graph: Graph, source: int, patience: int
) -> None:
    source %= graph.vertex_count
    result, devices = kernels(graph, source, case, patience, delta=3)
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
    verify(graph, result)
    assert result.statistics["mode"] == mode_of(*case)
    woken = [device.woken for device in devices]
    assert all(woken) if mode_of(*case) == "fused" else any(woken) == (mode_of(*case) != "rounds")


@pytest.mark.parametrize("case", [(4, 2), (3, 2)])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), data=st.data(), patience=st.integers(0, 3))
def test_targets(
    kernels: Any, case: tuple[int, int], graph: Graph, data: st.DataObject, patience: int
) -> None:
    vertex = st.integers(0, graph.vertex_count - 1)
    source, target = data.draw(vertex), data.draw(vertex)
    result, _ = kernels(graph, source, case, patience, [target], delta=3)
    assert result.distances[target] == scipy_distances(graph, source)[target]


@pytest.mark.parametrize("case", [(4, 2), (4, 3)])
@pytest.mark.parametrize("spec", ["road:60x50", "rmat:10,8"])
def test_a_team_works_to_the_limit_at_each_launch(
    kernels: Any, case: tuple[int, int], spec: str
) -> None:
    graph = generate(spec)
    source = int(np.argmax(np.diff(graph.offsets)))
    result, devices = kernels(graph, source, case)
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
    verify(graph, result)
    assert result.statistics["mode_reason"] == f"fused within {case[1]} hosts, rounds between"
    runs = [device.runs for device in devices]
    assert max(runs) > 1  # something came from the other host
    assert sum(map(sum, result.statistics["bytes_sent"])) > 0


def test_64_bits(kernels: Any) -> None:
    graph = random_graph(300, 1500, 4, 2**31 - 2)
    result, _ = kernels(graph, 0, (4, 2))
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))
    assert result.statistics["distance_type"] == "int64"


@pytest.mark.parametrize("case", [(2, 1), (3, 2), (4, 2)])
def test_the_time_limit_stops_kernels_and_is_every_rank_s_error(
    kernels: Any, monkeypatch: pytest.MonkeyPatch, case: tuple[int, int]
) -> None:
    monkeypatch.setattr(Kernel, "endless", True)
    begin = time.monotonic()
    with pytest.raises(TimeLimitError) as caught:
        kernels(generate("road:30x30"), 0, case, time_limit_s=0.2)
    assert caught.value.on_all_ranks
    assert time.monotonic() - begin < 20


def test_one_rank_a_host_cannot_be_fused(kernels: Any) -> None:
    with pytest.raises(SetupError, match="mode fused cannot run: one rank a host"):
        kernels(generate("road:4x4"), 0, (2, 2), mode="fused")


def test_an_obstacle_on_one_host_is_known_to_all(
    kernels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is loaded, so that all load for the same."""
    reasons = {0: None, 2: "ranks share a GPU"}
    monkeypatch.setattr(Kernel, "why_not_linked", lambda _, team: reasons[team.first])
    monkeypatch.setattr(Kernel, "link", None)
    result, devices = kernels(generate("road:20x20"), 5, (4, 2))
    assert result.statistics["mode"] == "rounds"
    assert result.statistics["mode_reason"] == "ranks share a GPU"
    assert [device.modes for device in devices] == [["rounds"]] * 4


@pytest.mark.parametrize(("verb", "loads"), [("why_not_linked", 0), ("link", 4)])
def test_what_one_host_cannot_is_an_error_where_fused_is_asked_for(
    kernels: Any, monkeypatch: pytest.MonkeyPatch, verb: str, loads: int
) -> None:
    able, load, loaded = getattr(Kernel, verb), Kernel.load, []

    def tried(self: Kernel, team: Team) -> Any:
        return "a GPU is full" if team.first else able(self, team)

    def noted(self: Kernel, share: Share, terms: Terms) -> None:
        loaded.append(self)
        load(self, share, terms)

    monkeypatch.setattr(Kernel, verb, tried)
    monkeypatch.setattr(Kernel, "load", noted)
    with pytest.raises(SetupError, match="mode fused cannot run: a GPU is full;") as caught:
        kernels(generate("road:4x4"), 0, (4, 2), mode="fused")
    assert caught.value.on_all_ranks
    assert len(loaded) == loads


def test_ranks_that_cannot_be_linked_try_it_once(
    kernels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What rounds need is compiled as such; and wider distances are not tried to be linked."""
    monkeypatch.setattr(Kernel, "link", lambda *_: "a GPU is full")
    graph = random_graph(300, 1500, 4, 2**31 - 2)
    result, devices = kernels(graph, 0, (2, 1))
    np.testing.assert_array_equal(result.distances, scipy_distances(graph, 0))
    assert result.statistics["distance_type"] == "int64"
    assert [device.modes for device in devices] == [["fused", "rounds", "rounds"]] * 2
    assert [device.warmed_up for device in devices] == [device.modes for device in devices]


def test_one_host_that_cannot_be_fused_keeps_all_from_it(
    kernels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And those that have linked let go of each other."""
    link = Kernel.link
    unlinked = []

    def tried(self: Kernel, team: Team) -> Linked | str:
        return "a GPU is full" if team.first else link(self, team)

    def unlink(self: Kernel) -> None:
        unlinked.append(self)
        self._team = None

    monkeypatch.setattr(Kernel, "link", tried)
    monkeypatch.setattr(Kernel, "unlink", unlink)
    result, devices = kernels(generate("road:20x20"), 5, (4, 2))
    assert (result.statistics["mode"], result.statistics["mode_reason"]) == (
        "rounds",
        "a GPU is full",
    )
    assert {*map(id, unlinked)} == {*map(id, devices)}
    assert not any(device.runs for device in devices)


def test_ranks_that_are_not_next_to_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teams, "hosts_of", lambda _: ["node0", "node1", "node0", "node1"])
    reasons = on_ranks(4, team_of)
    assert len(set(reasons)) == 1
    assert str(reasons[0]).startswith("rank 2 on node0 does not follow the others of its host")


@pytest.mark.parametrize(
    ("firsts", "hosts"),
    [([0, 0, 0], ["node", "node", "node"]), ([0, 0, 2], ["node (0)", "node (0)", "node (2)"])],
)
def test_hosts_that_have_one_name(
    firsts: list[int], hosts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teams, "platform", SimpleNamespace(node=lambda: "node"))
    monkeypatch.setattr(LocalChannel, "first_of_host", lambda channel: firsts[channel.rank])
    assert on_ranks(3, teams.hosts_of) == [hosts] * 3


def test_teams_of_unequal_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teams, "settings", lambda: SimpleNamespace(hosts=2))

    def work(channel: LocalChannel) -> tuple[int, int, int, list[float]]:
        team = team_of(channel)
        assert isinstance(team, Team)
        return team.first, team.channel.size, team.hosts, team.agree(channel.rank)

    assert on_ranks(3, work) == [(0, 2, 2, [0, 1]), (0, 2, 2, [0, 1]), (2, 1, 2, [2])]


def test_the_end_of_a_vote_is_seen_by_the_whole_team(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teams, "settings", lambda: SimpleNamespace(hosts=2))

    def work(channel: LocalChannel) -> list[int]:
        team, looks = team_of(channel), []
        assert isinstance(team, Team)
        for _ in range(20):
            channel.vote([channel.rank])
            looks.append(next(k for k in count() if team.tally(channel) is not None))
        return looks

    result = on_ranks(4, work, patience=5, seed=2)
    assert result[0] == result[1]
    assert result[2] == result[3]
    assert max(map(max, result)) > 0


def test_an_error_of_one_rank_is_not_swallowed(
    kernels: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def launch(kernel: Kernel) -> None:
        raise RunError("the kernel cannot be launched")

    monkeypatch.setattr(Kernel, "launch", launch)
    with pytest.raises(RunError, match="cannot be launched"):
        kernels(generate("road:4x4"), 0, (4, 2))
