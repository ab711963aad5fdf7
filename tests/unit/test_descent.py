"""Trees within a cutoff on a core: right after any others, and with no more work than they need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.graphs import graphs, scipy_distances
from support.hierarchies import TYPES, contracted, loaded

from groute_py import UNREACHED, Graph, PreparedGraph, generate, prepare
from groute_py import open as open_graph
from groute_py.device.base import alike
from groute_py.device.cpu.methods import contraction
from groute_py.graph.symmetrize import mirrored
from groute_py.results.distances import public_distances

ROAD = generate("road:60x60")
SOURCE = 1830


@pytest.fixture(scope="module")
def town() -> PreparedGraph:
    result = prepare(ROAD, device="cpu")
    assert result is not None
    return result


def within(graph: Graph, source: int, cutoff: float) -> NDArray[np.int64]:
    row = scipy_distances(graph, source)
    return np.where(row <= cutoff, row, UNREACHED)


@settings(max_examples=60)
@given(graph=graphs(), data=st.data())
def test_every_distance(graph: Graph, data: st.DataObject) -> None:
    """Whether a sweep goes on or not, and whatever was solved before."""
    graph = mirrored(graph) if data.draw(st.booleans()) else graph
    hierarchy = contracted(graph, data.draw(st.integers(0, 24)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contraction, "PATIENCE", data.draw(st.integers(0, 1)))
        patch.setattr(contraction, "MOST_ARCS", data.draw(st.sampled_from([0.0, 0.3, 1.0])))
        device = loaded(graph, hierarchy, data.draw(st.sampled_from(TYPES)))
        vertex, length = st.integers(0, graph.vertex_count - 1), st.integers(0, 40) | st.none()
        for source, cutoff in data.draw(st.lists(st.tuples(vertex, length), max_size=6)):
            limit = np.inf if cutoff is None else float(cutoff)
            device.start(source, alike(np.inf), limit, record=False)
            assert device.relax(np.inf) == np.inf
            result = public_distances(device.distances())
            np.testing.assert_array_equal(result, within(graph, source, limit))


def relaxations(town: PreparedGraph, cutoff: int, solves: int) -> list[int]:
    """Of solves one after another, whose distances are right."""
    counts = []
    with open_graph(town, device="cpu", cutoff=cutoff) as solver:
        for _ in range(solves):
            result = solver.sssp(SOURCE)
            assert result is not None
            np.testing.assert_array_equal(result.distances, within(ROAD, SOURCE, cutoff))
            counts.append(result.statistics["relaxations"])
    return counts


def test_few_arcs_are_looked_at(town: PreparedGraph) -> None:
    cutoff = int(np.partition(scipy_distances(ROAD, SOURCE), 20)[20])
    *first, last = relaxations(town, cutoff, contraction.PATIENCE + 1)
    assert all(count >= town.hierarchy.arc_count for count in first)
    assert last < town.hierarchy.arc_count / 2


def test_a_sweep_takes_over_for_good(town: PreparedGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contraction, "PATIENCE", 0)
    kernel, tried = contraction.sweep.descend, []

    def watched(*arguments: Any) -> Any:
        tried.append(kernel(*arguments))
        return tried[-1]

    monkeypatch.setattr(contraction.sweep, "descend", watched)
    row = scipy_distances(ROAD, SOURCE)
    cutoff = int(row[row < UNREACHED].max()) // 2
    assert min(relaxations(town, cutoff, 3)) >= town.hierarchy.arc_count
    assert tried == [-1]
