"""Linked ranks in a solve: they record predecessors, and share their buckets. On emulated GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import as_large
from support.graphs import graph_of, random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.skips import needs_linked_gpus

from groute_py import Graph, generate, verify
from groute_py.device.cuda.runtime import memory_plan
from groute_py.engine.algorithms import delta_stepping
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.kernels.cpu.order import renumbered
from groute_py.results.reference import reference_distances
from groute_py.source.whole import GraphSupply

pytestmark = needs_linked_gpus

OPTIONS = Options(device="cuda", order="none", partition="vertices")


def zeros() -> Graph:
    """Many level arcs, which a tree may not close a cycle of."""
    return random_graph(200, 1200, 5, 1)


def floats() -> Graph:
    whole = random_graph(200, 1200, 6, 1000)
    return Graph(whole.offsets, whole.heads, (whole.weights * 0.37).astype(np.float32))


GRAPHS = {
    "road": lambda: generate("road:14x12"),
    "rmat": lambda: generate("rmat:8,16"),
    "zeros": zeros,
    "floats": floats,
}


def solved(graph: Graph, ranks: int, lacking: int | None = None) -> list[tuple[int, bool]]:
    """Of each rank: the vertices without a record, and whether it claimed by arcs afterwards.

    The rank ``lacking`` says that it lacks a record, whatever it has.
    """

    def work(channel: Any) -> tuple[int, bool]:
        claimed: list[bool] = []
        with SourceSolver(
            GraphSupply(graph if channel.rank == 0 else None), channel, OPTIONS
        ) as solver:
            device: Any = solver._graph.device
            answer = device.parts.predecessors
            claim_rising, claim_recorded = answer.claim_rising, answer.claim_recorded
            answer.claim_rising = lambda: (claimed.append(True), claim_rising())
            answer.claim_recorded = lambda: claim_recorded() and channel.rank != lacking
            for source in (3, graph.vertex_count - 1):
                result = solver.sssp(source)
                if result is not None:
                    assert result.statistics["mode"] == "fused"
                    right = scipy_distances(graph, source)
                    np.testing.assert_allclose(result.distances, right, rtol=1e-5)
                    verify(graph, result)
            return answer.unrecorded, bool(claimed)

    return on_ranks(ranks, work)


@pytest.mark.parametrize("how", ["local", "grid", "growing", "pull"])
@pytest.mark.parametrize("name", GRAPHS)
def test_no_record_is_missing(name: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "grid":
        as_large.take_grid_steps(monkeypatch)
    if how == "growing":  # where far is looked for among all, it says no tails
        as_large.grow_buckets(monkeypatch.setattr)
    if how == "pull":
        as_large.pull_deferred_arcs(monkeypatch.setattr)
    assert solved(GRAPHS[name](), 3) == [(0, False)] * 3


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("name", GRAPHS)
def test_blocks_that_go_few_levels_down(
    name: str, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two on each rank, beside one that listens."""
    from groute_py.device.cuda.sssp import relax_kernel

    monkeypatch.setattr(relax_kernel, "DEPTH", depth)
    assert solved(GRAPHS[name](), 3) == [(0, False)] * 3


def test_one_block_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """And takes what arrives during a step."""
    as_large.compile_with(monkeypatch, COUNTS_POLLS=1)
    graph, source = GRAPHS["rmat"](), 3
    options = replace(OPTIONS, predecessors=False)

    def work(channel: Any) -> int:
        with SourceSolver(
            GraphSupply(graph if channel.rank == 0 else None), channel, options
        ) as solver:
            result = solver.sssp(source)
            if result is not None:
                np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
            seen = solver._graph.device.parts.buffers.read_control()  # type: ignore[attr-defined]
            return int(seen["polls"])

    assert min(on_ranks(3, work)) > 0


