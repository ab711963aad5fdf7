"""Rows reduced to a few numbers: by the host, by the kernel, and by every method."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.graphs import graph_of, random_graph
from support.opening import job_on
from support.skips import needs_compiler

import groute_py
from groute_py import Graph, RunError
from groute_py.comm.base import SoloChannel
from groute_py.device.base import unreached
from groute_py.device.summary import (
    LiftError,
    SumError,
    Summary,
    Wanted,
    bin_count,
    bins_of,
    edges_of,
    joined,
    partial_type,
    summarize,
    wide,
)
from groute_py.engine.option_values import METHODS
from groute_py.kernels.source import SUMMARY, options
from groute_py.many.reduce import Reduction, reduce

TYPES = ["int32", "int64", "float32", "float64"]

BLOCK = 256


@st.composite
def rows(draw: st.DrawFn, name: str) -> Any:
    """Rows of distances, small and great ones, in which the source is reached by 0."""
    kind = np.dtype(name)
    count, length = draw(st.integers(1, 4)), draw(st.integers(1, 600))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    if kind.kind == "f":
        scale = draw(st.sampled_from([1e-40, 0.37, 1e30]))
        made = (random.random((count, length)) * scale).astype(kind)
    else:
        greatest = draw(st.sampled_from([3, 1000, 2**31 - 2, 2**53]))  # sums fit in int64
        made = random.integers(0, min(greatest, np.iinfo(kind).max - 1), (count, length), kind)
    made[random.random(made.shape) < draw(st.sampled_from([0.0, 0.5, 1.0]))] = unreached(kind)
    made[:, draw(st.integers(0, length - 1))] = 0
    return made


def plainly(row: Any, number: int, wanted: Wanted, source: int) -> tuple[Any, ...]:
    """What is expected of a row, by Python's own numbers."""
    pairs = [(v, d) for v, d in enumerate(row.tolist()) if d != unreached(row.dtype)]
    if wanted.heights is not None:
        heights = wanted.heights.tolist()
        pairs = [(v, d + heights[v] - heights[source]) for v, d in pairs]
    greatest = max(d for _, d in pairs)
    first = min(v for v, d in pairs if d == greatest)
    return len(pairs), sum(d for _, d in pairs), first, greatest


def check(result: Summary, row: int, expected: tuple[Any, ...], kind: np.dtype[Any]) -> None:
    reached, total, farthest, greatest = expected
    assert (result.reached[row], result.farthest[row]) == (reached, farthest)
    assert result.greatest[row] == greatest
    assert result.sums.dtype == result.greatest.dtype == wide(kind)
    assert result.sums[row] == (pytest.approx(total, rel=1e-12) if kind.kind == "f" else total)


@pytest.mark.parametrize("name", TYPES)
@given(data=st.data())
def test_a_row_on_the_host(name: str, data: st.DataObject) -> None:
    for number, row in enumerate(data.draw(rows(name))):
        source, wanted = int(np.flatnonzero(row == 0)[0]), Wanted(histogram=True)
        result = summarize(number, row, source, wanted)
        assert (result.first, result.count) == (number, 1)
        check(result, 0, plainly(row, number, wanted, source), row.dtype)
        assert result.histogram is not None
        there = [d for d in row.tolist() if d != unreached(row.dtype)]
        for place in np.flatnonzero(result.histogram).tolist():
            low, high = edges_of(place, row.dtype)
            within = sum(low <= d < high for d in there) if place else there.count(0)
            assert result.histogram[place] == within
        assert result.histogram.sum() == len(there)


