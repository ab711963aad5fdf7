"""Predecessors that one GPU records while it relaxes: none is missing, or few that are found."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import as_large
from support.graphs import graph_of, graphs, random_graph, scipy_distances
from support.skips import EMULATED, needs_gpu
from support.solving import solve

from groute_py import Graph, generate, verify
from groute_py.device import memory

pytestmark = needs_gpu


SPECS = ["road:120x90", "rmat:12,16", "random:3000,15000"]
if EMULATED:
    SPECS = ["road:9x7", "rmat:8,16", "random:500,2500"]

LOOKED_THROUGH = 16
"""Arcs of a row, as kernels/sssp/assign_predecessors.cu has it."""

FEW = 20
"""Records that may be missing, of hundreds of thousands; without other processes none is."""


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many vertices were left without a record, solve by solve."""
    from groute_py.device.cuda import CudaDevice

    left: list[int] = []
    claim_recorded = CudaDevice._claim_recorded

    def counting(device: Any) -> bool:
        whole = claim_recorded(device)
        left.append(int(device._read_control()["unrecorded"]))
        assert whole == (left[-1] == 0)
        return whole

    monkeypatch.setattr(CudaDevice, "_claim_recorded", counting)
    return left


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("delta", [None, 1.0, 1e9])
@pytest.mark.parametrize("spec", SPECS)
def test_generated(spec: str, delta: float | None, dtype: str, recorded: list[int]) -> None:
    whole = generate(spec)
    graph = Graph(whole.offsets, whole.heads, whole.weights.astype(dtype))
    source = int(np.argmax(np.diff(graph.offsets)))
    for first in (source, 17):
        result = solve(graph, first, device="cuda", algorithm="delta-stepping", delta=delta)
        np.testing.assert_array_equal(result.distances, scipy_distances(graph, first))
        verify(graph, result)
    assert recorded == [0, 0]


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("spec", SPECS)
def test_many_are_far(
    spec: str, dtype: str, recorded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then they are looked for among all vertices, which does not tell by which arcs they came."""
    monkeypatch.setattr(memory, "FAR_SHARE", 1 << 30)
    whole = generate(spec)
    graph = Graph(whole.offsets, whole.heads, whole.weights.astype(dtype))
    degrees = np.diff(graph.offsets)
    for first, delta in ((int(np.argmax(degrees)), None), (17, float(whole.weights.mean()))):
        verify(graph, solve(graph, first, device="cuda", algorithm="delta-stepping", delta=delta))
    assert recorded == [0, 0]


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("spec", ["road:1000x1000", "rmat:18"])
@pytest.mark.slow
@pytest.mark.skipif(EMULATED, reason="takes emulation long")
def test_large(spec: str, dtype: str, recorded: list[int]) -> None:
    """As many vertices as a list has places, and all processors at work.

    Where others use the GPU too it happens that a record is overtaken; see
    kernels/sssp/predecessor_record.cuh.
    """
    whole = generate(spec)
    graph = Graph(whole.offsets, whole.heads, whole.weights.astype(dtype))
    result = solve(graph, int(np.argmax(np.diff(graph.offsets))), device="cuda")
    verify(graph, result)
    (missing,) = recorded
    assert missing <= (FEW if "PYTEST_XDIST_WORKER" in os.environ else 0)


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@settings(max_examples=25)
@given(data=st.data())
def test_any_graph(dtype: str, recorded: list[int], data: st.DataObject) -> None:
    graph = data.draw(graphs(dtype))
    source = data.draw(st.integers(0, graph.vertex_count - 1))
    recorded.clear()
    result = solve(graph, source, device="cuda", algorithm="delta-stepping", delta=3)
    np.testing.assert_allclose(result.distances, scipy_distances(graph, source), rtol=1e-5)
    verify(graph, result)
    needed = result.statistics["relaxations"] - result.statistics["useless_relaxations"]
    assert needed == np.diff(graph.offsets)[result.reached].sum()
    assert recorded == [0]


@pytest.fixture
def overtaken(monkeypatch: pytest.MonkeyPatch) -> None:
    as_large.overtake_records(monkeypatch.setattr)


@pytest.mark.usefixtures("overtaken")
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_overtaken_where_arcs_lead_back(dtype: str, recorded: list[int]) -> None:
    """Their predecessors are found from the vertices themselves, without a pass over all arcs."""
    whole = generate("road:30x20")
    graph = Graph(whole.offsets, whole.heads, whole.weights.astype(dtype))
    verify(graph, solve(graph, 17, device="cuda", algorithm="delta-stepping"))
    assert recorded == [0]


@pytest.mark.usefixtures("overtaken")
@pytest.mark.parametrize("arcs", [LOOKED_THROUGH, LOOKED_THROUGH + 1])
def test_overtaken_beside_a_hub(arcs: int, recorded: list[int]) -> None:
    """Whose row is looked through as far as it is short."""
    leaves = [(0, leaf, leaf) for leaf in range(1, arcs + 1)]
    graph = graph_of(arcs + 1, leaves + [(leaf, 0, weight) for _, leaf, weight in leaves])
    verify(graph, solve(graph, 0, device="cuda", algorithm="delta-stepping"))
    verify(graph, solve(graph, 1, device="cuda", algorithm="delta-stepping"))
    assert [lacking > 0 for lacking in recorded] == [arcs > LOOKED_THROUGH] * 2


@pytest.mark.usefixtures("overtaken")
@pytest.mark.parametrize("greatest", [1, 1000])
def test_overtaken_where_they_do_not(greatest: int, recorded: list[int]) -> None:
    """Also where tight arcs are level, along which trees may close cycles."""
    graph = random_graph(300, 1500, 3, greatest)
    verify(graph, solve(graph, 17, device="cuda", algorithm="delta-stepping"))
    assert recorded[0] > 0


@pytest.mark.usefixtures("overtaken")
@pytest.mark.parametrize("lightest", [0, 1])
def test_overtaken_where_sums_are_alike(lightest: int, recorded: list[int]) -> None:
    """A neighbour may reach others by just as much, or be level."""
    road = generate("road:30x20")
    ends = np.repeat(np.arange(road.vertex_count), np.diff(road.offsets)) * road.heads
    graph = Graph(road.offsets, road.heads, (ends % 3 + lightest).astype(np.int32))
    for source in range(0, graph.vertex_count, 60):
        verify(graph, solve(graph, source, device="cuda", algorithm="delta-stepping"))
    assert lightest == 0 or set(recorded) == {0}


@pytest.mark.usefixtures("overtaken")
@pytest.mark.parametrize("dtype", ["int32", "float32"])
@settings(max_examples=25)
@given(data=st.data())
def test_overtaken_in_any_graph(dtype: str, data: st.DataObject) -> None:
    graph = data.draw(graphs(dtype))
    source = data.draw(st.integers(0, graph.vertex_count - 1))
    verify(graph, solve(graph, source, device="cuda", algorithm="delta-stepping", delta=3))
