"""Labels that several ranks have in shares: right answers, and what each rank has."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.graphs import graph_of, random_graph
from support.labels import check
from support.local_ranks import on_ranks
from support.opening import solver_on
from support.skips import EMULATED

from groute_py import Graph, Positions, generate
from groute_py.graph.hierarchy.separators.customizable import customizable
from groute_py.graph.hierarchy.separators.labels import LabelShares

pytest.importorskip("pymetis")

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
}


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
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_each_share_follows_from_itself(name: str, count: int) -> None:
    hierarchy = customizable(GRAPHS[name]())
    shares, covered = LabelShares(hierarchy, count), []
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
