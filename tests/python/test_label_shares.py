"""Labels that several ranks have in shares: right answers, and what each rank has."""

from __future__ import annotations

import pkgutil
import threading
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of, random_graph
from support.labels import check, every_distance
from support.local_ranks import on_ranks
from support.opening import solver_on
from support.skips import EMULATED, needs_gpu, require_metis

from groute_py import Graph, GraphError, InputError, Positions, RunError, generate
from groute_py.comm import shared_memory
from groute_py.graph.hierarchy.separators.customizable import customizable
from groute_py.graph.hierarchy.separators.labels import LabelShares
from groute_py.many.customized import Customized

require_metis()

GRAPHS = {
    "one vertex": lambda: graph_of(1, [(0, 0, 3)]),
    "fewer vertices than ranks": lambda: graph_of(2, [(0, 1, 3)]),
    "no arcs": lambda: graph_of(7, []),
    "parallel arcs": lambda: graph_of(3, [(0, 1, 9), (0, 1, 4), (1, 0, 3), (1, 2, 8), (1, 2, 2)]),
    "loops": lambda: graph_of(4, [(0, 0, 1), (0, 1, 5), (1, 1, 0), (1, 3, 2), (3, 3, 7)]),
    "components": lambda: random_graph(60, 45, 3, 40),
    "64 bits": lambda: random_graph(40, 120, 4, 2**45, "int64"),
    "sums beyond 32 bits": lambda: random_graph(40, 100, 5, 2**31 - 1),
    "road": lambda: generate("road:9x9"),
    "100,000 pairs": lambda: generate("road:18x18"),
}


STEPS = [
    *(f"{LabelShares.__module__}.{name}" for name in ("range_minima", "LabelShares.begins")),
    f"{LabelShares.__module__}.LabelShares.rows",
    *(f"cupy.cuda.runtime.ipc{name}MemHandle" for name in ("Get", "Open")),
]
"""Functions that make labels on a rank."""


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    """Let labels answer, and no GPU have room for all of them."""
    monkeypatch.setattr("groute_py.many.labels.pays", lambda order_s, *_: order_s < np.inf)
    monkeypatch.setattr("groute_py.device.cpu.customization.PAIRS_A_LABEL", 0)
    if device == "cuda":
        if not EMULATED:
            pytest.skip("a GPU's memory is mapped by other processes alone; see tests/gpu")
        together = "groute_py.device.cuda.hierarchy.customization.team_for"
        monkeypatch.setattr(together, lambda channel, *_: channel)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_each_share_follows_from_itself(name: str, parts: int) -> None:
    hierarchy = customizable(GRAPHS[name]())
    shares, covered = LabelShares(hierarchy, parts), []
    for share, (first, stop) in enumerate(pairwise(shares.bounds.tolist())):
        has = np.diff(shares.begins(share)) > 0
        covered += np.flatnonzero(
            (first <= hierarchy.preorder) & (hierarchy.preorder < stop)
        ).tolist()
        for vertex in np.flatnonzero(has):
            assert has[hierarchy.heads[slice(*hierarchy.offsets[vertex : vertex + 2])]].all()
        for begin, end in pairwise(hierarchy.levels.tolist()):  # together, at each depth
            assert len(np.flatnonzero(np.diff(has[begin:end]))) <= 2
        assert has.sum() <= stop - first + hierarchy.level_count
    assert sorted(covered) == list(range(hierarchy.vertex_count))


