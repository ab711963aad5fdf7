"""Graphs of few levels on a GPU, from 32 sources at once: the numbers of the CPU and NetworkX."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import arcs_by_id, graph_of, graphs, random_graph
from support.local_ranks import on_ranks
from support.opening import opened_on, solver_on
from support.skips import EMULATED, NO_GPU, needs_gpu

from groute_py import Graph, generate
from groute_py.centrality import betweenness, closeness, eccentricity, edge_betweenness, harmonic
from groute_py.centrality.dependencies import accumulated
from groute_py.comm.base import SoloChannel
from groute_py.device.rows import MOST_LEVELS
from groute_py.device.summary import Wanted
from groute_py.engine.options import Options
from groute_py.graph.symmetrize import mirrored
from groute_py.many import choose
from groute_py.many.choose import Choice
from groute_py.many.solve import Solving

if NO_GPU is None:
    from groute_py.device.cuda.multi_source import levels

pytestmark = needs_gpu

EXAMPLES = 15 if EMULATED else 60

SUMS = [betweenness, edge_betweenness]

OF_ROWS = [closeness, harmonic, eccentricity]


@pytest.fixture(autouse=True)
def by_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose the method that searches level by level, also for graphs too small to be worth it."""
    monkeypatch.setattr(choose, "estimates", lambda *_, **__: {"batch": 1.0, "floyd": 2.0})


def both(function: Callable[..., Any], graph: Graph, sources: Any = None) -> tuple[Any, Any]:
    """The scores of an unweighted graph on a GPU, by levels if it has arcs, and on the CPU."""
    found, expected = (
        function(graph, sources=sources, weighted=False, device=device)
        for device in ("cuda", "cpu")
    )
    if any(tail != head for tail, head, _ in arcs_by_id(graph)):
        assert "sources at once" in found.statistics["device"]
    return found, expected


def check_equal(found: Any, expected: Any) -> None:
    """To the last bit, with the errors of samples."""
    np.testing.assert_array_equal(found.values, expected.values)
    assert (found.errors is None) == (expected.errors is None)
    if found.errors is not None:
        np.testing.assert_array_equal(found.errors, expected.errors)


def network_of(graph: Graph) -> Any:
    network = nx.DiGraph()
    network.add_nodes_from(range(graph.vertex_count))
    network.add_edges_from((u, v) for u, v, _ in arcs_by_id(graph) if u != v)
    return network


def hubs(count: int, leaves: int) -> Graph:
    """Hubs with an arc to and from each leaf, a loop, and a parallel arc to the first leaf."""
    ends = [(hub, count + leaf) for hub in range(count) for leaf in range(leaves)]
    ends += [(head, tail) for tail, head in ends]
    ends += [(hub, hub) for hub in range(count)] + [(hub, count) for hub in range(count)]
    return graph_of(count + leaves, [(*pair, 1) for pair in ends])


@settings(max_examples=EXAMPLES)
@given(graph=graphs(), symmetric=st.booleans(), data=st.data())
def test_small_graphs(graph: Graph, symmetric: bool, data: st.DataObject) -> None:
    """Loops, parallel arcs, unreachable parts, vertices and sources without arcs."""
    if symmetric:
        graph = mirrored(graph)
    network = network_of(graph)
    scores, expected = both(betweenness, graph)
    check_equal(scores, expected)
    oracle = nx.betweenness_centrality(network, normalized=False)
    assert scores.values.tolist() == pytest.approx(list(oracle.values()), rel=1e-12)
    scores, _ = both(closeness, graph)
    oracle = nx.closeness_centrality(network.reverse(), wf_improved=False)
    assert scores.values.tolist() == pytest.approx(list(oracle.values()), rel=1e-12)
    vertices = st.integers(0, graph.vertex_count - 1)
    some = data.draw(st.lists(vertices, min_size=1, unique=True))
    for function in SUMS:
        check_equal(*both(function, graph, some))
    twice = some + data.draw(st.lists(vertices))
    for function in OF_ROWS:
        check_equal(*both(function, graph, twice))


@pytest.mark.parametrize("function", SUMS + OF_ROWS)
@pytest.mark.parametrize("arcs", [0, 1])
def test_hardly_any_arcs(function: Callable[..., Any], arcs: int) -> None:
    for count in (1, 2, 3):
        graph = graph_of(count, [(0, count - 1, 1)] * arcs)
        check_equal(*both(function, graph))
        check_equal(*both(function, graph, [count - 1]))


