"""The k nearest facilities with costs of turns, against labels of arcs in plain Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graphs
from support.local_ranks import on_ranks
from support.opening import opened_on
from support.turn_cases import GRAPH, TURNS, check_k_nearest, rows_of, some_turns

import groute_py
from groute_py import Graph, NearestFacilities
from groute_py.graph.turns.expanded import expanded
from groute_py.jobs.nearest import NearestJob


@settings(max_examples=20)
@given(graph=graphs(greatest=3), to_facility=st.booleans(), k=st.integers(2, 4), data=st.data())
def test_k_nearest(
    device: str, graph: Graph, to_facility: bool, k: int, data: st.DataObject
) -> None:
    """Small weights: many ties, and turns that change which facility is nearer."""
    vertices = st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=6)
    facilities, turns = data.draw(vertices), some_turns(graph, seed=k)
    result = groute_py.nearest(
        graph, facilities, k=k, to_facility=to_facility, turns=rows_of(turns), device=device
    )
    check_k_nearest(graph, turns, sorted(set(facilities)), result, k=k)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_k_nearest_on_ranks(device: str, ranks: int) -> None:
    turns = rows_of(TURNS)

    def work(channel: Any) -> NearestFacilities | None:
        opened = opened_on(channel, expanded(GRAPH, turns), device=device)
        return opened.answer(NearestJob([41, 7, 33, 2], 3, to_facility=ranks % 2 == 0))

    first, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    check_k_nearest(GRAPH, TURNS, [2, 7, 33, 41], first, k=3)
