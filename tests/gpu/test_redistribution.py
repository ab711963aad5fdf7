"""Arcs that are redistributed among linked ranks: threads on emulated GPUs of their own."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from support import as_large
from support.graphs import random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.skips import needs_linked_gpus
from support.solving import checked

from groute_py import Graph, Result, RunError, SetupError, generate, verify
from groute_py.comm import team
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.kernels.source import VERTEX_BITS
from groute_py.source.whole import GraphSupply

pytestmark = needs_linked_gpus

GRAPHS = {
    "road": lambda: generate("road:12x12"),
    "rmat": lambda: generate("rmat:7"),
    "loops and parallel arcs": lambda: random_graph(20, 300, 3, 2),
    "empty parts": lambda: Graph(
        np.array([0, 2, *[2] * 40]), np.array([1, 40], np.int32), np.array([3, 4], np.int32)
    ),
    "two vertices": lambda: Graph(np.array([0, 1, 1]), np.array([1], np.int32), np.array([7])),
    "no arcs": lambda: random_graph(9, 0, 1, 1),
}
OPTIONS = Options(device="cuda", order="none")

STEPS = ["_count_arcs", "_row_starts", "_allocate", "_arrange", "_allocate_redistributed"]
"""Of a redistribution, for which there may be no room; the last one is the device's."""