def answers(graphs: list[Graph], device: str) -> Any:
    def answer(channel: Any) -> None:
        for graph in graphs:
            own = graph if channel.rank == 0 else None
            with solver_on(channel, own, prepare=True, device=device) as solver:
                check(solver, graph)
                with pytest.raises(InputError, match="is not a vertex"):
                    solver.route(Positions([(0, graph.vertex_count)]))
                other = graph.with_weights(graph.weights[::-1].copy())
                solver.update(other.weights if channel.rank == 0 else None)
                check(solver, other)
                routes = solver.route(Positions([(0, 0)]))
                if routes is not None and channel.size > 1:
                    share = f"{channel.size} ranks have a share of the labels each"
                    assert share in routes.statistics["reason"]

    return answer


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_distances(ranks: int, device: str) -> None:
    on_ranks(ranks, answers([make() for make in GRAPHS.values()], device))


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("problem", ["no memory", "not seen", "another file"])
def test_memory_that_ranks_cannot_share(
    problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then cores climb."""

    def refuse(size: int, what: str) -> None:
        raise GraphError(f"{what} would take {size} bytes")

    if problem == "no memory":
        monkeypatch.setattr(shared_memory, "check_room", refuse)
    else:
        (tmp_path / "another file").write_bytes(bytes(1 << 20))
        monkeypatch.setattr(shared_memory, "OPEN_FILE", str(tmp_path / problem))
    answers = on_ranks(2, partial(routes_of, generate("road:9x9"), "cpu"))
    assert "share of the labels" not in answers[0]


def routes_of(graph: Graph, device: str, channel: Any) -> str:
    """Check all pairs, and return the reason for the method on rank 0."""
    own = graph if channel.rank == 0 else None
    with solver_on(channel, own, prepare=True, device=device) as solver:
        routes = solver.route(Positions([(0, 0)]))
        reason = "" if routes is None else str(routes.statistics["reason"])
        has_labels = channel.broadcast("no labels" not in reason)
        if has_labels:
            check(solver, graph)
        else:
            every = Positions(np.arange(graph.vertex_count))
            matrix = solver.matrix(every, every)
            if matrix is not None:
                assert routes.distances.tolist() == [0]
                assert (matrix.distances == every_distance(graph)).all()
                assert matrix.statistics["algorithm"] != "labels"
        return reason


@pytest.mark.usefixtures("shared")
def test_an_update_that_fails_on_one_rank(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All make their labels anew."""
    graph, update, calls = generate("road:9x9"), Customized.update, count()
    other = graph.with_weights(graph.weights[::-1].copy())

    def fail(self: Any, weights: Any, *, arcs: Any = None) -> None:
        if self._channel.rank == 1 and next(calls) == 1:  # behind that of the constructor
            raise MemoryError
        update(self, weights, arcs=arcs)

    monkeypatch.setattr(Customized, "update", fail)

    def answer(channel: Any) -> None:
        with solver_on(
            channel, graph if channel.rank == 0 else None, prepare=True, device=device
        ) as solver:
            check(solver, graph)
            solver.update(other.weights if channel.rank == 0 else None)
            check(solver, other)

    on_ranks(3, answer)
    assert next(calls) == 3


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("step", STEPS)
def test_a_rank_that_fails_alone(step: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others do not wait for it."""
    if device == "cpu" and "cupy" in step:
        pytest.skip("cores map no memory of GPUs")
    real, own = pkgutil.resolve_name(step), threading.local()

    def fail(*words: Any) -> Any:
        if own.rank == 1:
            raise MemoryError("no room")
        return real(*words)

    monkeypatch.setattr(step, fail)

    def answer(channel: Any) -> None:
        own.rank = channel.rank
        with pytest.raises(RunError, match="rank 1 failed: MemoryError: no room"):
            routes_of(generate("road:9x9"), device, channel)

    on_ranks(3, answer)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("device", [pytest.param("cuda", marks=needs_gpu)])
def test_a_rank_without_a_gpu(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then all ranks have labels in host memory."""
    own = threading.local()
    problems = {1: f"no {device} here"}
    monkeypatch.setattr("groute_py.many.labels.gpu_problem", lambda: problems.get(own.rank))
    monkeypatch.setattr("groute_py.many.labels.SMALL", 0)

    def answer(channel: Any) -> str:
        own.rank = channel.rank
        return routes_of(generate("road:9x9"), "auto", channel)

    assert "; 3 ranks have a share of the labels each" in on_ranks(3, answer)[0]


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=needs_gpu)])
@pytest.mark.skipif(not EMULATED, reason="memory is counted in emulation")
@pytest.mark.parametrize(
    ("gpus", "room", "reason"),
    [
        (2, "whole", "estimates: labels"),
        (2, "less", "; 2 ranks have a share of the labels each"),
        (2, "none", "no labels: labels in a share for each of 2 ranks would take"),
        (1, "less", "no labels: labels of all vertices do not fit on each GPU, and ranks share"),
    ],
)
def test_choice(
    gpus: int, room: str, reason: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cupy as cp

    from groute_py.device.cuda.hierarchy import customization, labels

    monkeypatch.setattr("groute_py.many.labels.pays", lambda order_s, *_: order_s < np.inf)
    monkeypatch.setattr(cp.cuda.runtime, "getDeviceCount", lambda: gpus)
    team_for = labels.team_for

    def small(channel: Any, hierarchy: Any, kind: Any, gpu: Any) -> Any:
        whole = labels._bytes_of(LabelShares(hierarchy, 1), 0, hierarchy, kind)
        free = {"whole": whole, "less": whole - 1, "none": 9}[room]
        own = SimpleNamespace(room=lambda: free, id=gpu.id, label=gpu.label)
        return team_for(channel, hierarchy, kind, own)

    monkeypatch.setattr(customization, "team_for", small)
    result = on_ranks(2, partial(routes_of, generate("road:12x12"), device))[0]
    assert reason in result
    assert ("share" in result) is (room != "whole")


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=needs_gpu)])
@pytest.mark.skipif(not EMULATED, reason="memory is counted in emulation")
def test_room_for_the_labels_of_one_rank(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both had it before either took it; then neither has labels, and later both have."""
    import cupy as cp

    from groute_py.device.cuda.hierarchy import labels

    monkeypatch.setattr("groute_py.many.labels.pays", lambda order_s, *_: order_s < np.inf)
    monkeypatch.setattr(cp.cuda.runtime, "getDeviceCount", lambda: 1)
    refuse_large, own, graph = labels.refuse_large, threading.local(), generate("road:9x9")
    requests = count()

    def refuse(takes: int, what: str, gpu: Any) -> None:
        is_late = own.rank == 1 and what.startswith("labels") and next(requests) == 0
        refuse_large(1 << 60 if is_late else takes, what, gpu)

    monkeypatch.setattr(labels, "refuse_large", refuse)

    def answer(channel: Any) -> list[str]:
        own.rank, reasons = channel.rank, []
        weights = graph.weights if channel.rank == 0 else None
        with solver_on(
            channel, graph if channel.rank == 0 else None, prepare=True, device=device
        ) as solver:
            for _ in range(4):
                routes = solver.route(Positions([(0, 0), (1, 5), (2, 7)]))
                reasons.append("" if routes is None else str(routes.statistics["reason"]))
                solver.update(weights)
            check(solver, graph)
        return reasons

    first, *_, last = on_ranks(2, answer)[0]
    assert "no labels: labels of all vertices would take" in first
    assert "no labels" not in last
