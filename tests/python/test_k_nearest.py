"""The k nearest facilities of each vertex, against brute force, on every device and rank count."""

from __future__ import annotations

import csv
import errno
import math
import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph
from support.keeping import raising_at, row_by_row, write_at_once
from support.kept_rows import listing
from support.local_ranks import on_ranks
from support.opening import opened_on
from support.reference import check_path, rows_from, turned_round

import groute_py
from groute_py import (
    Graph,
    InputError,
    NearestFacilities,
    NegativeCycleError,
    RunError,
    TimeLimitError,
)
from groute_py.comm.agree import on_root
from groute_py.jobs import k_nearest
from groute_py.jobs.nearest import NearestJob
from groute_py.many.opened import Work
from groute_py.many.storage.store import PartFile, Store
from groute_py.system import memory_limits

ONES = ("batch", "floyd")
"""Methods of which the first is chosen if both take as long."""


def check(graph: Graph, facilities: list[int], k: int, result: NearestFacilities | None) -> None:
    """By sorting all distances, of which equal ones stay in the order of the facilities."""
    assert result is not None
    every = np.unique(facilities)
    rows = rows_from(turned_round(graph) if result.to_facility else graph, every)
    nothing = np.inf if rows.dtype.kind == "f" else np.iinfo(np.int64).max
    order = np.argsort(rows, axis=0, kind="stable")[:k]
    distances = np.take_along_axis(rows, order, axis=0).T
    owners = np.where(distances == nothing, -1, every[order.T])
    more = max(k - len(every), 0)
    wanted = np.pad(owners, [(0, 0), (0, more)], constant_values=-1)
    np.testing.assert_array_equal(result.facilities, wanted)
    lengths = np.pad(distances, [(0, 0), (0, more)], constant_values=nothing)
    np.testing.assert_array_equal(result.distances, lengths)
    check_paths(graph, result)


def check_paths(graph: Graph, result: NearestFacilities) -> None:
    """Each path leads over vertices of which its facility is one of the k nearest, too."""
    for (vertex, rank), owner in np.ndenumerate(result.facilities):
        if owner < 0:
            assert result.next[vertex, rank] == -1
            continue
        path, place = [vertex], rank
        while (after := int(result.next[path[-1], place])) >= 0:
            path.append(after)
            assert len(path) <= graph.vertex_count
            (place,) = np.flatnonzero(result.facilities[after] == owner)
        assert path[-1] == owner
        leads = path if result.to_facility else path[::-1]
        check_path(graph, leads, result.distances[vertex, rank])


@settings(max_examples=40)
@given(graph=graphs(greatest=3), to_facility=st.booleans(), k=st.integers(2, 6), data=st.data())
def test_against_brute_force(
    device: str, graph: Graph, to_facility: bool, k: int, data: st.DataObject
) -> None:
    """Small weights: many ties, arcs of weight 0, and cycles of them."""
    vertices = st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=8)
    facilities = data.draw(vertices)
    result = groute_py.nearest(graph, facilities, k=k, to_facility=to_facility, device=device)
    check(graph, facilities, k, result)


