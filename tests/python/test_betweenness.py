"""Betweenness: by its definition on small graphs, on every device and number of ranks."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, random_graph
from support.local_ranks import on_ranks
from support.opening import opened_on
from support.path_counts import PathCounts
from support.skips import EMULATED, NO_GPU

from groute_py import Graph, InputError, RunError
from groute_py.centrality import betweenness, dependencies, edge_betweenness
from groute_py.centrality.dependencies import Accumulated, accumulate, accumulated, dependency_job
from groute_py.centrality.scores import estimated
from groute_py.comm.base import SoloChannel
from groute_py.engine.memory.gpus import SLOT_BYTES, source_bytes
from groute_py.engine.memory.host import bytes_of
from groute_py.graph.facts import Size
from groute_py.graph.generate import generate
from groute_py.many.opened import Work
from groute_py.system import memory_limits
from groute_py.system.threads import thread_count

EXAMPLES = 8 if EMULATED else 40


@st.composite
def countable(draw: st.DrawFn, greatest: int = 4) -> Graph:
    """Graphs in which arcs of weight 0 close no cycle: they lead to vertices of higher number."""
    graph = draw(graphs(greatest=greatest))
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    upward = tails < graph.heads
    weights = (graph.weights + ~upward).astype(np.int32)
    return Graph(graph.offsets, graph.heads, weights)


def shown(counts: list[Any]) -> Any:
    return pytest.approx([float(count) for count in counts], rel=1e-12, abs=1e-12)


@settings(max_examples=EXAMPLES)
@given(graph=countable(), endpoints=st.booleans(), data=st.data())
def test_vertices(device: str, graph: Graph, endpoints: bool, data: st.DataObject) -> None:
    weighted = data.draw(st.booleans())
    counts = PathCounts(graph if weighted else graph.with_unit_weights())
    every = list(range(graph.vertex_count))
    result = betweenness(graph, weighted=weighted, endpoints=endpoints, device=device)
    assert result is not None
    assert result.errors is None
    assert result.vertices.tolist() == every
    assert result.values.tolist() == shown(counts.betweenness(every, endpoints=endpoints))


def test_endpoints(device: str) -> None:
    """A path's begin and end count once for each path; so a source counts what it reaches."""
    path = graph_of(4, [(0, 1, 3), (1, 2, 1), (2, 3, 2)])
    for weighted in (True, False):
        result = betweenness(path, weighted=weighted, endpoints=True, device=device)
        assert result is not None
        assert result.values.tolist() == [3, 5, 5, 3]
        inner = betweenness(path, weighted=weighted, device=device)
        assert inner is not None
        assert inner.values.tolist() == [0, 2, 2, 0]
        one = betweenness(path, sources=[1], weighted=weighted, endpoints=True, device=device)
        assert one is not None
        assert (one.values / one.values[2]).tolist() == [0, 1, 1, 0.5]


@settings(max_examples=EXAMPLES)
@given(graph=countable(), weighted=st.booleans())
def test_arcs(device: str, graph: Graph, weighted: bool) -> None:
    """Parallel arcs that are equally light have equal parts, heavier ones and loops nothing."""
    taken = graph if weighted else graph.with_unit_weights()
    counts = PathCounts(taken)
    expected = counts.edge_betweenness(list(range(graph.vertex_count)))
    result = edge_betweenness(graph, weighted=weighted, device=device)
    assert result is not None
    arcs = list(zip(result.tails.tolist(), result.heads.tolist(), strict=True))
    assert result.heads.tolist() == graph.heads.tolist()
    lightest = [
        u != v and w == counts.arcs[u, v]
        for (u, v), w in zip(arcs, taken.weights.tolist(), strict=True)
    ]
    sharing = [pair for pair, is_light in zip(arcs, lightest, strict=True) if is_light]
    values = [
        expected[pair] / sharing.count(pair) if is_light else 0
        for pair, is_light in zip(arcs, lightest, strict=True)
    ]
    assert result.values.tolist() == shown(values)


