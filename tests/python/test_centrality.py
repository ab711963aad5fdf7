"""Closeness, harmonic centrality, eccentricity and the like: every device and number of ranks."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import all_lengths, arcs_by_id, graph_of, graphs, random_graph
from support.local_ranks import on_ranks
from support.opening import opened_on
from support.skips import EMULATED

import groute_py
from groute_py import (
    Graph,
    InputError,
    NegativeCycleError,
    RunError,
    SetupError,
    centrality,
    generate,
)
from groute_py.centrality import bounds
from groute_py.centrality.distances import Reduced, reduced
from groute_py.comm.base import SoloChannel
from groute_py.graph.symmetrize import mirrored
from groute_py.kernels.cpu.fixed_point import CHUNK
from groute_py.many import choose
from groute_py.many.opened import Work

EXAMPLES = 8 if EMULATED else 40


def lengths_of(graph: Graph, weighted: bool, reverse: bool) -> Any:
    """Row s has what counts for vertex s; the diagonal is infinite, as other pairs without path."""
    lengths = all_lengths(graph if weighted else graph.with_unit_weights())
    np.fill_diagonal(lengths, np.inf)
    return lengths.T if reverse else lengths


@settings(max_examples=EXAMPLES)
@given(
    graph=graphs(),
    weighted=st.booleans(),
    reverse=st.booleans(),
    normalized=st.booleans(),
)
def test_rows(device: str, graph: Graph, weighted: bool, reverse: bool, normalized: bool) -> None:
    how = {"weighted": weighted, "reverse": reverse, "device": device}
    lengths, others = lengths_of(graph, weighted, reverse), graph.vertex_count - 1
    there = np.isfinite(lengths)
    sums, reached = np.where(there, lengths, 0).sum(axis=1), there.sum(axis=1)
    closeness = centrality.closeness(graph, normalized=normalized, **how)
    harmonic = centrality.harmonic(graph, normalized=normalized, **how)
    eccentricity = centrality.eccentricity(graph, **how)
    assert closeness is not None
    assert harmonic is not None
    assert eccentricity is not None
    expected = [r / s if s else 0 for r, s in zip(reached.tolist(), sums.tolist(), strict=True)]
    reciprocals = np.where(lengths > 0, 1 / np.maximum(lengths, 1e-9), 0).sum(axis=1)
    if normalized and others:
        expected = [c * r / others for c, r in zip(expected, reached.tolist(), strict=True)]
        reciprocals = reciprocals / others
    assert closeness.values.tolist() == pytest.approx(expected, rel=1e-12)
    assert harmonic.values.tolist() == pytest.approx(reciprocals.tolist(), rel=1e-12)
    greatest = np.where(there, lengths, 0).max(axis=1)
    assert eccentricity.values.tolist() == greatest.tolist()
    assert eccentricity.values.dtype == np.int64
    assert eccentricity.statistics["complete"] == (there.sum() == others * (others + 1))
    assert centrality.diameter(graph, **how) == greatest.max()
    complete = reached == others
    if complete.any():
        assert centrality.radius(graph, **how) == greatest[complete].min()
    else:
        with pytest.raises(InputError, match="no source reaches every vertex"):
            centrality.radius(graph, **how)
    mean = centrality.mean(graph, **how)
    if there.any():
        assert mean == pytest.approx(sums.sum() / there.sum(), rel=1e-12)
    else:
        assert mean is not None
        assert math.isnan(mean)


@settings(max_examples=EXAMPLES)
@given(graph=graphs(dtype="float64"))
def test_float_weights(device: str, graph: Graph) -> None:
    lengths = lengths_of(graph, True, False)
    result = centrality.eccentricity(graph, device=device)
    assert result is not None
    greatest = np.where(np.isfinite(lengths), lengths, 0).max(axis=1)
    assert result.values.dtype == np.float64
    assert result.values.tolist() == pytest.approx(greatest.tolist(), rel=1e-9)


def asked(channel: Any, graph: Graph, device: str, measure: str, sources: Any) -> Reduced | None:
    return reduced(opened_on(channel, graph, device=device), sources, measure)


@pytest.mark.parametrize("measure", ["closeness", "harmonic", "eccentricity"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_on_ranks(device: str, ranks: int, measure: str) -> None:
    """The same bits at every number of ranks, and on every device."""
    graph = random_graph(150, 500, seed=ranks, greatest=9)
    wanted = np.array([7, 149, 0, 20, 3, 1])
    alone = asked(SoloChannel(), graph, "cpu", measure, wanted)
    result, *others = on_ranks(
        ranks, lambda channel: asked(channel, graph, device, measure, wanted)
    )
    assert others == [None] * (ranks - 1)
    assert result is not None
    assert alone is not None
    for name in ("reached", "sums", "greatest", "farthest", "reciprocals"):
        assert getattr(result.rows, name).tolist() == getattr(alone.rows, name).tolist()


def test_sums_that_only_some_measures_need(device: str) -> None:
    far = 2**62
    arcs = [(0, 1, far), (0, 2, far + 5), (1, 0, far), (1, 2, far + 1), (2, 0, far), (2, 1, far)]
    graph = graph_of(3, arcs, "int64")
    scores = centrality.eccentricity(graph, device=device)
    assert scores is not None
    assert scores.values.tolist() == [far + 5, far + 1, far]
    assert centrality.radius(graph, device=device) == far
    assert centrality.diameter(graph, device=device) == far + 5
    harmonic = centrality.harmonic(graph, device=device)
    assert harmonic is not None
    assert harmonic.values[2] == pytest.approx(2 / far)
    for function in (centrality.closeness, centrality.mean):
        with pytest.raises(RunError, match="scale the weights down, or take the distances"):
            function(graph, device=device)


@pytest.mark.parametrize("kind", ["int32", "int64", "float32", "float64"])
def test_reciprocals_of_long_rows(device: str, kind: str) -> None:
    """Rows of several chunks; those of integers are summed exactly, to 2⁻⁹⁶."""
    count = 2 * CHUNK + 77
    weights = np.random.default_rng(1).integers(1, 1000, count)
    arcs = [(0, v, w) for v, w in enumerate(weights.tolist()) if not CHUNK <= v < CHUNK + 300]
    graph = graph_of(count, arcs, kind)
    result = asked(SoloChannel(), graph, device, "harmonic", np.array([0, 1]))
    assert result is not None
    inverse = [1 / w for _, v, w in arcs if v != 0]
    assert result.rows.reciprocals[0] == pytest.approx(math.fsum(inverse), rel=1e-12)
    assert result.rows.reciprocals[1] == 0
    if np.dtype(kind).kind == "i":
        units = sum(int(number * 2.0**96) for number in inverse)
        assert result.rows.reciprocals[0] == pytest.approx(units / 2**96, rel=3e-16)


def test_the_mean_of_drawn_sources() -> None:
    """The estimate lies within a few standard errors, and has none if all vertices are sources."""
    graph = random_graph(400, 1600, seed=2, greatest=50)
    opened = opened_on(SoloChannel(), graph, device="cpu")
    exact = reduced(opened, None, "mean")
    assert exact is not None
    mean, error = exact.mean()
    assert error == 0
    inside = 0
    for seed in range(20):
        drawn = np.random.default_rng(seed).choice(400, 40, replace=False)
        result = reduced(opened, drawn, "mean")
        assert result is not None
        near, spread = result.mean()
        inside += abs(near - mean) < 2 * spread
    assert inside >= 16
    alone = reduced(opened, np.array([3]), "mean")
    assert alone is not None
    assert math.isnan(alone.mean()[1])


def test_sources_that_are_not_all_vertices(device: str) -> None:
    """Bounds are for all vertices; a list as long may name one of them again and again."""
    graph = mirrored(graph_of(200, [(v, v + 1, 1) for v in range(199)]))
    assert centrality.diameter(graph, sources=[100] * 200, device=device) == 100
    assert centrality.diameter(graph, device=device) == 199
    assert centrality.radius(graph, device=device) == 100


def test_negative_weights(device: str) -> None:
    graph = graph_of(3, [(0, 1, 4), (1, 2, -3), (2, 0, 1)])
    assert centrality.diameter(graph, device=device) == 5
    result = centrality.eccentricity(graph, device=device)
    assert result is not None
    assert result.values.tolist() == [4, 0, 5]
    with pytest.raises(InputError, match="negative weight, with which harmonic centrality is not"):
        centrality.harmonic(graph, device=device)
    with pytest.raises(NegativeCycleError):
        centrality.diameter(graph_of(2, [(0, 1, -1), (1, 0, 0)]), device=device)


def test_closeness_without_a_positive_sum(device: str) -> None:
    """Is 0, as NetworkX has it, also with a sum below 0."""
    arcs = [(0, 1, -1), (2, 3, 2), (2, 4, -2), (5, 6, 3), (6, 7, -1)]
    result = centrality.closeness(graph_of(8, arcs), device=device)
    assert result is not None
    network = nx.DiGraph()
    network.add_nodes_from(range(8))
    network.add_weighted_edges_from((head, tail, weight) for tail, head, weight in arcs)
    wanted = nx.closeness_centrality(network, distance="weight", wf_improved=False)
    assert result.values.tolist() == [wanted[v] for v in range(8)] == [0] * 5 + [0.4, 0, 0]


def test_closeness_of_the_least_distances(device: str) -> None:
    result = centrality.closeness(graph_of(2, [(0, 1, 5e-324)], "float64"), device=device)
    assert result is not None
    assert result.values.tolist() == [math.inf, 0]


def test_wrong_arguments() -> None:
    graph = graph_of(3, [(0, 1, 1)])
    with pytest.raises(TypeError, match=r"diameter\(\) got an unexpected keyword argument 'width'"):
        centrality.diameter(graph, width=3)
    with pytest.raises(InputError, match="device 'tpu' is unknown"):
        centrality.mean(graph, device="tpu")
    with pytest.raises(InputError, match="source 3 is not a vertex"):
        centrality.closeness(graph, sources=[0, 3])
    with pytest.raises(InputError, match="no integer"):
        centrality.betweenness(graph, sources=[0.5])
    with pytest.raises(InputError, match="no vertices"):
        centrality.closeness(graph_of(0, []))


def test_a_prepared_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """The values of its graph, by its hierarchy where the estimates say so."""
    graph = generate("road:9x9")
    prepared = groute_py.prepare(graph, device="cpu")
    monkeypatch.setattr(
        choose, "estimates", lambda *_, prepared=False, **__: {"heap": 1, "sweep": 2 - 2 * prepared}
    )
    for measure in centrality.__all__[2:]:
        if measure == "radius":
            continue
        own, given = (getattr(centrality, measure)(g, device="cpu") for g in (prepared, graph))
        if measure in ("diameter", "mean"):
            assert own == given
            continue
        assert own.values.tolist() == given.values.tolist()
        if "betweenness" not in measure:
            assert own.statistics["algorithm"] == "sweep"
            assert given.statistics["algorithm"] == "heap"


def test_memory_that_does_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.system.memory_limits.available_bytes", lambda: 100)
    with pytest.raises(InputError, match=r"take [\d,]+ bytes, and 100 bytes of memory are free"):
        centrality.closeness(graph_of(300, [(0, 1, 1)]), device="cpu")


def test_a_gpu_that_is_not_there() -> None:
    from support.skips import NO_GPU

    if NO_GPU is None:
        pytest.skip("there is one")
    with pytest.raises(SetupError, match="no GPU can be used"):
        centrality.betweenness(graph_of(1, []), device="cuda")


@settings(max_examples=EXAMPLES)
@given(graph=graphs(), joined=st.booleans())
def test_bounds_of_symmetric_graphs(
    device: str, monkeypatch: pytest.MonkeyPatch, graph: Graph, joined: bool
) -> None:
    """Diameter and radius from some rows are those from all."""
    whole, count = mirrored(graph), graph.vertex_count
    if joined:
        ring = mirrored(graph_of(count, [(v, (v + 1) % count, 3) for v in range(count)]))
        whole = graph_of(count, arcs_by_id(whole) + arcs_by_id(ring))
    monkeypatch.setattr(bounds, "FEW", 0)
    every = np.arange(count)
    known = asked(SoloChannel(), whole, "cpu", "eccentricity", every)
    assert known is not None
    assert centrality.diameter(whole, device=device) == known.rows.greatest.max()
    if known.complete:
        assert centrality.radius(whole, device=device) == known.rows.greatest.min()
    else:
        with pytest.raises(InputError, match="no source reaches every vertex"):
            centrality.radius(whole, device=device)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("measure", ["diameter", "radius"])
def test_bounds_leave_few_rows(device: str, ranks: int, measure: str) -> None:
    graph = largest_component(generate("road:14x14" if EMULATED else "road:25x25"))
    every = asked(SoloChannel(), graph, device, "mean", None)
    done: list[int] = []

    def work(channel: Any) -> Reduced | None:
        def progress(settled: int, count: int) -> None:
            done.append(settled)

        return reduced(opened_on(channel, graph, device=device), None, measure, Work(progress))

    result, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    assert result is not None
    assert every is not None
    assert len(result.sources) < result.count / 3
    assert result.complete
    assert done[-1] == result.count
    if measure == "diameter":
        assert result.rows.greatest.max() == every.rows.greatest.max()
    else:
        assert result.rows.greatest.min() == every.rows.greatest.min()


def largest_component(graph: Graph) -> Graph:
    from scipy.sparse import csgraph, csr_array

    count = graph.vertex_count
    _, labels = csgraph.connected_components(
        csr_array((graph.weights, graph.heads, graph.offsets), shape=(count, count))
    )
    inside = labels == np.bincount(labels).argmax()
    numbers = np.cumsum(inside) - 1
    arcs = [(numbers[u], numbers[v], w) for u, v, w in arcs_by_id(graph) if inside[u]]
    return graph_of(int(inside.sum()), arcs)


def test_a_mean_of_distances_whose_sum_is_beyond_floats() -> None:
    pairs = Graph.from_arrays([0, 1, 1, 2, 2], [1, 3], [1.7e308, 1.7e308])
    assert centrality.mean(pairs, device="cpu") == 1.7e308
    assert centrality.mean(pairs, sources=[0, 1, 2], device="cpu") == 1.7e308
    star = Graph.from_arrays([0, 2, 2, 2], [1, 2], [1.7e308, 1.7e308])
    with pytest.raises(RunError, match=r"beyond 1\.8e308; scale the weights down"):
        centrality.mean(star, device="cpu")