def test_vertices_by_several_threads(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(k_nearest, "VERTICES_AT_ONCE", 7)
    graph, facilities = random_graph(100, 250, seed=8, greatest=3), [3, 99, 50, 0, 12]
    check(graph, facilities, 3, groute_py.nearest(graph, facilities, k=3, device=device))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
@pytest.mark.parametrize("has_room", [True, False])
def test_rows_that_stay_on_the_device(
    device: str, dtype: str, has_room: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of a batch, which a GPU reduces itself if it has room."""
    monkeypatch.setattr("groute_py.many.choose.estimates", lambda *_, **__: dict.fromkeys(ONES, 1))
    if not has_room:
        monkeypatch.setattr(k_nearest.Smallest, "_room_on_gpu", lambda _: None)
    graph = random_graph(200, 500, seed=9, greatest=3, dtype=dtype)
    facilities = np.random.default_rng(2).choice(200, 40, replace=False).tolist()
    for k in (2, 5, 41):
        result = groute_py.nearest(graph, facilities, k=k, cutoff=math.inf, device=device)
        assert result is not None
        assert result.statistics["algorithm"] == "batch"
        check(graph, facilities, k, result)


def test_rows_that_stay_on_the_device_in_a_wider_type(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groute_py.many.choose.estimates", lambda *_, **__: dict.fromkeys(ONES, 1))
    graph = graph_of(4, [(0, 1, 3), (1, 2, 2**31 - 5), (2, 3, 2**31 - 2), (3, 0, 0)])
    check(graph, [3, 1, 0], 2, groute_py.nearest(graph, [3, 1, 0], k=2, device=device))


@settings(max_examples=20)
@given(graph=graphs(least=-2, greatest=9), to_facility=st.booleans())
def test_negative_weights(device: str, graph: Graph, to_facility: bool) -> None:
    facilities = [graph.vertex_count - 1, 0]
    cycle: list[int] = []
    try:
        result = groute_py.nearest(graph, facilities, k=2, to_facility=to_facility, device=device)
    except NegativeCycleError as error:
        cycle = [int(vertex) for vertex in error.cycle]
    for tail, head in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        graph.arc(tail, head)  # it leads along the arcs as they were given
    if cycle:
        return
    check(graph, facilities, 2, result)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats(device: str, dtype: str) -> None:
    random = np.random.default_rng(5)
    arcs = list(zip(*random.integers(0, 60, (2, 240)).tolist(), random.random(240), strict=True))
    result = groute_py.nearest(graph_of(60, arcs, dtype), [50, 3, 20, 9], k=3, device=device)
    assert result is not None
    assert result.distances.dtype == dtype
    rows = rows_from(graph_of(60, arcs, dtype), (3, 9, 20, 50))
    np.testing.assert_allclose(result.distances, np.sort(rows, axis=0)[:3].T, rtol=1e-5)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_on_ranks(device: str, ranks: int) -> None:
    graph = random_graph(70, 260, seed=ranks, greatest=4)
    facilities = np.array([60, 7, 33, 2, 41])

    def work(channel: Any) -> NearestFacilities | None:
        opened = opened_on(channel, graph, device=device)
        return opened.answer(NearestJob(facilities, 3, to_facility=True))

    first, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    check(graph, facilities.tolist(), 3, first)


def test_ranks_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 0's disk fills up after a block; one rank goes on with what two have taken in.

    A cutoff that is infinite is none.
    """
    write_at_once(monkeypatch)
    monkeypatch.setattr("groute_py.device.cpu.rows.BLOCK_BYTES", 1)
    graph, facilities = random_graph(70, 260, seed=3, greatest=4), np.arange(5, 65)

    def work(channel: Any, *, resume: bool) -> NearestFacilities | None:
        cutoff = None if resume else math.inf
        keep = Store(tmp_path / "out.csv", "facilities", resume=resume)
        opened = opened_on(channel, graph, device="cpu", cutoff=cutoff)
        with closing(keep):
            result = opened.answer(NearestJob(facilities, 3, to_facility=True), Work(keep=keep))
            on_root(channel, keep.finish)
        assert resume == (0 < len(keep.missing) < len(facilities))
        return result

    with monkeypatch.context() as change:
        full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        change.setattr(PartFile, "replace", raising_at(4, PartFile.replace, full))
        with pytest.raises(RunError, match=r"No space left .* --resume"):
            on_ranks(2, partial(work, resume=False))
    (result,) = on_ranks(1, partial(work, resume=True))
    check(graph, facilities.tolist(), 3, result)
    assert listing(tmp_path) == []


def test_a_prepared_graph_and_a_solver(device: str) -> None:
    road = groute_py.generate("road:15x15")
    town = groute_py.prepare(road, device="cpu")
    check(road, [3, 80, 200], 2, groute_py.nearest(town, [3, 80, 200], k=2, device=device))
    with groute_py.open(road, device=device, reverse=True) as solver:
        for to_facility in (False, True):
            check(road, [3, 80], 2, solver.nearest([80, 3], k=2, to_facility=to_facility))
    with groute_py.open(road, device=device, cutoff=9000) as solver:
        near, far = solver.nearest([3, 80], k=2), groute_py.nearest(road, [3, 80], k=2)
    assert near is not None
    assert far is not None
    kept = far.distances <= 9000
    assert 0 < kept.sum() < kept.size
    np.testing.assert_array_equal(near.facilities, np.where(kept, far.facilities, -1))
    np.testing.assert_array_equal(near.reached, kept)


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(30, 90, seed=1, greatest=9)
    for k in (0, -1, 1.5, 2**31, "2", None):
        with pytest.raises(InputError, match="k must be"):
            groute_py.nearest(graph, [1], k=k)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="facility 30 is not a vertex"):
        groute_py.nearest(graph, [30], k=2)
    with monkeypatch.context() as change:
        row_by_row(change)
        with pytest.raises(TimeLimitError, match="1 of 2 sources"):
            groute_py.nearest(graph, [1, 2], k=2, device="cpu", time_limit_s=1e-9)
    with pytest.raises(InputError, match="solve without it"):
        groute_py.nearest(graph_of(2, [(0, 1, -1)]), [0], k=2, cutoff=3)
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 100)
    with pytest.raises(InputError, match="2 facilities of each of 30 vertices take 2,700 bytes"):
        groute_py.nearest(graph, [1], k=2)


def test_files(tmp_path: Path) -> None:
    graph = graph_of(3, [(0, 1, 4), (1, 0, 1)])
    result = groute_py.nearest(graph, [0, 1], k=2, device="cpu")
    assert result is not None
    result.save(tmp_path / "k.npz")
    with np.load(tmp_path / "k.npz") as arrays:
        assert arrays["facilities"].tolist() == [[0, 1], [1, 0], [-1, -1]]
        assert arrays["next"].tolist() == [[-1, 1], [-1, 0], [-1, -1]]
    result.save(tmp_path / "k.csv")
    title, *lines = csv.reader((tmp_path / "k.csv").read_text().splitlines())
    assert title == ["vertex", "rank", "facility", "distance", "next"]
    assert lines[:3] == [
        ["0", "1", "0", "0", ""],
        ["0", "2", "1", "1", "1"],
        ["1", "1", "1", "0", ""],
    ]
    assert lines[4:] == [["2", "1", "", "inf", ""], ["2", "2", "", "inf", ""]]