@needs_compiler
@pytest.mark.parametrize("name", TYPES)
@given(data=st.data())
def test_rows_in_the_kernel(name: str, data: st.DataObject) -> None:
    """Parts of rows, with and without potentials, against the host."""
    kind, made = np.dtype(name), data.draw(rows(name))
    count, length = made.shape
    part = data.draw(st.integers(1, length))
    parts = -(-length // part)
    wanted = Wanted(histogram=data.draw(st.booleans()))
    sources = np.array([int(np.flatnonzero(row == 0)[0]) for row in made])
    heights: Any = 0
    if data.draw(st.booleans()):
        heights = -np.random.default_rng(length).integers(0, 50, length).astype(wide(kind))
        wanted = Wanted(histogram=wanted.histogram, heights=heights)
    own = 0 if wanted.heights is None else heights[sources]
    partials = np.zeros((count, parts), partial_type(kind))
    histogram, unfit = np.zeros(bin_count(kind), np.uint64), np.zeros(1, np.uint32)
    counts: Any = histogram if wanted.histogram else 0
    words = (made, length, part, heights, own, partials, counts, unfit)
    kernel(name)("summarize_rows", (parts, count), BLOCK, *words)
    result = joined(7, partials, histogram.astype(np.int64) if wanted.histogram else None)
    assert (result.first, result.count, unfit[0]) == (7, count, 0)
    summed = np.zeros(bin_count(kind), np.int64)
    for number, (row, source) in enumerate(zip(made, sources.tolist(), strict=True)):
        one = summarize(number, row, source, wanted)
        check(result, number, plainly(row, number, wanted, source), kind)
        assert one.greatest[0] == result.greatest[number]
        if one.histogram is not None:
            summed += one.histogram
    if result.histogram is not None:
        assert result.histogram.tolist() == summed.tolist()


@cache
def kernel(name: str) -> Any:
    from support.emulation.cpp import Emulated, as_cpp

    choices = options(np.dtype(name), wide_offsets=False, mode="alone")
    return Emulated(as_cpp(SUMMARY), tuple(choices))


def test_bins_at_their_edges() -> None:
    whole = np.array([0, 1, 2, 3, 4, 2**53 - 1, 2**53, 2**62, 2**63 - 2, -1, -4])
    assert bins_of(whole).tolist() == [0, 1, 2, 2, 3, 53, 54, 63, 63, 65, 67]
    least, most = 5e-324, float(np.finfo(np.float64).max)
    floats = np.array([0.0, least, 0.5, 1.0, most, -0.75])
    assert bins_of(floats).tolist() == [0, 1, 1074, 1075, 2098, 2098 + 1074]
    assert edges_of(1, floats.dtype) == (least, 2 * least)
    assert edges_of(2098, floats.dtype) == (2.0**1023, float("inf"))


def test_sums_at_the_end_of_int64() -> None:
    row = np.array([0, 2**62, 2**62 - 1])
    assert summarize(0, row, 0, Wanted()).sums.tolist() == [2**63 - 1]
    row[2] += 1
    with pytest.raises(SumError) as caught:
        summarize(5, row, 0, Wanted())
    assert caught.value.row == 5
    low = np.array([0, 0, 0]), np.array([0, -(2**62), -(2**62)])
    assert summarize(0, low[0], 0, Wanted(heights=low[1])).sums.tolist() == [-(2**63)]


def test_a_distance_that_potentials_take_out_of_range() -> None:
    heights = np.array([-(2**62), 0])
    with pytest.raises(LiftError):
        summarize(0, np.array([0, 2**62]), 0, Wanted(heights=heights))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("least", [0, -3])
def test_every_method(device: str, name: str, least: int) -> None:
    """Against rows that are collected, with negative weights too."""
    if (device, name) == ("cpu", "single"):
        pytest.skip("single is a method for GPUs")
    graph = without_negative_cycles(random_graph(300, 900, seed=3, greatest=9), least)
    sources = np.array([5, 299, 0, 5, 17])
    result = reduced(graph, sources, name, device)
    rows = groute_py.apsp(graph, sources=sources, algorithm=name, device=device)
    assert rows is not None
    for position, row in enumerate(rows.distances):
        reached, total, farthest, greatest = plainly(row, position, Wanted(), 0)
        assert result.reached[position] == reached
        assert result.sums[position] == total
        assert (result.farthest[position], result.greatest[position]) == (farthest, greatest)
    there = rows.distances[rows.distances != groute_py.UNREACHED]
    assert result.counts.tolist() == np.bincount(bins_of(there), minlength=129).tolist()


@pytest.mark.parametrize("name", ["heap", "batch", "single"])
def test_a_sum_that_does_not_fit(device: str, name: str) -> None:
    if (device, name) == ("cpu", "single"):
        pytest.skip("single is a method for GPUs")
    graph = graph_of(4, [(1, 0, 1), (0, 2, 2**62), (0, 3, 2**62)], "int64")
    with pytest.raises(RunError, match=r"sum of the distances from 0 in .* does not fit in int64"):
        reduced(graph, np.array([2, 0]), name, device)
    assert reduced(graph, np.array([2, 3]), name, device).sums.tolist() == [0, 0]


@pytest.mark.parametrize("name", ["heap", "batch", "single"])
def test_a_sum_that_nobody_asks_for(device: str, name: str) -> None:
    if (device, name) == ("cpu", "single"):
        pytest.skip("single is a method for GPUs")
    channel, graph = SoloChannel(), graph_of(3, [(0, 1, 2**62), (0, 2, 2**62 + 5)], "int64")
    sources = np.array([2, 0])
    job = job_on(channel, graph, sources, algorithm=name, device=device)
    result = reduce(channel, job, Wanted(sums=False, histogram=True))
    assert result is not None
    assert result[0].sums.tolist() == [0, 0]
    assert result[0].greatest.tolist() == [0, 2**62 + 5]
    assert result[0].reached.tolist() == [1, 3]


def reduced(graph: Graph, sources: Any, algorithm: str, device: str) -> Reduction:
    channel = SoloChannel()
    job = job_on(channel, graph, sources, algorithm=algorithm, device=device)
    result = reduce(channel, job, Wanted(histogram=True))
    assert result is not None
    return result[0]


def without_negative_cycles(graph: Graph, least: int) -> Graph:
    """Weights that potentials have shifted: some are negative if ``least`` is, no cycle is."""
    height = np.random.default_rng(8).integers(least, 1, graph.vertex_count)
    tails = np.repeat(height, np.diff(graph.offsets))
    return Graph(graph.offsets, graph.heads, (graph.weights + tails - height[graph.heads]))
