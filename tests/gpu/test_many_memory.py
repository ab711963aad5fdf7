"""Many sources, and matrices, on a GPU that has little memory."""

from __future__ import annotations

import gc
import re
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.graphs import random_graph, scipy_distances
from support.skips import needs_gpu

from groute_py import InputError, Result, apsp, generate, prepare, verify
from groute_py.comm.base import SoloChannel
from groute_py.device.summary import Wanted
from groute_py.engine.options import Options
from groute_py.many.choose import Choice
from groute_py.many.solve import Solving
from groute_py.results.distances import public_distances

pytestmark = needs_gpu

GRAPH = random_graph(300, 600, seed=1, greatest=1000)


@pytest.mark.parametrize("method", ["heap", "batch"])
def test_fewer_sources_at_once(method: str) -> None:
    gc.collect()
    sources = np.array([5, 299, 0, 5])
    more: dict[str, Any] = {"predecessors": True, "memory_limit": 37_000}
    rows = apsp(GRAPH, sources=sources, algorithm=method, device="cuda", **more)
    assert rows is not None
    assert rows.predecessors is not None
    for source, row, parents in zip(sources, rows.distances, rows.predecessors, strict=True):
        np.testing.assert_array_equal(row, scipy_distances(GRAPH, int(source)))
        verify(GRAPH, Result(int(source), row, parents.astype(np.int64)))
    said = re.search(r"(\d+) times \d+ sources under way", rows.statistics["device"])
    assert said is not None
    assert 1 <= int(said[1]) < 8


@pytest.mark.parametrize(("method", "at_once"), [("heap", 2), ("batch", 1)])
def test_not_even_one_block(method: str, at_once: int) -> None:
    problem = rf"{at_once} sources? at once, .* {method} takes, do not fit .* each needs [\d,]+"
    with pytest.raises(InputError, match=problem):
        apsp(GRAPH, sources=[0], algorithm=method, device="cuda", memory_limit=2_000)


def test_a_matrix_has_room_for_the_arcs_turned_round() -> None:
    from groute_py.device.cuda.multi_source.floyd.one_gpu import CudaFloyd
    from groute_py.device.cuda.multi_source.floyd.steps import Steps

    graph: Any = SimpleNamespace(type=np.dtype(np.int32), vertex_count=100, arc_count=400)
    bare = Steps(graph, None).matrix_bytes
    graph.incoming_bytes, graph.free_bytes = 1000, bare + 999
    assert CudaFloyd.fits(graph, predecessors=False)
    assert not CudaFloyd.fits(graph, predecessors=True)
    graph.free_bytes = bare + 1000
    assert CudaFloyd.fits(graph, predecessors=True)
    graph.arc_count, graph.incoming_bytes, graph.free_bytes = 10_000, 1 << 40, 1 << 30
    assert CudaFloyd.fits(graph, predecessors=True)  # by stages: it does not look at arcs