@pytest.mark.parametrize("share", [1, 2, 8])
def test_who_owns_few_vertices_has_short_lists(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is far where predecessors are recorded; and then not all that finds a place."""
    monkeypatch.setattr(memory_plan, "LEAST_CAPACITY", 1)
    monkeypatch.setattr(memory_plan, "FAR_SHARE", share)
    monkeypatch.setattr(memory_plan, "FAR_WITH_TAILS", 1)
    whole = generate("rmat:8,16")
    falling = np.argsort(-np.diff(whole.offsets), kind="stable")
    places = np.argsort(falling)
    graph = Graph(*renumbered(whole.offsets, whole.heads, whole.weights, falling, places))
    options = replace(OPTIONS, partition="arcs", delta=8.0)

    def work(channel: Any) -> tuple[int, int]:
        with SourceSolver(
            GraphSupply(graph if channel.rank == 0 else None), channel, options
        ) as solver:
            for source in (0, 100, 200):
                result = solver.sssp(source)
                if result is not None:
                    assert result.statistics["mode"] == "fused"
                    np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))
                    verify(graph, result)
            lengths: Any = solver._graph.device.parts.buffers.work[0]  # type: ignore[attr-defined]
            assert lengths["far_few"] == max(solver._graph.cut.share.own_count // share, 1)
            assert lengths["far_few"] <= lengths["far_capacity"]
            return solver._graph.cut.share.own_count, int(lengths["far_capacity"])

    parts = on_ranks(3, work)
    assert all(own == places for own, places in parts)
    assert parts[0][0] < graph.vertex_count // 8


@pytest.mark.parametrize("level", [False, True])
def test_mirrors_of_short_rows_lag_until_claims(
    level: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64-bit distances have no records: who claims has to know how near tails are."""
    as_large.grow_buckets(monkeypatch.setattr)
    as_large.take_grid_steps(monkeypatch)
    whole = generate("rmat:8,6")
    weights = whole.weights.astype(np.int64) % 3 if level else whole.weights.astype(np.int64)
    graph = Graph(whole.offsets, whole.heads, weights << 33)

    def work(channel: Any) -> list[bool]:
        lagged = []
        with SourceSolver(
            GraphSupply(graph if channel.rank == 0 else None), channel, OPTIONS
        ) as solver:
            device: Any = solver._graph.device
            start_claims = device.start_claims

            def lagging(monotone: bool) -> bool:
                parts = device.parts
                known, ghosts = (
                    parts.buffers.arrays["distance"].get(),
                    parts.redistribution.ghosts,
                )
                owned = channel.gather(known[: ghosts.owned[ghosts.me]])
                places = [ghosts.at(ghosts.me, rank) for rank in range(len(owned))]
                behind = [
                    known[at : at + len(own)] > own for at, own in zip(places, owned, strict=True)
                ]
                lagged.append(any(some.any() for some in behind))
                return bool(start_claims(monotone))

            device.start_claims = lagging
            for source in (3, 100, 200):
                result = solver.sssp(source)
                if result is not None:
                    assert result.statistics["mode"] == "fused"
                    right = reference_distances(graph, source)
                    np.testing.assert_array_equal(result.distances, right)
                    verify(graph, result)
        return lagged

    assert any(map(any, on_ranks(3, work)))


@pytest.mark.parametrize("lacking", [0, 2])
def test_where_one_lacks_a_record_all_claim(lacking: int) -> None:
    assert solved(zeros(), 3, lacking) == [(0, True)] * 3


@pytest.mark.parametrize("name", GRAPHS)
def test_overtaken_records(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of whom not all are found on their rank all ranks claim."""
    as_large.overtake_records(monkeypatch.setattr)
    assert all(claimed for _, claimed in solved(GRAPHS[name](), 3))


def test_overtaken_records_are_found_on_their_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path through all ranks, of which those overtaken are not the first; and longer ways."""
    as_large.overtake_records(monkeypatch.setattr)
    firsts = range(0, 24, 8)  # of each rank
    ways = [(a + v, a + v + 2, 99) for a in firsts for v in range(6)]
    ways += [(a + v, a + v + 1, v + 1) for a in firsts for v in range(7)]
    ways += [(7, 9, 5), (15, 17, 5)]
    graph = graph_of(24, ways + [(head, tail, weight) for tail, head, weight in ways])
    assert solved(graph, 3) == [(0, False)] * 3


def test_all_join_the_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank that only hears of vertices in it, and would find far what they lead to."""
    as_large.grow_buckets(monkeypatch.setattr)
    monkeypatch.setattr(delta_stepping, "GROWTH", 1e9)  # the first is 1 wide
    graph = graph_of(4, [(0, 1, 100), (1, 2, 1)])

    def work(channel: Any) -> tuple[float, float]:
        with SourceSolver(
            GraphSupply(graph if channel.rank == 0 else None), channel, OPTIONS
        ) as solver:
            solver.sssp(0)
            seen = solver._graph.device.parts.buffers.read_control()  # type: ignore[attr-defined]
            return float(seen["bucket_begin"]), float(seen["threshold"])

    parts = on_ranks(2, work)
    assert parts[0] == parts[1]
    assert parts[0][0] == 100