@settings(max_examples=EXAMPLES)
@given(graph=countable(), data=st.data())
def test_some_sources(device: str, graph: Graph, data: st.DataObject) -> None:
    """The sums over sources, scaled; and the errors of drawing them."""
    count = graph.vertex_count
    sources = data.draw(st.lists(st.integers(0, count - 1), min_size=1, unique=True))
    result = betweenness(graph, sources=sources, device=device)
    assert result is not None
    counts = PathCounts(graph)
    if len(sources) == count:
        assert result.values.tolist() == shown(counts.betweenness(sources))
        assert result.errors is None
        return
    assert result.errors is not None
    for vertex in range(count if count > 2 else 0):
        others = [source for source in sources if source != vertex]
        each = np.array([float(counts.betweenness([source])[vertex]) for source in others])
        mean = each.mean() if others else np.nan
        assert result.values[vertex] == pytest.approx((count - 1) * mean, rel=1e-9, nan_ok=True)
        drawn, spread = len(others), each.std(ddof=1) if len(others) > 1 else np.nan
        error = (count - 1) * np.sqrt((1 - drawn / (count - 1)) / max(drawn, 1)) * spread
        assert result.errors[vertex] == pytest.approx(error, rel=1e-6, abs=1e-6, nan_ok=True)


def test_a_normalized_estimate_is_at_most_1() -> None:
    """Of a star from one leaf: the hub is on all of its paths, and of the leaf nothing is known."""
    star = graph_of(5, [ends for leaf in range(1, 5) for ends in ((0, leaf, 1), (leaf, 0, 1))])
    result = betweenness(star, sources=[1], normalized=True, device="cpu")
    assert result is not None
    assert result.values.tolist() == pytest.approx([1, np.nan, 0, 0, 0], nan_ok=True)


def test_inner_vertices(device: str) -> None:
    """All betweenness together is what the pairs' paths have of inner vertices on average."""
    count = 60 if device == "cpu" else 40
    graph = random_graph(count, 3 * count, seed=5, greatest=5)
    graph = Graph(graph.offsets, graph.heads, graph.weights + 1)
    for weighted in (True, False):
        result = betweenness(graph, weighted=weighted, device=device)
        assert result is not None
        counts = PathCounts(graph if weighted else graph.with_unit_weights())
        assert result.values.sum() == pytest.approx(float(counts.inner_vertices()), rel=1e-12)


