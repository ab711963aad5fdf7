"""Deferred arcs that are pulled, as on large dense graphs: on one GPU; on several in
exchange_on_gpus.py."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support import as_large
from support.graphs import random_graph, rmat_of
from support.skips import needs_gpu

from groute_py import Graph, Result, generate, verify
from groute_py.comm.base import SoloChannel
from groute_py.engine.algorithms import delta_stepping
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.kernels.source import BLOCK, ROW_CHUNK, SOLVE, VERTEX_BITS
from groute_py.results.reference import reference_distances
from groute_py.source.whole import GraphSupply

pytestmark = needs_gpu

DEAD_END = 15
"""The weight class of an arc from whose head none leads on."""

TYPES = ("int32", "uint32", "int64", "float32", "float64")


@pytest.fixture(autouse=True)
def pulling(monkeypatch: pytest.MonkeyPatch) -> None:
    as_large.pull_deferred_arcs(monkeypatch.setattr)


def check(graph: Graph, sources: list[int], *, back: bool | None = None, **words: Any) -> None:
    """Distances and trees of some sources."""
    options = Options(device="cuda", **words)
    with SourceSolver(GraphSupply(graph), SoloChannel(), options) as solver:
        for source in sources:
            result = solver.sssp(source)
            assert result is not None
            np.testing.assert_array_equal(result.distances, reference_distances(graph, source))
            verify(graph, result)
            device: Any = solver._graph.device
            assert device.label.endswith(", prepared") or not device.parts.graph.terms.pulls
            answer = device.parts.predecessors
            if answer.recording and graph.weights.all():  # along weight 0 a record may be overtaken
                assert answer.unrecorded == 0
            if back is not None:
                assert device.parts.buffers.work["pull_from_arcs"][0] == 1
                arrays = device.parts.graph.arrays
                assert back == (arrays["in_arcs"] is arrays["arcs"])


@pytest.fixture(params=["local", "grid"])
def steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Block-local ones, as on small graphs, or grid-wide ones, which go by weight classes."""
    if request.param == "grid":
        as_large.take_grid_steps(monkeypatch)


@pytest.mark.usefixtures("steps")
@pytest.mark.parametrize("predecessors", [True, False])
@pytest.mark.parametrize("weights", TYPES)
def test_answers_are_right(weights: str, predecessors: bool) -> None:
    graph = rmat_of(weights)
    hub = int(np.argmax(np.diff(graph.offsets)))
    check(graph, [hub, 7], back=True, predecessors=predecessors)


@pytest.mark.usefixtures("steps")
@pytest.mark.parametrize("seed", range(12))
def test_graphs_of_many_kinds(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 600))
    arcs = int(random.integers(0, 20 * count))
    greatest = (2, 1, 5, 30, 1000, 2**31 - 2)[seed % 6]
    graph = random_graph(count, arcs, seed, greatest)
    check(graph, [int(random.integers(count))])