@pytest.mark.parametrize("function", SUMS + OF_ROWS)
def test_batches_of_which_the_last_is_smaller(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """70 sources in batches of 64, and in the other direction rows of other lengths."""
    monkeypatch.setattr(levels, "group_bytes", lambda *_, **__: levels.BATCH_BYTES // 2)
    graph = random_graph(120, 600, seed=3, greatest=0)
    found, expected = both(function, graph, np.arange(0, 120)[20:90])
    assert "64 sources at once" in found.statistics["device"]
    check_equal(found, expected)


@pytest.mark.parametrize("pieces", [33, 50, 64])
@pytest.mark.parametrize("function", SUMS + OF_ROWS)
def test_long_rows(
    function: Callable[..., Any], pieces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are cut, of both directions or of one, in batches of two sizes."""
    monkeypatch.setattr(levels, "group_bytes", lambda *_, **__: levels.BATCH_BYTES // 2)
    monkeypatch.setattr(levels, "PIECE_ARCS", pieces)
    monkeypatch.setattr(levels, "FEWER_ARCS", (pieces, *levels.FEWER_ARCS[1:]))
    both_ways, star = hubs(3, 99), graph_of(200, [(0, leaf, 1) for leaf in range(1, 200)])
    check_equal(*both(function, both_ways))
    check_equal(*both(function, star, range(70)))
    if function is betweenness:
        oracle = nx.betweenness_centrality(network_of(both_ways), normalized=False)
        assert both(function, both_ways)[0].values.tolist() == pytest.approx(list(oracle.values()))


@pytest.mark.parametrize("function", SUMS + OF_ROWS)
def test_a_graph_with_hubs(function: Callable[..., Any]) -> None:
    graph = generate("rmat:7" if EMULATED else "rmat:12")
    check_equal(*both(function, graph, np.arange(0, graph.vertex_count, 3)))


@pytest.mark.parametrize("function", SUMS + OF_ROWS)
@pytest.mark.parametrize("length", [MOST_LEVELS, MOST_LEVELS + 1, 60])
def test_paths_up_to_the_last_level_and_beyond(function: Callable[..., Any], length: int) -> None:
    """A path of 40 vertices is within reach, longer ones are left to the other methods."""
    graph = graph_of(length, [(u, v, 1) for u, v in pairwise(range(length))])
    found, expected = (function(graph, weighted=False, device=device) for device in ("cuda", "cpu"))
    np.testing.assert_array_equal(found.values, expected.values)
    by_levels = "sources at once" in found.statistics["device"]
    assert by_levels == (length <= MOST_LEVELS)


def test_a_deep_part_that_only_a_later_batch_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of the first sources count once."""
    path = [(u, u + 1, 1) for u in range(60)]
    wide = [(61 + u, 61 + (u * k + k) % 60, 1) for u in range(60) for k in (1, 7, 11)]
    graph = graph_of(121, path + wide)
    monkeypatch.setattr(levels, "group_bytes", lambda *_, **__: levels.BATCH_BYTES)
    monkeypatch.setattr(levels, "SUMMARIZED_AT_ONCE", 50)
    for function in (betweenness, harmonic):
        found, expected = (
            function(graph, weighted=False, device=device, sources=range(120, -1, -2))
            for device in ("cuda", "cpu")
        )
        np.testing.assert_array_equal(found.values, expected.values)


def layers(width: int, count: int) -> Graph:
    """A source, layers of some vertices with all arcs from one to the next, and a last vertex."""
    last = count * width + 1
    arcs = [(0, 1 + v, 1) for v in range(width)]
    for layer in range(count - 1):
        first = 1 + layer * width
        arcs += [(first + u, first + width + v, 1) for u in range(width) for v in range(width)]
    arcs += [(last - 1 - v, last, 1) for v in range(width)]
    return graph_of(last + 1, arcs)


@pytest.mark.parametrize("function", SUMS)
def test_more_paths_than_floats_count_exactly(function: Callable[..., Any]) -> None:
    """They are left to the other method, which says that it rounds them."""
    for count, by_levels in ((20, True), (21, False)):
        graph = layers(6, count)
        found, expected = (
            function(graph, weighted=False, device=device, sources=[0, 1, 99])
            for device in ("cuda", "cpu")
        )
        assert ("sources at once" in found.statistics["device"]) == by_levels
        assert found.statistics["exact_counts"] == by_levels
        assert found.statistics["most_paths"] == expected.statistics["most_paths"] == 6.0**count
        assert found.values.tolist() == pytest.approx(expected.values.tolist(), rel=1e-12)


def test_weights_of_1() -> None:
    """They count arcs, as integers or floats; others are solved by the methods for weights."""
    graph = random_graph(60, 300, seed=2, greatest=0)
    for kind in (np.int32, np.float32):
        ones = Graph(graph.offsets, graph.heads, np.ones(300, kind))
        twos = Graph(graph.offsets, graph.heads, np.full(300, 2, kind))
        found, other = (betweenness(g, sources=range(40), device="cuda") for g in (ones, twos))
        assert found is not None
        assert other is not None
        assert "sources at once" in found.statistics["device"]
        assert "sources at once" not in other.statistics["device"]
        check_equal(found, other)


def test_ends_that_lie_on_paths() -> None:
    """They are left to the other method."""
    graph = random_graph(50, 200, seed=1, greatest=0)
    found, expected = (
        betweenness(graph, weighted=False, endpoints=True, device=device)
        for device in ("cuda", "cpu")
    )
    np.testing.assert_array_equal(found.values, expected.values)


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_bits_on_ranks(ranks: int) -> None:
    graph, some = random_graph(90, 400, seed=ranks, greatest=0), np.arange(0, 90, 2)

    def sums(channel: Any, device: str) -> Any:
        opened = opened_on(channel, graph, device=device, hops=True)
        return accumulated(opened, some, errors=True)

    alone = sums(SoloChannel(), "cpu")
    first, *_ = on_ranks(ranks, lambda channel: sums(channel, "cuda"))
    assert "sources at once" in first.label
    for name in ("totals", "squares"):
        assert getattr(first, name).tolist() == getattr(alone, name).tolist()


@pytest.mark.parametrize("function", ["betweenness", "closeness"])
def test_the_graph_stays_on_the_gpu(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From one call of an open graph to the next; also that it has many levels is known then."""
    loads: list[int] = []

    class Counted(levels.LevelGraph):
        def __init__(self, *words: Any) -> None:
            loads.append(1)
            super().__init__(*words)

    monkeypatch.setattr("groute_py.device.cuda.multi_source.levels.LevelGraph", Counted)
    monkeypatch.setattr("groute_py.device.cuda.multi_source.levels.LevelGraph", Counted)
    path = graph_of(60, [(u, v, 1) for u, v in pairwise(range(60))])
    for graph in (random_graph(60, 300, seed=2, greatest=0), path):
        loads.clear()
        with solver_on(SoloChannel(), graph, device="cuda", hops=True) as solver:
            one, other = (getattr(solver, function)(sources=some) for some in ([3, 4], [5, 1]))
            again = getattr(solver, function)(sources=[3, 4])
        assert len(loads) == 1
        np.testing.assert_array_equal(one.values, again.values)
        assert one.values.tolist() != other.values.tolist()


def test_little_memory() -> None:
    """Without room for a group of 32 sources, other methods have fewer at once."""
    graph = random_graph(400, 2000, seed=4, greatest=0)
    how: dict[str, Any] = {"weighted": False, "device": "cuda", "sources": range(40)}
    for function in (betweenness, closeness):
        large, little = function(graph, **how), function(graph, memory_limit=150_000, **how)
        assert large is not None
        assert little is not None
        assert "sources at once" in large.statistics["device"]
        assert "sources at once" not in little.statistics["device"]
        np.testing.assert_array_equal(large.values, little.values)


def test_summaries_and_the_rows_that_they_are_of() -> None:
    """All numbers of rows, as another method finds them, before and after rows are solved."""
    graph = generate("rmat:6").with_unit_weights()
    sources, everything = np.arange(50), Wanted(histogram=True, reciprocals=True)
    found, expected = (
        Solving(graph, None, Options(device="cuda"), Choice(name, "cuda", ""), SoloChannel())
        for name in ("batch", "heap")
    )
    (rows,) = found.summaries(sources, everything)
    others = list(expected.summaries(sources, everything))
    for name in ("reached", "sums", "farthest", "greatest", "reciprocals"):
        joined = np.concatenate([getattr(other, name) for other in others])
        np.testing.assert_array_equal(getattr(rows, name), joined)
    assert rows.histogram is not None
    assert rows.histogram.tolist() == sum(other.histogram for other in others).tolist()  # type: ignore[union-attr, misc]