def sums(
    channel: Any, graph: Graph, device: str, sources: Any = None, **more: Any
) -> Accumulated | None:
    opened = opened_on(channel, graph, device=device, hops=not more.pop("weighted", True))
    return accumulated(opened, sources, errors=True, **more)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_the_same_bits_on_ranks(device: str, ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of integer and of float weights, on each device, for vertices and for arcs."""
    monkeypatch.setattr(dependencies, "SUMMED_AT_ONCE", 7)
    graph = random_graph(60, 240, seed=ranks, greatest=3)
    whole = Graph(graph.offsets, graph.heads, graph.weights + 1)
    floats = Graph(graph.offsets, graph.heads, (whole.weights * np.float32(0.1)))
    some = np.arange(0, 60, 2)
    for given_graph in (whole, floats):
        for by_arc in (False, True):
            alone = sums(SoloChannel(), given_graph, "cpu", some, by_arc=by_arc)
            first, *others = on_ranks(
                ranks,
                lambda channel, g=given_graph, b=by_arc: sums(channel, g, device, some, by_arc=b),
            )
            assert others == [None] * (ranks - 1)
            assert alone is not None
            assert first is not None
            assert first.totals.tolist() == alone.totals.tolist()
            assert first.squares is not None
            assert alone.squares is not None
            assert first.squares.tolist() == alone.squares.tolist()


def test_each_rank_adds_a_part_of_the_sums() -> None:
    """Rank 0 receives the sums of all vertices once, however many ranks there are."""
    graph, lengths = random_graph(60, 240, seed=1, greatest=3).with_unit_weights(), []

    def work(channel: Any) -> Accumulated | None:
        collect = channel.collect

        def collected(array: Any) -> Any:
            lengths.append(len(array))
            return collect(array)

        channel.collect = collected
        return sums(channel, graph, "cpu")

    assert on_ranks(4, work)[0] is not None
    assert max(lengths) == 2 * 60 // 4


def test_long_rows(device: str) -> None:
    """Rows that a whole block takes, and more of them than it can queue."""
    hubs, leaves = 70, 300
    arcs = [
        (hub, hubs + leaf, 1 + (hub + leaf) % 2) for hub in range(hubs) for leaf in range(leaves)
    ]
    arcs += [(hubs + leaf, (leaf * 7) % hubs, 1) for leaf in range(leaves)]
    graph = graph_of(hubs + leaves, arcs)
    sources = np.arange(3)
    result = sums(SoloChannel(), graph, device, sources)
    expected = sums(SoloChannel(), graph, "cpu", sources)
    assert result is not None
    assert expected is not None
    assert result.totals.tolist() == expected.totals.tolist()
    assert result.totals.sum() > 0


def ladder(steps: int) -> Graph:
    """A path of squares, with 2 ** steps shortest paths from end to end."""
    arcs = []
    for step in range(steps):
        near, left, right, far = (3 * step + k for k in range(4))
        arcs += [(near, left, 1), (near, right, 1), (left, far, 1), (right, far, 1)]
    return graph_of(3 * steps + 1, arcs)


def test_more_paths_than_floats_count_exactly(device: str) -> None:
    result = betweenness(ladder(60), sources=[0], device=device)
    assert result is not None
    assert result.statistics["most_paths"] == 2.0**60
    assert not result.statistics["exact_counts"]
    others, beyond = 180, 3 * 59 + 1  # half of the paths to each of these lead over one side
    assert result.values[1] == result.values[2] == others * beyond / 2


def test_more_paths_than_floats_hold(device: str) -> None:
    with pytest.raises(RunError, match=r"more than 1\.8e308 shortest paths"):
        betweenness(ladder(1030), sources=[0], device=device)


def test_a_cycle_of_weight_zero(device: str) -> None:
    graph = graph_of(4, [(0, 1, 2), (1, 2, 0), (2, 3, 0), (3, 1, 0)])
    with pytest.raises(InputError, match="a cycle of weight 0, 1 → 2 → 3 → 1, around"):
        betweenness(graph, device=device)
    assert betweenness(graph, weighted=False, device=device) is not None


def test_a_cycle_that_rounding_makes(device: str) -> None:
    graph = graph_of(3, [(0, 1, 1e20), (1, 2, 1.0), (2, 1, 1.0)], "float64")
    with pytest.raises(RunError, match="lost in rounding"):
        betweenness(graph, device=device)


def test_weights_that_rounding_loses(device: str) -> None:
    """Arcs that are level though their weights are not 0."""
    graph = graph_of(4, [(0, 2, 1e20), (0, 1, 1e20), (1, 2, 1.0), (2, 3, 1.0)], "float64")
    result = betweenness(graph, device=device)
    assert result is not None
    assert result.values.tolist() == [0.0, 1.0, 2.0, 0.0]


def test_negative_weights() -> None:
    with pytest.raises(InputError, match="negative weight, with which betweenness is not defined"):
        betweenness(graph_of(2, [(0, 1, -1)]), device="cpu")
    assert betweenness(graph_of(2, [(0, 1, -1)]), weighted=False, device="cpu") is not None


def test_distances_beyond_32_bits(device: str) -> None:
    great = 2**31 - 2
    graph = graph_of(4, [(0, 1, great), (1, 2, great), (2, 3, 5)])
    result = betweenness(graph, device=device)
    assert result is not None
    assert result.values.tolist() == [0.0, 2.0, 2.0, 0.0]


def test_distances_beyond_64_bits(device: str) -> None:
    graph = graph_of(3, [(0, 1, 2**62), (1, 2, 2**62)], "int64")
    with pytest.raises(RunError, match="does not fit in int64"):
        betweenness(graph, device=device)


def test_sums_beyond_64_bits_that_nobody_needs(device: str) -> None:
    great = 2**63 - 2
    arcs = [(0, 1, 5), (0, 2, 6), (1, 2, great), (2, 1, great), (3, 0, 7)]
    result = betweenness(graph_of(4, arcs, "int64"), device=device)
    assert result is not None
    assert result.values.tolist() == [2.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_vertices(device: str, count: int) -> None:
    graph = graph_of(count, [(u, v, 1) for u, v in pairwise(range(count))])
    for normalized in (False, True):
        result = betweenness(graph, normalized=normalized, device=device)
        assert result is not None
        scale = 2 if normalized else 1
        assert result.values.tolist() == [
            1 / scale if 0 < v < count - 1 else 0 for v in range(count)
        ]
        arcs = edge_betweenness(graph, normalized=normalized, device=device)
        assert arcs is not None
        assert len(arcs.values) == count - 1


def test_a_source_that_is_given_twice() -> None:
    with pytest.raises(InputError, match="source 1 is given 2 times"):
        betweenness(graph_of(3, [(0, 1, 1)]), sources=[1, 0, 1], device="cpu")


def test_a_graph_without_vertices() -> None:
    with pytest.raises(InputError, match="no vertices"):
        betweenness(graph_of(0, []), device="cpu")


def test_memory_that_does_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 100)
    with pytest.raises(InputError, match=r"take [\d,]+ bytes, and 100 bytes of memory are free"):
        betweenness(graph_of(3, [(0, 1, 1)]), device="cpu")


def test_a_cycle_of_weight_zero_that_no_source_reaches(device: str) -> None:
    graph = graph_of(5, [(0, 1, 2), (1, 2, 1), (3, 4, 0), (4, 3, 0), (3, 1, 0)])
    result = betweenness(graph, sources=[0, 1, 2], device=device)
    assert result is not None
    assert result.values.tolist()[3:] == [0, 0]
    with pytest.raises(InputError, match="a cycle of weight 0, 3 → 4 → 3, around"):
        betweenness(graph, sources=[0, 4], device=device)


def test_sums_that_rank_0_cannot_collect(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused on all ranks before any of them solves."""
    monkeypatch.setattr(memory_limits, "available_bytes", lambda: 4700)
    monkeypatch.setattr(dependencies, "_opened", None)
    graph = random_graph(100, 300, seed=1, greatest=9)

    def work(channel: Any) -> str:
        with pytest.raises(InputError) as caught:
            accumulated(opened_on(channel, graph, device="cpu"), None)
        return str(caught.value)

    (says,) = set(on_ranks(3, work))
    assert "from 3 ranks take 4,800 bytes, and 4,700 bytes of memory are free" in says


@pytest.mark.parametrize("by_arc", [False, True])
def test_memory_as_planned(by_arc: bool) -> None:
    """What a run takes at most is not more than what the plan says, nor much less."""
    graph = generate("road:80x80")
    some = np.arange(8)
    opened = opened_on(SoloChannel(), graph, device="cpu")
    job = dependency_job(opened, some, by_arc=by_arc, errors=True)
    accumulate(SoloChannel(), job)
    size = Size(graph.vertex_count, graph.arc_count)
    sums = 2 * (size.arcs if by_arc else size.vertices)
    planned = bytes_of("betweenness", size, threads=min(thread_count(), 8), sums=sums)
    tracemalloc.start()
    accumulate(SoloChannel(), job)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.5 < taken / planned <= 1.05


@pytest.mark.gpu
def test_memory_of_a_gpu_as_planned() -> None:
    if NO_GPU is not None:
        pytest.skip(NO_GPU)
    from groute_py.device.cuda.multi_source.dependencies import slot_bytes
    from groute_py.device.cuda.multi_source.graph import CudaGraph
    from groute_py.device.cuda.multi_source.rows import batch_method

    graph, kind = random_graph(5000, 9000, seed=1, greatest=9), np.dtype(np.int32)
    method = batch_method(CudaGraph(graph, kind, 0))
    taken = sum(method.scratch) + method.shared + 5000 * kind.itemsize
    assert source_bytes(5000, kind) == taken
    assert 0 <= slot_bytes(5000) - SLOT_BYTES * 5000 <= 20
    with pytest.raises(InputError, match=r"on a GPU take [\d,]+ bytes, and 1,000 bytes"):
        betweenness(graph, device="cuda", memory_limit=1000)


def test_words_that_there_are_not() -> None:
    with pytest.raises(TypeError, match=r"betweenness\(\) got an unexpected keyword .* 'reverse'"):
        betweenness(graph_of(1, []), reverse=True)
    with pytest.raises(TypeError, match="'depth'"):
        betweenness(graph_of(1, []), depth=3)


def test_the_device_by_the_work() -> None:
    if NO_GPU is not None:
        pytest.skip(NO_GPU)
    small = sums(SoloChannel(), graph_of(3, [(0, 1, 1)]), "auto")
    assert small is not None
    assert small.label.startswith("cpu")


def test_progress() -> None:
    done: list[tuple[int, int]] = []
    graph = random_graph(50, 100, seed=1, greatest=1)
    opened = opened_on(SoloChannel(), graph, device="cpu", hops=True)
    result = accumulated(opened, None, Work(lambda *both: done.append(both)))
    assert result is not None
    assert done[-1] == (50, 50)
    assert estimated(result, normalized=True)[1] is None
