"""What lies within limits, against SciPy's distances, NetworkX and arc by arc."""

from __future__ import annotations

import errno
import os
import re
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph
from support.keeping import raising_at, write_at_once
from support.kept_rows import listing
from support.local_ranks import on_ranks
from support.opening import opened_on
from support.reference import rows_from, turned_round

import groute_py
from groute_py import Graph, InputError, Isochrones, RunError, TimeLimitError
from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.jobs import reaches
from groute_py.jobs.isochrone import IsochroneJob
from groute_py.many.opened import Work
from groute_py.many.storage.store import PartFile, Store
from groute_py.maps.reach import Reach


def check(graph: Graph, sources: list[int], result: Isochrones | None, *, each: bool) -> None:
    """Vertices, distances and parts of arcs of each reach."""
    assert result is not None
    assert result.sources.tolist() == sources
    rows = rows_from(graph, sources)
    rows = rows if each else rows.min(axis=0, keepdims=True)
    assert [reach.source for reach in result.reaches] == (sources if each else [-1])
    for row, reach in zip(rows, result.reaches, strict=True):
        within = np.flatnonzero(row <= result.limits[-1])
        np.testing.assert_array_equal(reach.vertices, within)
        np.testing.assert_array_equal(reach.distances, row[within])
        check_pieces(graph, row, result, reach)
        wanted = [
            min(i for i, limit in enumerate(result.limits) if d <= limit) for d in row[within]
        ]
        assert result.bands(reach).tolist() == wanted
    least = rows.min(axis=0)
    assert result.counts == [int((least <= limit).sum()) for limit in result.limits]


def check_pieces(graph: Graph, row: Any, result: Isochrones, reach: Reach) -> None:
    """What of each arc is within each limit, by fractions."""
    wanted: list[tuple[int, int, int, float, float]] = []
    for band, limit in enumerate(result.limits):
        for tail in range(graph.vertex_count):
            for arc in range(graph.offsets[tail], graph.offsets[tail + 1]):
                head, weight = int(graph.heads[arc]), int(graph.weights[arc])
                ends = [_passed(x, int(row[tail]), weight) for x in (*result.limits[:band], limit)]
                begin = ends[-2] if band else Fraction(0)
                if head != tail and ends[-1] > begin:
                    wanted.append((band, tail, head, float(begin), float(ends[-1])))
    pieces = result.pieces(reach)
    columns = pieces.bands, pieces.tails, pieces.heads, pieces.begins, pieces.ends
    assert sorted(zip(*(c.tolist() for c in columns), strict=True)) == sorted(wanted)


def _passed(limit: float, distance: int, weight: int) -> Fraction:
    if distance > limit:
        return Fraction(0)
    return min(Fraction(int(limit) - distance, weight), Fraction(1)) if weight else Fraction(1)


limit_lists = st.lists(st.integers(1, 40), min_size=1, max_size=4)


@settings(max_examples=40)
@given(graph=graphs(greatest=12), limits=limit_lists, each=st.booleans(), data=st.data())
def test_against_every_arc(
    device: str, graph: Graph, limits: list[int], each: bool, data: st.DataObject
) -> None:
    vertices = st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=4)
    sources = data.draw(vertices)
    result = groute_py.isochrone(graph, sources, limits, each=each, device=device)
    check(graph, sources, result, each=each)
    assert result is not None
    assert list(result.limits) == sorted(set(limits))


@settings(max_examples=30)
@given(graph=graphs(greatest=12), limits=limit_lists, data=st.data())
def test_many_sources_at_once(
    device: str, graph: Graph, limits: list[int], data: st.DataObject
) -> None:
    vertices = st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=9)
    sources = data.draw(vertices)
    with pytest.MonkeyPatch.context() as changes:
        changes.setattr(reaches, "FEWEST_AT_ONCE", 1)
        result = groute_py.isochrone(graph, sources, limits, each=True, device=device)
    check(graph, sources, result, each=True)


@pytest.mark.parametrize("limit", [3, 2**31 - 2, 2**31 - 1, 2**40, 2**62])
def test_many_sources_at_once_with_distances_beyond_32_bits(device: str, limit: int) -> None:
    """Distances beyond a limit need not fit; those within it take a wider type."""
    graph = graph_of(4, [(0, 1, 3), (1, 2, 2**31 - 5), (2, 3, 2**31 - 1), (3, 0, 0)])
    sources = [*range(4)] * 8
    result = groute_py.isochrone(graph, sources, [limit], each=True, device=device)
    rows = rows_from(graph, sources)
    assert result is not None
    for row, reach in zip(rows, result.reaches, strict=True):
        assert reach.vertices.tolist() == np.flatnonzero(row <= limit).tolist()
        assert reach.distances.tolist() == row[row <= limit].tolist()


