"""Sweeps on cores over the part of a hierarchy that some ends need: right, and no more than it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import graph_of, graphs, scipy_distances
from support.hierarchies import TYPES, contracted

from groute_py import Graph, generate, matrix
from groute_py.device.cpu import sweeps
from groute_py.device.cpu.rows import CpuGraph
from groute_py.device.cpu.sweeps import CpuSweeps, part_above
from groute_py.device.rows import NarrowError
from groute_py.graph.hierarchy.check import check_hierarchy
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.graph.symmetrize import mirrored
from groute_py.results.distances import public_distances


@pytest.fixture
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much of a hierarchy is needed."""
    monkeypatch.setattr(sweeps, "MOST_KEPT", 1.0)


def rows(
    graph: Graph, hierarchy: Hierarchy, sources: list[int], targets: list[int], kind: Any
) -> tuple[CpuSweeps, list[Any]]:
    solver = CpuSweeps(CpuGraph(graph, kind), hierarchy, predecessors=False)
    result = []
    for block in solver.blocks(np.array(sources), np.array(targets)):
        assert block.first == len(result)
        result += public_distances(block.distances).tolist()
    return solver, result


@pytest.mark.usefixtures("_always")
@settings(max_examples=60)
@given(graph=graphs(), data=st.data())
def test_every_distance(graph: Graph, data: st.DataObject) -> None:
    graph = mirrored(graph) if data.draw(st.booleans()) else graph
    kind = data.draw(st.sampled_from(TYPES))
    hierarchy = contracted(graph, data.draw(st.integers(0, 24)))
    some = st.lists(st.integers(0, graph.vertex_count - 1), min_size=1, max_size=20)
    sources, targets = data.draw(some), data.draw(some)
    _, result = rows(graph, hierarchy, sources, targets, kind)
    np.testing.assert_array_equal(result, [scipy_distances(graph, s)[targets] for s in sources])


def test_a_part_is_a_hierarchy() -> None:
    """Of a grid only what lies above the ends is left, with the core."""
    hierarchy = contracted(generate("road:60x60"), 8)
    result = part_above(hierarchy, np.array([5, 1717, 5]), hierarchy.vertex_count)
    assert result is not None
    check_hierarchy(result.hierarchy)
    assert result.hierarchy.levels[1] == hierarchy.core_count
    assert result.hierarchy.vertex_count < hierarchy.vertex_count / 10
    assert result.places[0] == result.places[2] != result.places[1]
    assert part_above(hierarchy, np.array([5]), 8) is None


def test_few_targets_need_no_whole_hierarchy() -> None:
    graph = generate("road:60x60")
    solver, result = rows(graph, contracted(graph, 8), [7, 1900], [8, 3000, 7], TYPES[0])
    np.testing.assert_array_equal(
        result, [scipy_distances(graph, source)[[8, 3000, 7]] for source in (7, 1900)]
    )
    assert "_whole" not in vars(solver)


@pytest.mark.usefixtures("_always")
def test_a_sum_that_does_not_fit() -> None:
    leaves = [arc for v in range(3, 80) for arc in ((0, v, 1), (v, 0, 1))]
    graph = graph_of(80, [(0, 1, 2**31 - 2), (2, 0, 2), *leaves])
    with pytest.raises(NarrowError):
        rows(graph, contracted(graph, 1), [2], [1], TYPES[0])
    result = matrix(graph, [2], [1], algorithm="sweep", device="cpu")
    assert result is not None
    assert result.distances.item() == 2**31