@pytest.mark.usefixtures("steps")
@pytest.mark.parametrize("below", [0.01, 0.1, 0.5])
def test_buckets_that_are_too_wide_follow(below: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """So arcs are pulled once or twice, and then relaxed."""
    monkeypatch.setattr(delta_stepping, "PULL_BELOW", below)
    graph = generate("rmat:11,12", seed=9)
    check(graph, [int(np.argmax(np.diff(graph.offsets))), 5], back=True)


@pytest.mark.parametrize("predecessors", [True, False])
def test_answers_stay_on_the_gpu_by_other_numbers(predecessors: bool) -> None:
    """Without a tree nobody has written where predecessors lie: they are not brought."""
    graph = rmat_of("int32")
    options = Options(device="cuda", predecessors=predecessors, download=False)
    with SourceSolver(GraphSupply(graph), SoloChannel(), options) as solver:
        device: Any = solver._graph.device
        assert device.parts.order is not None
        results = []
        for source in (3, 100):
            with device.gpu.stream:  # before the solve
                device.parts.buffers.arrays["parent"].fill(1 << 40)
            results.append((source, solver.sssp(source)))
        for source, result in results:
            assert result is not None
            np.testing.assert_array_equal(result.distances, reference_distances(graph, source))
            verify(graph, result)
            assert (result.predecessors is None) == (not predecessors)


def test_arcs_that_lead_one_way_are_turned_round() -> None:
    graph = rmat_of("int32")
    weights = graph.weights.copy()
    weights[np.flatnonzero(graph.heads > 3)[0]] += 1  # as much as could be missed
    check(Graph(graph.offsets, graph.heads, weights), [0, 5], back=False)


@pytest.mark.parametrize("weights", ["int32", "float32", "float64"])
def test_weight_classes_bound_the_lightest_arc(
    weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each against all arcs from its head but those back: true, and no lower than has to be."""
    from groute_py.device.cuda.graph import degree_order

    monkeypatch.setattr(degree_order, "MIXED_AT_ONCE", 50)
    whole = rmat_of(weights)
    lighter = (whole.weights - 1) if weights == "int32" else (whole.weights - 1) / 64
    graph = Graph(whole.offsets, whole.heads, lighter.astype(weights))
    with SourceSolver(GraphSupply(graph), SoloChannel(), Options(device="cuda")) as solver:
        device: Any = solver._graph.device
        rows = device.parts.graph
        arcs, unit = rows.arrays["arcs"].get(), rows.unit
        offsets, order = rows.arrays["offsets"].get(), device.parts.order.vertices.get()
    words = arcs.view(np.uint32).reshape(graph.arc_count, -1)[:, np.dtype(weights).itemsize // 4]
    degrees = np.diff(offsets.astype(np.int64))
    tails = order[np.repeat(np.arange(graph.vertex_count), degrees)]
    parts = np.split(degrees, range(50, graph.vertex_count, 50))
    assert all(hubs.min() >= others.max() for hubs, others in pairwise(parts))
    assert (np.diff(parts[0]) > 0).any()  # and mixed
    heads, classes = order[words & (1 << VERTEX_BITS) - 1], words >> VERTEX_BITS
    seen = set()
    for tail, head, weight_class in zip(tails, heads, classes, strict=True):
        row = slice(graph.offsets[head], graph.offsets[head + 1])
        onward = graph.weights[row][graph.heads[row] != tail]
        seen.add(weight_class)
        if weight_class == DEAD_END:
            assert not len(onward)
        else:
            assert least_weight(weight_class) * unit <= onward.min()
            assert (
                weight_class == DEAD_END - 1 or onward.min() < least_weight(weight_class + 1) * unit
            )
    assert {0, DEAD_END} <= seen
    assert len(seen) > 8


def least_weight(weight_class: int) -> float:
    """1, 2, 3, 4, 6, 8, 12 and so on; nothing is known of the lowest class."""
    return [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128][weight_class]


def test_rows_of_many_parts() -> None:
    """A hub of 5,000 arcs that is reached late, one that is reached early, and a chain between."""
    leaves = 5000
    count = 2 * leaves + 10
    tails = [np.zeros(leaves, int), np.arange(1, 9), np.full(leaves, 9)]
    heads = [np.arange(10, leaves + 10), np.arange(2, 10), np.arange(leaves + 10, count)]
    weights = [np.arange(leaves) % 97, np.full(8, 3), np.arange(leaves) % 89]
    joined = [np.concatenate(columns) for columns in (tails, heads, weights)]
    joined = [np.append(column, word) for column, word in zip(joined, (0, 1, 2), strict=True)]
    edges = [np.concatenate(pair) for pair in ((joined[0], joined[1]), (joined[1], joined[0]))]
    order = np.argsort(edges[0], kind="stable")
    offsets = np.searchsorted(edges[0][order], np.arange(count + 1))
    graph = Graph.from_arrays(offsets, edges[1][order], np.tile(joined[2], 2)[order])
    check(graph, [0, 9, leaves + 20], back=True)


@pytest.mark.usefixtures("steps")
@pytest.mark.parametrize("weights", TYPES)
@pytest.mark.parametrize("share", [12, 24, 48])
def test_much_is_due_once_long_rows_are_cut(
    weights: str, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then arcs are left from the middle of a step on."""
    from groute_py.device.cuda.sssp import near_far

    graph = rmat_of(weights)
    degrees = np.diff(graph.offsets)
    hub, least = int(np.argmax(degrees)), graph.arc_count // share
    assert degrees[hub] > 4 * ROW_CHUNK  # in five chunks
    assert degrees.mean() < least < 5 * ROW_CHUNK
    monkeypatch.setattr(near_far, "PULL_SHARE", share)
    beside = graph.heads[graph.offsets[hub] : graph.offsets[hub + 1]]
    check(graph, [hub, int(beside[np.argmin(degrees[beside])]), 7], back=None)


@pytest.mark.usefixtures("steps")
@pytest.mark.parametrize("weights", TYPES)
def test_what_a_hub_brings_that_was_relaxed_in_part(
    weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hub and a vertex beside it are near together, and lead to the same two, the hub on the
    shorter way: its long row is cut, and arcs are left from then on. So one of the two has to be
    reached by a part of that row, and the other, far away, to be pulled."""
    from groute_py.device.cuda.sssp import near_far

    hub, beside, close, far, leaves = 1, 2, 3, 4, 5 * ROW_CHUNK
    arcs = [(0, hub, 1), (0, beside, 1), (hub, close, 1500), (beside, close, 1501)]
    arcs += [(hub, far, 900_000), (beside, far, 900_001)]
    arcs += [(hub, 5 + leaf, 1000 + leaf % 97) for leaf in range(leaves)]
    tails, heads, column = (np.array(values) for values in zip(*arcs, strict=True))
    order = np.argsort(tails, kind="stable")
    offsets = np.searchsorted(tails[order], np.arange(5 + leaves + 1))
    graph = Graph(offsets, heads[order].astype(np.int32), column[order].astype(weights))
    monkeypatch.setattr(near_far, "PULL_SHARE", graph.arc_count // 100)
    check(graph, [0], back=None)


def test_nothing_is_pulled_along_a_tail() -> None:
    """Each pull would look at all of another component."""
    core, length = rmat_of("int32"), 300
    count = core.vertex_count
    inner = np.repeat(np.arange(count), np.diff(core.offsets)), core.heads
    links = np.arange(2 * count - 1, 2 * count + length - 1)  # from the other core's last vertex
    tails = np.concatenate([inner[0], inner[0] + count, links, links + 1])
    heads = np.concatenate([inner[1], inner[1] + count, links + 1, links])
    weights = np.concatenate([core.weights, core.weights, np.full(2 * length, 1000)])
    order = np.argsort(tails, kind="stable")
    offsets = np.searchsorted(tails[order], np.arange(2 * count + length + 1))
    graph = Graph.from_arrays(offsets, heads[order], weights[order].astype(np.int32))
    end = 2 * count - 1
    assert core.offsets[-1] > core.offsets[-2]  # it has arcs there
    with SourceSolver(GraphSupply(graph), SoloChannel(), Options(device="cuda")) as solver:
        result = solver.sssp(end)
        device: Any = solver._graph.device
        assert result is not None
        verify(graph, result)
        assert result.reached[-1]
        assert device.counters.relaxations < 10 * graph.arc_count


def bushy(arcs: list[tuple[int, int, float]], dtype: str) -> Graph:
    """These arcs, and so many others from 0, 1 and 4 to 59 that rows are not short."""
    filled = [(tail, head, 5) for tail in (0, 1, *range(4, 60)) for head in range(4, 60)]
    tails, heads, weights = (
        np.array(column) for column in zip(*sorted(filled + arcs), strict=True)
    )
    offsets = np.searchsorted(tails, np.arange(62))
    return Graph.from_arrays(offsets, heads, weights.astype(dtype))


def solved(graph: Graph) -> Result:
    options = Options(algorithm="delta-stepping", device="cuda")
    with SourceSolver(GraphSupply(graph), SoloChannel(), options) as solver:
        result = solver.sssp(0)
    assert result is not None
    return result


@pytest.mark.parametrize("first", [10**8, 10**9, 2 * 10**9])
def test_a_deferred_arc_whose_sum_does_not_fit(first: int) -> None:
    result = solved(bushy([(0, 1, first), (1, 2, 2**31 - 1 - first)], "int32"))
    assert result.statistics["distance_type"] == "int64"
    assert result.distances[[1, 2]].tolist() == [first, 2**31 - 1]


def test_a_deferred_arc_whose_sum_float32_does_not_hold() -> None:
    result = solved(bushy([(0, 1, 3e38), (1, 2, 3e38)], "float32"))
    assert result.distances[2] == pytest.approx(6e38)


def test_a_sum_that_does_not_fit_by_the_way() -> None:
    """Of a tail that gets nearer later, to a vertex that is reached then."""
    arcs = [(0, 1, 2 * 10**9), (0, 60, 10**7), (60, 0, 3), (0, 3, 25 * 10**6)]
    graph = bushy([*arcs, (3, 1, 25 * 10**6), (1, 2, 2 * 10**8)], "int32")
    result = solved(graph)
    np.testing.assert_array_equal(result.distances, reference_distances(graph, 0))
    assert result.statistics["distance_type"] == "int32"


def test_a_cutoff_and_targets() -> None:
    graph = rmat_of("int32")
    hub = int(np.argmax(np.diff(graph.offsets)))
    right = reference_distances(graph, hub)
    near = int(np.median(right[right < np.iinfo(np.int64).max]))
    for cutoff in (0, near):
        options = Options(device="cuda", cutoff=cutoff)
        with SourceSolver(GraphSupply(graph), SoloChannel(), options) as solver:
            result = solver.sssp(hub)
        assert result is not None
        np.testing.assert_array_equal(result.reached, right <= cutoff)
        np.testing.assert_array_equal(result.distances[result.reached], right[right <= cutoff])
    with SourceSolver(GraphSupply(graph), SoloChannel(), Options(device="cuda")) as solver:
        result = solver.sssp(hub, [3, 77])
    assert result is not None
    np.testing.assert_array_equal(result.distances[[3, 77]], right[[3, 77]])


@pytest.mark.parametrize("together", [1, 100, 1 << 25])
def test_rows_are_sorted_some_at_a_time(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import cupy as cp

    from groute_py.device.cuda.graph.csr import packed_arcs
    from groute_py.device.cuda.runtime import sort as sorting
    from groute_py.device.cuda.runtime.compile import kernels_of
    from groute_py.device.cuda.runtime.launch import Kernels

    monkeypatch.setattr(sorting, "SORTED_AT_ONCE", together)
    for name in ("int32", "float64"):
        graph, dtype = rmat_of(name), np.dtype(name)
        arcs = packed_arcs(graph.heads, graph.weights, dtype)
        kernels = Kernels(kernels_of(SOLVE, dtype, 0), BLOCK)
        sorting.sort_rows(kernels, cp.asarray(graph.offsets.astype(np.uint32)), arcs, dtype)
        fields = arcs.get().view(dtype).reshape(-1, 2)
        heads = arcs.get().view(np.uint32).reshape(graph.arc_count, -1)[:, dtype.itemsize // 4]
        for row in range(graph.vertex_count):
            part = slice(graph.offsets[row], graph.offsets[row + 1])
            order = np.argsort(graph.weights[part], kind="stable")
            np.testing.assert_array_equal(fields[part, 0], graph.weights[part][order])
            np.testing.assert_array_equal(heads[part], graph.heads[part][order])


def test_without_room_for_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.cuda.graph import degree_order

    graph = rmat_of("int32")
    monkeypatch.setattr(degree_order, "ANSWER_BYTES", 1 << 50)
    with SourceSolver(GraphSupply(graph), SoloChannel(), Options(device="cuda")) as solver:
        result = solver.sssp(7)
        device: Any = solver._graph.device
        assert device.parts.order is None
        assert device.label.endswith(", prepared")
    assert result is not None
    verify(graph, result)


def test_without_room_arcs_are_pushed(monkeypatch: pytest.MonkeyPatch) -> None:
    from groute_py.device.cuda.graph import csr

    graph = rmat_of("int32")
    monkeypatch.setattr(csr, "SPARE_BYTES", 1 << 50)
    with SourceSolver(GraphSupply(graph), SoloChannel(), Options(device="cuda")) as solver:
        result = solver.sssp(7)
        device: Any = solver._graph.device
        assert device.parts.buffers.work["pull_from_arcs"][0] == 0
        assert device.label.endswith(", without room to prepare")
    assert result is not None
    verify(graph, result)
