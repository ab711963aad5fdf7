"""Isochrones with turn costs: vertices, and parts of arcs, against labels of arcs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graphs
from support.line_graph import distances_by_arc, labels_of_arcs, pairs_of
from support.local_ranks import on_ranks
from support.opening import solver_on
from support.turn_cases import COSTS, GRAPH, ROWS, TURNS, WAY_BACK, rows_of

import groute_py
from groute_py import Graph, InputError


@settings(max_examples=15)
@given(
    graph=graphs(greatest=12),
    limits=st.lists(st.integers(1, 40), min_size=1, max_size=3, unique=True),
    reverse=st.booleans(),
    each=st.booleans(),
    data=st.data(),
)
def test_isochrones(
    device: str,
    graph: Graph,
    limits: list[int],
    reverse: bool,
    each: bool,
    data: st.DataObject,
) -> None:
    """Vertices, and how much of each arc is within each limit."""
    every, turns = pairs_of(graph), {}
    if every:
        listed = st.dictionaries(st.sampled_from(every), st.sampled_from(COSTS), max_size=20)
        turns = data.draw(listed)
    sources = data.draw(st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=2))
    how: Any = {"turns": [(*pair, cost) for pair, cost in turns.items()], "device": device}
    result = groute_py.isochrone(graph, sources, limits, each=each, reverse=reverse, **how)
    assert result is not None
    groups = [[source] for source in sources] if each else [sources]
    for group, reach in zip(groups, result.reaches, strict=True):
        way = {"reverse": reverse}
        rows = [distances_by_arc(graph, turns, source, **way) for source in group]
        row = np.min(rows, axis=0)
        within = np.flatnonzero(row <= max(limits))
        np.testing.assert_array_equal(reach.vertices, within)
        np.testing.assert_array_equal(reach.distances, row[within])
        labels = [labels_of_arcs(graph, turns, source, **way) for source in group]
        pieces = result.pieces(reach)
        columns = pieces.bands, pieces.tails, pieces.heads, pieces.begins, pieces.ends
        parts = sorted(zip(*(column.tolist() for column in columns), strict=True))
        assert parts == parts_within(graph, labels, sorted(limits), reverse=reverse)


def parts_within(
    graph: Graph, labels: list[dict[int, int]], limits: list[int], *, reverse: bool
) -> list[tuple[int, int, int, float, float]]:
    """The limit's number, the ends and the part of each arc that is within no lesser limit."""
    result = []
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets)).tolist()
    for arc, (tail, head) in enumerate(zip(tails, graph.heads.tolist(), strict=True)):
        weight, passed = int(graph.weights[arc]), 0.0
        begin = min(label.get(arc, np.inf) for label in labels) - weight
        for band, limit in enumerate(limits):
            whole = 1.0 if weight == 0 else min((limit - begin) / weight, 1.0)
            share = whole if begin <= limit else 0.0
            if share > passed and tail != head:
                part = (1 - share, 1 - passed) if reverse else (passed, share)
                result.append((band, tail, head, *part))
            passed = max(share, passed)
    return sorted(result)


@pytest.mark.parametrize("ranks", [1, 3])
def test_isochrones_of_a_solver(ranks: int) -> None:
    rows = rows_of(TURNS)

    def work(channel: Any) -> Any:
        with solver_on(channel, GRAPH, device="cpu", turns=rows) as solver:
            return solver.isochrone([7], [12])

    result = on_ranks(ranks, work)[0]
    assert result.counts == [int((ROWS[7] <= 12).sum())]
    assert result.graph.vertex_count == 50
    once = groute_py.isochrone(GRAPH, [7], [12], turns=rows, device="cpu")
    assert once is not None
    np.testing.assert_array_equal(
        once.pieces(once.reaches[0]).ends, result.pieces(result.reaches[0]).ends
    )


def test_isochrones_of_negative_costs() -> None:
    with pytest.raises(InputError, match="a turn of graph has a cost below 0"):
        groute_py.isochrone(WAY_BACK, [0], [5], turns=[(0, 1, 2, -1)], device="cpu")