def whose(step: str) -> Any:
    """The class that has a step as a method."""
    from groute_py.device.cuda.graph.redistribute import Redistribution
    from groute_py.device.cuda.sssp.device import CudaDevice

    return CudaDevice if step == STEPS[-1] else Redistribution


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("wide", [False, True])
def test_each_arc_lies_where_its_head_is(
    wide: bool, prepared: bool, name: str, ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All arcs are there, and owners know who has some; by whatever numbers and offsets."""
    from groute_py.device.cuda.graph import degree_order, redistribute

    monkeypatch.setattr(degree_order, "MIXED_AT_ONCE", 8)
    monkeypatch.setattr(redistribute, "TILE", 40)  # several, the last one shorter
    if prepared:
        as_large.pull_deferred_arcs(monkeypatch.setattr)
    if wide:
        widen_offsets(monkeypatch, -1)
    graph = GRAPHS[name]()

    def work(channel: Any) -> Any:
        whole = GraphSupply(graph if channel.rank == 0 else None)
        with SourceSolver(whole, channel, OPTIONS) as solver:
            device: Any = solver._graph.device
            assert device.parts.graph.arrays["offsets"].itemsize == (8 if wide else 4)
            return redistributed_arcs(solver)

    parts = on_ranks(ranks, work)
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    arcs = list(zip(tails.tolist(), graph.heads.tolist(), graph.weights.tolist(), strict=True))
    for me, (first, own, result, leads) in enumerate(parts):
        lead_here = [arc for arc in arcs if first <= arc[1] < first + own]
        assert sorted(result) == sorted(lead_here)
        for vertex in range(first, first + own):
            takers = {p for p in range(ranks) for arc in parts[p][2] if arc[0] == vertex} - {me}
            assert {p for p in range(ranks) if leads[vertex - first] >> p & 1} == takers


def widen_offsets(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Let offsets take 8 bytes where there are more than so many arcs."""
    from groute_py.device.cuda.runtime import compile as compiling
    from groute_py.device.cuda.runtime import memory_plan
    from groute_py.device.cuda.sssp import device

    for module in (memory_plan, device, compiling):
        # `smallest` is loaded too
        monkeypatch.setattr(module, "is_wide", lambda arcs: arcs > most)


def redistributed_arcs(solver: SourceSolver) -> Any:
    """Of a linked rank: its first vertex, how many it owns, its arcs by the graph's numbers, whom
    its vertices lead to."""
    device: Any = solver._graph.device
    graph, by_degree = device.parts.graph, device.parts.order
    assert (by_degree is not None) == graph.terms.pulls
    assert graph.terms.pulls == (solver._graph.plan.options.prepare and solver.facts.arc_count > 0)
    arrays, ghosts, share = graph.arrays, device.parts.redistribution.ghosts, graph.share
    offsets, arcs = np.asarray(arrays["offsets"]), np.asarray(arrays["arcs"])
    assert len(offsets) == ghosts.rows + 1
    starts = np.concatenate([[0], np.cumsum(ghosts.owned)])
    numbers = np.concatenate(
        [np.arange(share.first, share.first + share.own_count)]
        + [np.arange(starts[p], starts[p + 1]) for p in range(len(starts) - 1) if p != ghosts.me]
    )
    half = arcs.itemsize // 2
    words = arcs.view(np.int32 if half == 4 else np.int64).reshape(len(arcs), 2)
    bits = VERTEX_BITS if graph.unit > 0 else 32
    heads = words[:, 1].astype(np.int64) & (1 << bits) - 1
    assert (heads < share.own_count).all()
    tails, heads = np.repeat(numbers, np.diff(offsets.astype(np.int64))), heads + share.first
    leads = np.asarray(arrays["leads"])
    if by_degree is not None:
        order, places = np.asarray(by_degree.vertices), np.asarray(by_degree.numbers)
        assert sorted(order) == list(range(ghosts.rows))
        assert (order[share.first + places] == share.first + np.arange(share.own_count)).all()
        degrees = np.diff(share.offsets)[order[share.first :][: share.own_count] - share.first]
        parts = np.split(degrees, range(8, len(degrees), 8))
        assert all(hubs.min() >= others.max() for hubs, others in pairwise(parts))
        tails, heads, leads = order[tails], order[heads], leads[places]
    result = zip(tails.tolist(), heads.tolist(), words[:, 0].tolist(), strict=True)
    return share.first, share.own_count, list(result), leads.tolist()


def solved(graph: Graph, source: int, ranks: int) -> Result:
    """On threads as ranks."""

    def work(channel: Any) -> Result | None:
        with SourceSolver(
            GraphSupply(graph if channel.rank == 0 else None), channel, OPTIONS
        ) as solver:
            solver.sssp(source)
            return solver.sssp(source)

    result = checked(graph, source, on_ranks(ranks, work)[0])
    needed = result.statistics["relaxations"] - result.statistics["useless_relaxations"]
    assert needed == np.diff(graph.offsets)[result.reached].sum()
    return result


@pytest.mark.parametrize("full", [[0], [2], [0, 1, 2]])
@pytest.mark.parametrize("step", STEPS)
def test_without_room_ranks_go_on_in_rounds(
    step: str, full: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever rank has none, and at whichever step; with the shares that they had before."""
    from groute_py.device.cuda.runtime.short_memory import FULL

    owner = whose(step)
    taken = getattr(owner, step)

    def tried(self: Any, *words: Any) -> Any:
        if self.gpu.id in full:
            raise MemoryError("full")
        return taken(self, *words)

    monkeypatch.setattr(owner, step, tried)
    result = solved(generate("rmat:6"), 3, 3)
    assert result.statistics["mode"] == "rounds"
    assert result.statistics["mode_reason"] == FULL


@pytest.mark.parametrize("full", [[0], [2], [0, 1, 2]])
def test_without_room_for_weight_classes_others_have_them(
    full: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from groute_py.device.cuda.graph.redistribute import Redistribution

    as_large.pull_deferred_arcs(monkeypatch.setattr)
    as_large.take_grid_steps(monkeypatch)
    taken, classified = Redistribution._add_weight_classes, list[int]()

    def tried(self: Redistribution) -> None:
        if self.gpu.id in full:
            raise MemoryError("full")
        taken(self)
        assert self.graph.unit > 0
        classified.append(self.gpu.id)

    monkeypatch.setattr(Redistribution, "_add_weight_classes", tried)
    graph = generate("rmat:8,12")

    def work(channel: Any) -> tuple[Result | None, int]:
        whole = GraphSupply(graph if channel.rank == 0 else None)
        with SourceSolver(whole, channel, replace(OPTIONS, mode="fused")) as solver:
            return solver.sssp(3), solver._graph.device.arcs_reached()

    results, arcs = zip(*on_ranks(3, work), strict=True)
    assert set(classified) == {0, 1, 2} - set(full)
    result = checked(graph, 3, results[0])
    assert sum(arcs) == np.diff(graph.offsets)[result.reached].sum()


@pytest.mark.parametrize("step", [STEPS[0], STEPS[-1]])
def test_without_room_it_is_an_error_where_fused_is_asked_for(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Any, *_: Any) -> Any:
        raise MemoryError("full")

    def work(channel: Any) -> None:
        whole = GraphSupply(generate("rmat:6") if channel.rank == 0 else None)
        SourceSolver(whole, channel, replace(OPTIONS, mode="fused"))

    monkeypatch.setattr(whose(step), step, full)
    with pytest.raises(SetupError, match="mode fused cannot run") as caught:
        on_ranks(3, work)
    assert caught.value.on_all_ranks


@pytest.mark.parametrize(("mode", "most"), [("rounds", 3000), ("fused", 9500)])
def test_offsets_are_equally_wide_on_all_ranks(
    mode: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the rank with most arcs: by their tails in rounds, by their heads when
    redistributed."""
    widen_offsets(monkeypatch, most)
    counts = np.repeat([100, 10], [90, 90])  # 9,000 and 900 arcs, if parts are equally long
    heads = np.random.default_rng(3).integers(0, 90, counts.sum(), dtype=np.int32)
    graph = Graph(np.concatenate([[0], np.cumsum(counts)]), heads, np.ones(len(heads), np.int32))

    def work(channel: Any) -> Any:
        whole = GraphSupply(graph if channel.rank == 0 else None)
        options = replace(OPTIONS, partition="vertices", mode=mode)
        with SourceSolver(whole, channel, options) as solver:
            result, loaded = solver.sssp(3), cast("Any", solver._graph.device)
            answer = solver._graph.mode.name, loaded.parts.graph.arrays["offsets"].dtype
        if result is not None:
            np.testing.assert_array_equal(result.distances, scipy_distances(graph, 3))
        return answer

    assert on_ranks(2, work) == [(mode, np.uint64)] * 2


def test_more_vertices_than_a_rank_can_number(monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.cuda.graph import redistribute

    monkeypatch.setattr(redistribute, "MOST_LOCAL", 99)
    result = solved(generate("road:10x10"), 3, 2)
    assert result.statistics["mode"] == "rounds"
    assert "local vertices, more than 99" in result.statistics["mode_reason"]


def test_a_host_that_cannot_be_linked_keeps_all_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose arcs have been redistributed already take their rows back."""
    from groute_py.device.cuda.sssp.device import CudaDevice

    link = CudaDevice.link
    monkeypatch.setattr(team, "settings", lambda: SimpleNamespace(hosts=2))

    def tried(self: Any, mine: team.Team) -> Any:
        return "a GPU is full" if mine.first else link(self, mine)

    monkeypatch.setattr(CudaDevice, "link", tried)
    result = solved(generate("road:10x10"), 3, 4)
    assert (result.statistics["mode"], result.statistics["mode_reason"]) == (
        "rounds",
        "a GPU is full",
    )


@pytest.mark.parametrize(("order", "expected"), [("even", 1.0), ("uneven", 4.0)])
def test_the_imbalance_is_that_of_redistributed_arcs(order: str, expected: float) -> None:
    """Parts are cut by tails: here all arcs lead to four vertices, in one part or in all."""
    hubs = np.arange(0, 40, 10) if order == "even" else np.arange(4)
    graph = Graph(np.arange(0, 161, 4), np.tile(hubs, 40).astype(np.int32), np.ones(160, np.int32))
    assert solved(graph, 5, 4).statistics["imbalance"] == expected


@pytest.mark.parametrize("late", [0, 1])
def test_what_other_hosts_bring_before_the_first_launch(
    late: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Peers are told of it: a host that begins late may have messages already."""
    from groute_py.engine import solving

    arcs = {0: [2], 3: [2], 4: [5], 5: [4], 6: [0], 7: [6]}
    offsets = np.cumsum([0, *(len(arcs.get(v, [])) for v in range(8))])
    heads = np.array([head for v in range(8) for head in arcs.get(v, [])], np.int32)
    graph = Graph(offsets, heads, np.ones(len(heads), np.int32))
    run = solving.run

    def begun_late(task: Any, channel: Any, *words: Any) -> Any:
        if channel.rank // 2 == 1 - late and words[2:]:
            time.sleep(0.5)
        return run(task, channel, *words)

    monkeypatch.setattr(team, "settings", lambda: SimpleNamespace(hosts=2))
    monkeypatch.setattr(solving, "run", begun_late)
    assert solved(graph, 6, 4).statistics["mode"] == "hierarchical"


def test_a_stop_ends_all_kernels_and_the_next_runs_are_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Mailboxes take turns: what was said in one run is not heard in the next.

    Where no host says why it stopped them nobody takes what kernels have left for an answer.
    """
    from groute_py.device.cuda.sssp.linked_kernels import LinkedKernels

    graph, stopping, launch = generate("road:12x12"), set(), LinkedKernels.launch

    def stop_before(linked: LinkedKernels) -> None:
        if stopping:
            linked.stop()
        launch(linked)

    def work(channel: Any) -> Any:
        whole = GraphSupply(graph if channel.rank == 0 else None)
        with SourceSolver(whole, channel, OPTIONS) as solver:
            floors, answers = [], []
            for stops in (True, False, False, True, False):
                channel.gather(None)  # nobody is in the run before
                stopping.update({1} if stops else ())
                channel.gather(None)
                if stops:
                    with pytest.raises(RunError, match="before all ranks were done") as caught:
                        solver.sssp(70)
                    assert caught.value.on_all_ranks
                else:
                    answers.append(solver.sssp(70))
                floors.append(solver._graph.device.linked.floor)  # type: ignore[attr-defined]
                channel.gather(None)
                stopping.clear()
        return floors, answers

    monkeypatch.setattr(LinkedKernels, "launch", stop_before)
    result = on_ranks(2, work)
    for floors, _ in result:
        assert [floor < np.inf for floor in floors] == [True, False, False, True, False]
    for answer in result[0][1]:
        verify(graph, answer)


def test_who_hears_nothing_of_a_peer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot know what the others make of the run, and would wait for what they never send."""
    as_large.compile_with(monkeypatch, SILENT_END=1, PATIENCE=8)
    with pytest.raises(RunError, match="has not ended a second after") as caught:
        solved(generate("road:6x6"), 0, 2)
    assert not caught.value.on_all_ranks


@pytest.mark.parametrize("which", [0, 1, 2])
def test_what_does_not_fit_on_one_rank_is_known_to_all(
    which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their kernels: else some would load the graph anew and others hand in an answer."""
    from groute_py.engine import fused

    arcs = [(0, 3 * rank + 1, 5) for rank in range(3)]  # each rank owns three
    arcs += [(3 * r + 1, 3 * r + 2, 2**31 - 2 if r == which else 7) for r in range(3)]
    tails, heads, weights = (np.array(column, np.int32) for column in zip(*arcs, strict=True))
    graph = Graph(np.searchsorted(tails, np.arange(10)), heads, weights)
    run, answer = fused.run, []

    def noting(linked: Any, channel: Any, pace: Any) -> bool:
        overflowed = run(linked, channel, pace)
        answer.append(channel.gather(overflowed))
        return channel.gather(overflowed)[which]

    monkeypatch.setattr(fused, "run", noting)
    result = solved(graph, 0, 3)
    assert result.statistics["distance_type"] == "int64"
    assert [True] * 3 in answer
    assert all(len(set(ends)) == 1 for ends in answer)


@pytest.mark.parametrize("ranks", [2, 4])
def test_level_arcs_across_ranks(ranks: int) -> None:
    """Paths of zero weight that go to and fro between parts, and cycles of them."""
    count = 40
    order = np.random.default_rng(2).permutation(count)
    tails = np.concatenate([order[:-1], order[1:], order[:5]])
    heads = np.concatenate([order[1:], order[:-1], order[20:25]])
    places = np.argsort(tails, kind="stable")
    offsets = np.searchsorted(tails[places], np.arange(count + 1))
    weights = np.zeros(len(tails), np.int32)
    weights[places.argsort()[-5:]] = 1
    graph = Graph(offsets, heads[places].astype(np.int32), weights)
    assert solved(graph, int(order[0]), ranks).statistics["mode"] == "fused"