def test_as_many_rows_at_once_as_a_grid_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short rows of many sources, each of which has a row of blocks in the grid of summaries."""
    import cupy

    from groute_py.device.cuda.multi_source import summary
    from groute_py.device.cuda.multi_source.graph import CudaGraph
    from groute_py.device.cuda.multi_source.rows import CudaRows, batch_method

    graph = CudaGraph(random_graph(16, 40, seed=1, greatest=9), np.dtype(np.int32), 0)
    rows = CudaRows(graph, batch_method(graph), 1, predecessors=False)
    assert rows._chunk_rows(1 << 20) <= 65_535

    def pending(_: object, rows: Any, sources: Any) -> Any:
        return SimpleNamespace(result=lambda first: (first, len(rows), len(sources)))

    monkeypatch.setattr(summary, "Pending", pending)
    stream, sources = cupy.cuda.Stream(non_blocking=True), np.zeros(70_000, np.int64)
    pieces = list(summary.summarized(graph, stream, sources, lambda *_: None, Wanted()))
    assert pieces == [(0, 65_535, 65_535), (65_535, 4_465, 4_465)]


@pytest.mark.parametrize("targets", [None, np.array([4])])
def test_no_sources(targets: Any) -> None:
    from groute_py.device.cuda.multi_source.floyd.one_gpu import CudaFloyd
    from groute_py.device.cuda.multi_source.graph import CudaGraph

    floyd = CudaFloyd(CudaGraph(GRAPH, np.dtype(np.int32), 0), 1000, predecessors=False)
    assert not list(floyd.blocks(np.zeros(0, np.int64), targets))
    assert not list(floyd.summaries(np.zeros(0, np.int64), Wanted()))


def test_sweeps_that_stay_have_room_for_whole_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else another method takes over when they open, even for few targets; never later."""
    from groute_py.device.cuda.hierarchy import sweeps
    from groute_py.device.cuda.hierarchy.memory_plan import levels_bytes_in
    from groute_py.device.cuda.multi_source.graph import CudaGraph

    road = prepare(generate("road:60x60"), device="cpu")
    hierarchy, sources = road.hierarchy, np.array([3])
    assert hierarchy is not None
    room = levels_bytes_in(hierarchy, np.dtype(np.int32)) - 1
    monkeypatch.setattr(CudaGraph, "free_bytes", room)
    monkeypatch.setattr(sweeps, "MEMORY_SHARE", 100)  # room for batches is not in question
    options, swept = Options(device="cuda", predecessors=False), Choice("sweep", "cuda", "")
    solving = Solving(road, None, options, swept, SoloChannel(), stays=True)
    expected = scipy_distances(road, 3)
    for targets in (np.array([4]), np.arange(3600), None):
        (block,) = solving.blocks(sources, targets)
        result = public_distances(block.distances)[0]
        np.testing.assert_array_equal(result, expected[targets].ravel())
    assert not solving.is_open


@pytest.mark.parametrize("ends", ["all", "early"])
def test_dependencies_keep_no_memory_of_lanes(ends: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is saved now and then asks for many slices of its sources."""
    from groute_py.device.cuda.multi_source import rows
    from groute_py.device.cuda.multi_source.dependencies import CudaDependencies
    from groute_py.device.cuda.multi_source.graph import CudaGraph
    from groute_py.device.dependencies import Accumulation

    made = list[weakref.ref[Any]]()

    class Lane(rows.Lane):
        def __init__(self, *words: Any) -> None:
            super().__init__(*words)
            made.append(weakref.ref(self))

    monkeypatch.setattr(rows, "Lane", Lane)
    graph = CudaGraph(generate("road:12x12"), np.dtype(np.int32), 0, None)
    solver = CudaDependencies(graph, 5.0, Accumulation())
    adding = solver.add(np.arange(20))
    if ends == "early":
        next(adding)
        adding.close()
    else:
        assert list(adding)[-1] == 20
    del adding
    gc.collect()
    assert made
    assert not any(lane() for lane in made)


def test_page_locked_memory_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    import cupy as cp
    from cupy.cuda import runtime

    from groute_py.device.cuda.runtime.pinned import empty_pinned

    class Refused(runtime.CUDARuntimeError):
        def __init__(self, status: int) -> None:
            RuntimeError.__init__(self, "refused")
            self.status = status

    def refused(status: int) -> Any:
        def alloc(_: int) -> Any:
            raise Refused(status)

        return alloc

    monkeypatch.setattr(cp.cuda, "alloc_pinned_memory", refused(2))
    with pytest.raises(MemoryError, match="4,000 bytes of page-locked host memory"):
        empty_pinned((10, 100), np.int32)
    monkeypatch.setattr(cp.cuda, "alloc_pinned_memory", refused(700))
    with pytest.raises(runtime.CUDARuntimeError):
        empty_pinned(10, np.int32)