@pytest.mark.parametrize("options", [{"prepare": True}, {"reverse": True}, {}])
def test_many_sources_at_once_of_an_open_graph(device: str, options: dict[str, bool]) -> None:
    graph = random_graph(300, 900, seed=5, greatest=20)
    sources = np.random.default_rng(6).integers(0, 300, 40).tolist()
    with groute_py.open(graph, device=device, **options) as solver:
        wide, narrow = (solver.isochrone(sources, [limit], each=True) for limit in (40, 8))
        alone = [solver.isochrone([source], [40]).reaches[0] for source in sources]
    for one, reach, near in zip(alone, wide.reaches, narrow.reaches, strict=True):
        assert reach.vertices.tolist() == one.vertices.tolist()
        assert reach.distances.tolist() == one.distances.tolist()
        assert near.vertices.tolist() == one.vertices[one.distances <= 8].tolist()


def test_as_networkx_has_it(device: str) -> None:
    graph = random_graph(80, 200, seed=4, greatest=9)
    arcs = nx.DiGraph()
    arcs.add_nodes_from(range(80))
    tails = np.repeat(np.arange(80), np.diff(graph.offsets)).tolist()
    for tail, head, weight in zip(tails, graph.heads.tolist(), graph.weights.tolist(), strict=True):
        if not arcs.has_edge(tail, head) or arcs[tail][head]["weight"] > weight:
            arcs.add_edge(tail, head, weight=weight)
    result = groute_py.isochrone(graph, [3, 50], [8, 15], each=True, device=device)
    assert result is not None
    for reach in result:
        wanted = nx.ego_graph(arcs, reach.source, radius=15, distance="weight")
        assert reach.vertices.tolist() == sorted(wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats(device: str, dtype: str) -> None:
    graph = random_graph(60, 180, seed=2, greatest=9).with_weights(
        np.random.default_rng(3).random(180).astype(dtype)
    )
    result = groute_py.isochrone(graph, [0, 7], [0.25, 0.75], device=device)
    assert result is not None
    row = rows_from(graph, [0, 7]).min(axis=0)
    near = np.abs(row[:, np.newaxis] - [0.25, 0.75]).min()
    assert near > 1e-5  # so that rounding decides nothing
    assert result.reaches[0].vertices.tolist() == np.flatnonzero(row <= 0.75).tolist()
    np.testing.assert_allclose(result.reaches[0].distances, row[row <= 0.75], rtol=1e-5)


def test_the_least_weights(device: str) -> None:
    """A limit is more of them than floats count."""
    graph = graph_of(3, [(0, 1, 5e-324), (1, 2, 8)], "float64")
    result = groute_py.isochrone(graph, [0], [4], device=device)
    assert result is not None
    assert result.pieces(result.reaches[0]).ends.tolist() == [1, 0.5]


def test_towards_the_sources(device: str) -> None:
    """Parts of arcs are those of the graph as it is, and end where paths go on."""
    graph = graph_of(3, [(0, 1, 4), (1, 2, 4)])
    result = groute_py.isochrone(graph, [2], [5], reverse=True, device=device)
    assert result is not None
    check(turned_round(graph), [2], replace(result, reverse=False), each=False)
    pieces = result.pieces(result.reaches[0])
    shown = zip(pieces.tails, pieces.heads, pieces.begins, pieces.ends, strict=True)
    assert sorted(tuple(map(float, part)) for part in shown) == [(0, 1, 0.75, 1), (1, 2, 0, 1)]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("each", [False, True])
def test_on_ranks(device: str, ranks: int, each: bool) -> None:
    graph, sources = random_graph(90, 250, seed=ranks, greatest=6), [80, 7, 7]
    done: list[tuple[int, int]] = []

    def work(channel: Any) -> Isochrones | None:
        opened = opened_on(channel, graph, device=device, predecessors=False)
        work = Work(lambda *n: done.append(n)) if channel.rank == 0 else Work()
        return opened.answer(IsochroneJob(sources, (5, 11), each), work)

    result, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    check(graph, sources, result, each=each)
    assert done[-1:] == ([(3, 3)] if each else [])


def test_ranks_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 0's disk fills up after two sources; one rank goes on with what two have found."""
    write_at_once(monkeypatch)
    graph, sources = random_graph(90, 250, seed=3, greatest=6), [80, 7, 7, 31]

    def work(channel: Any, *, resume: bool) -> Isochrones | None:
        keep = Store(tmp_path / "out.csv", "sources", resume=resume)
        opened = opened_on(channel, graph, device="cpu")
        with closing(keep):
            result = opened.answer(IsochroneJob(sources, (5, 11), each=True), Work(keep=keep))
            on_root(channel, keep.finish)
        assert len(keep.missing) == 2
        return result

    with monkeypatch.context() as change:
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        change.setattr(PartFile, "append", raising_at(3, PartFile.append, full))
        with pytest.raises(RunError, match=r"No space left .* --resume"):
            on_ranks(2, partial(work, resume=False))
    (result,) = on_ranks(1, partial(work, resume=True))
    check(graph, sources, result, each=True)
    assert listing(tmp_path) == []


class TestSolver:
    """`Solver.isochrone`."""

    def test_it_answers_as_the_function(self, device: str) -> None:
        graph = random_graph(60, 200, seed=3, greatest=9)
        for reverse in (False, True):
            with groute_py.open(graph, device=device, reverse=reverse) as solver:
                for each in (False, True):
                    result = solver.isochrone([4, 9], [7, 3], each=each)
                    assert result is not None
                    assert result.reverse == reverse
                    shown = turned_round(graph) if reverse else graph
                    check(shown, [4, 9], replace(result, reverse=False), each=each)

    def test_arcs_counted(self, device: str) -> None:
        graph = random_graph(60, 200, seed=3, greatest=9)
        with groute_py.open(graph, device=device, hops=True) as solver:
            result = solver.isochrone([4], 2)
        check(graph.with_unit_weights(), [4], result, each=False)

    def test_coordinates_of_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "it.gr").write_text("p sp 2 1\na 1 2 5\n")
        (tmp_path / "it.co").write_text("p aux sp co 2\nv 1 0 0\nv 2 1000000 0\n")
        with groute_py.open(tmp_path / "it.gr", device="cpu") as solver:
            before = solver.isochrone([1], [9])
            solver.update([4])
            with solver.with_weights([3]) as other:
                results = before, solver.isochrone([1], [9]), other.isochrone([1], [9])
        for result in results:
            assert result is not None
            assert result.places is not None
            assert result.places.coordinates.tolist() == [[0, 0], [1, 0]]

    def test_a_cutoff_is_refused(self) -> None:
        with (
            groute_py.open(graph_of(2, [(0, 1, 1)]), device="cpu", cutoff=3) as solver,
            pytest.raises(InputError, match=r"cutoff: not for isochrone"),
        ):
            solver.isochrone([0], [1])


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"sources": []}, "at least one vertex"),
        ({"sources": [4]}, "source 4 is not a vertex"),
        ({"sources": [0.5]}, "is no integer"),
        ({"limits": []}, "at least one number"),
        ({"limits": [3, 0]}, "more than 0"),
        ({"limits": [np.nan]}, "more than 0"),
        ({"limits": [np.inf]}, "more than 0"),
        ({"limits": "300"}, "is no amount"),
        ({"each": 1}, "each must be True or False"),
        ({"planar": True}, "has no coordinates"),
        ({"coordinates": [[0, 0]]}, "each of 3 vertices, not of 1"),
        ({"graph": ([0, 1, 1], [1], [-2])}, "arc 0 of graph has weight -2"),
        ({"limits": b"5min"}, "limit must be a number, not b'5min'"),
    ],
)
def test_wrong_arguments(changes: dict[str, Any], problem: str) -> None:
    given = {"graph": ([0, 1, 2, 2], [1, 2], [4, 4]), "sources": [0], "limits": [3], **changes}
    with pytest.raises(InputError, match=problem):
        groute_py.isochrone(device="cpu", **given)


def test_a_time_limit() -> None:
    graph = groute_py.generate("road:60x60")
    with pytest.raises(TimeLimitError):
        groute_py.isochrone(graph, [1700], 10**9, device="cpu", time_limit_s=1e-9)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_time_limit_is_of_all_sources(ranks: int) -> None:
    """Each of them takes a small part of it."""
    graph = random_graph(5000, 20000, seed=2, greatest=9)

    def work(channel: Channel) -> str:
        opened = opened_on(channel, graph, device="cpu", time_limit_s=0.3)
        with pytest.raises(TimeLimitError) as caught:
            opened.answer(IsochroneJob(np.arange(5000), (50,), each=True))
        return str(caught.value)

    (said,) = set(on_ranks(ranks, work))
    assert re.search(r"; [\d,]+ of 5,000 sources were done", said)
