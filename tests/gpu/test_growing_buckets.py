"""Buckets that grow, as on large dense graphs: on one GPU; on several in exchange_on_gpus.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support import as_large
from support.graphs import rmat_of
from support.skips import needs_gpu

from groute_py import Graph, sssp, verify
from groute_py.comm.base import SoloChannel
from groute_py.device.base import Buckets, alike
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.results.reference import reference_distances
from groute_py.source.whole import GraphSupply

pytestmark = needs_gpu

TYPES = ("int32", "int64", "float32", "float64")


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Buckets]:
    """What solves begin with."""
    from groute_py.device.cuda.sssp.device import CudaDevice

    as_large.grow_buckets(monkeypatch.setattr)
    start, seen = CudaDevice.start, []

    def note(self: Any, source: Any, buckets: Buckets, cutoff: float, **words: Any) -> None:
        seen.append(buckets)
        start(self, source, buckets, cutoff, **words)
        assert bool(self.parts.buffers.work["filter"][0]) == (buckets.first < buckets.widest)
        assert self.parts.buffers.work["far_few"][0] == 1

    monkeypatch.setattr(CudaDevice, "start", note)
    return seen


@pytest.mark.parametrize("predecessors", [True, False])
@pytest.mark.parametrize("weights", TYPES)
def test_answers_are_right(begun: list[Buckets], weights: str, predecessors: bool) -> None:
    graph = rmat_of(weights)
    source = int(np.argmax(np.diff(graph.offsets)))
    result = sssp(graph, source, device="cuda", predecessors=predecessors)
    np.testing.assert_array_equal(result.distances, reference_distances(graph, source))
    verify(graph, result)
    assert all(buckets.first < buckets.widest for buckets in begun)
    assert begun


@pytest.mark.usefixtures("begun")
@pytest.mark.parametrize("weights", TYPES)
@pytest.mark.parametrize("fold", [1, 2, 3])
def test_levels_that_share_a_byte(fold: int, weights: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.cuda.sssp import near_far

    graph = rmat_of(weights)
    monkeypatch.setattr(
        near_far, "fold_of", lambda own, _: fold if own == graph.vertex_count else 0
    )
    for source in (int(np.argmax(np.diff(graph.offsets))), 7):
        result = sssp(graph, source, device="cuda")
        np.testing.assert_array_equal(result.distances, reference_distances(graph, source))
        verify(graph, result)


@pytest.mark.parametrize(
    ("own", "fold"), [(0, 0), (16 << 20, 0), (17 << 20, 1), (64 << 20, 2), (1 << 31, 3)]
)
def test_the_filter_fits_in_a_third_of_l2(own: int, fold: int) -> None:
    from groute_py.device.cuda.sssp.near_far import fold_of

    assert fold_of(own, 48 << 20) == fold


@pytest.mark.usefixtures("begun")
def test_with_and_without_predecessors_by_turns() -> None:
    """Far is another list with them, and levels stay from one solve to the next."""
    graph = rmat_of("int32")
    with SourceSolver(
        GraphSupply(graph), SoloChannel(), Options(device="cuda", predecessors=False)
    ) as solver:
        for source in (0, 5, 9, 17):
            plan = solver._graph.plan
            options = replace(plan.options, predecessors=source % 2 == 1)
            solver._graph.plan = replace(plan, options=options)
            result = solver.sssp(source)
            np.testing.assert_array_equal(result.distances, reference_distances(graph, source))
            verify(graph, result)


def test_zero_weights_and_a_source_far_from_all(begun: list[Buckets]) -> None:
    graph = rmat_of("int32")
    count = graph.vertex_count
    heads = np.append(graph.heads, 0).astype(np.int32)
    weights = np.append(np.where(graph.weights < 90, 0, graph.weights), 10**6).astype(np.int32)
    long_way = Graph(np.append(graph.offsets, len(heads)), heads, weights)
    result = sssp(long_way, count, device="cuda")
    np.testing.assert_array_equal(result.distances, reference_distances(long_way, count))
    verify(long_way, result)
    assert begun[0].first < begun[0].widest


def test_a_width_that_is_asked_for_stays(begun: list[Buckets]) -> None:
    sssp(rmat_of("int32"), 0, device="cuda", delta=50)
    assert begun == [alike(50)]


@pytest.mark.usefixtures("begun")
@pytest.mark.parametrize(
    ("weights", "delta"), [("float32", 1e-6), ("float32", 1e-50), ("float64", 1e-15)]
)
def test_a_width_that_sums_swallow(weights: str, delta: float) -> None:
    """Each bucket holds where it begins, and nothing is looked for twice."""
    graph = rmat_of(weights)
    tenths = Graph(graph.offsets, graph.heads, (graph.weights * 1.1).astype(weights))
    result = sssp(tenths, 0, device="cuda", delta=delta, predecessors=False)
    np.testing.assert_array_equal(result.distances, reference_distances(tenths, 0))


def test_patience_widens_no_bucket(begun: list[Buckets], monkeypatch: pytest.MonkeyPatch) -> None:
    """A smaller Δ can be wider than the bucket that is open; what lies between is far."""
    from groute_py.device import delta_control
    from groute_py.device.cuda.sssp import near_far

    monkeypatch.setattr(delta_control, "PASSES", 0.1)  # so that it ends once
    monkeypatch.setattr(near_far, "SLICE_STEPS_ALONE", 1)
    path, weight = 200, 1000  # and ten vertices farther out, each with one behind it
    out = np.arange(path + 1, path + 11)
    tails = np.concatenate([np.arange(path), np.zeros(10, np.int64), out])
    heads = np.concatenate([np.arange(1, path + 1), out, out + 10]).astype(np.int32)
    weights = np.repeat([0, weight, 1], [path, 10, 10]).astype(np.int32)
    order = np.argsort(tails, kind="stable")
    offsets = np.append(0, np.cumsum(np.bincount(tails, minlength=path + 21)))
    graph = Graph(offsets, heads[order], weights[order])
    result = sssp(graph, 0, device="cuda", algorithm="delta-stepping", predecessors=False)
    assert begun[0].first < weight < begun[0].widest / delta_control.NARROWING
    np.testing.assert_array_equal(result.distances, reference_distances(graph, 0))


def test_no_wider_than_a_step_towards_targets(begun: list[Buckets]) -> None:
    graph = rmat_of("int32")
    sssp(graph, 0, device="cuda")
    result = sssp(graph, 0, device="cuda", targets=[graph.vertex_count // 2])
    assert begun[1].widest < begun[0].widest
    right = reference_distances(graph, 0)
    assert result.distances[graph.vertex_count // 2] == right[graph.vertex_count // 2]
