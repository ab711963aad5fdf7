"""Customization on a GPU: arrays that stay there, and its memory."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from support.skips import EMULATED, needs_gpu, require_metis

from groute_py import UNREACHED, Graph, GraphError, InputError, customize, generate

require_metis()

pytestmark = needs_gpu


def test_arrays_that_stay_on_the_gpu() -> None:
    import cupy as cp

    graph = generate("road:12x12")
    town, there = customize(graph, device="cuda"), customize(graph, device="cpu")
    weights = np.random.default_rng(1).integers(0, 99, graph.arc_count)
    ends = np.random.default_rng(2).integers(0, graph.vertex_count, (2, 50))
    for kind in (np.int64, np.int32, np.uint32, np.uint8):
        town.update(cp.asarray(weights.astype(kind)))
        there.update(weights)
        result = town.pairs(*(cp.asarray(some.astype(kind)) for some in ends))
        assert isinstance(result, cp.ndarray)
        assert (result.get() == there.pairs(*ends)).all()
        weights = weights[::-1].copy()
    rows = town.matrix(cp.asarray(ends[0][:9]), cp.asarray(ends[1]))
    assert isinstance(rows, cp.ndarray)
    assert (rows.get() == there.matrix(ends[0][:9], ends[1])).all()
    rows = town.rows(cp.asarray(ends[0]))
    assert isinstance(rows, cp.ndarray)
    assert (rows.get() == there.rows(ends[0])).all()
    mixed = town.pairs(ends[0], cp.asarray(ends[1]))
    assert isinstance(mixed, np.ndarray)
    assert (mixed == there.pairs(*ends)).all()
    town.update(cp.asarray(weights[:3]), arcs=[5, 6, 7])
    there.update(weights[:3], arcs=[5, 6, 7])
    assert (town.pairs(*ends) == there.pairs(*ends)).all()


def test_ids_on_the_gpu_that_begin_with_one() -> None:
    import cupy as cp

    graph = Graph(np.array([0, 1, 2, 2]), np.array([1, 2], np.int32), np.array([4, 3]), first_id=1)
    town = customize(graph, device="cuda")
    ends = cp.asarray(np.array([1, 3], np.uint32)), cp.asarray(np.array([3, 1], np.uint32))
    assert town.pairs(*ends).get().tolist() == [7, UNREACHED]
    with pytest.raises(InputError, match="none of the 3 vertices"):
        town.pairs(cp.asarray(np.array([0, 1])), ends[1])


def test_what_is_refused_on_the_gpu() -> None:
    import cupy as cp

    town = customize(([0, 1, 2, 2], [1, 2], [4, 3]), device="cuda")
    for wrong in ([0, 3], [0, -1], [0, 2**40]):
        with pytest.raises(InputError, match="none of the 3 vertices"):
            town.pairs(cp.asarray(np.array(wrong)), cp.asarray(np.array([1, 1])))
        with pytest.raises(InputError, match="none of the 3 vertices"):
            town.rows(cp.asarray(np.array(wrong)))
    with pytest.raises(InputError, match="integer"):
        town.pairs(cp.asarray(np.array([0.5])), cp.asarray(np.array([1])))
    with pytest.raises(GraphError, match="arc 1 is negative"):
        town.update(cp.asarray(np.array([3, -3])))
    zero = cp.asarray(np.array([0, 2]))
    assert town.pairs(zero, zero[::-1]).get().tolist() == [7, UNREACHED]


@pytest.mark.skipif(not EMULATED, reason="memory is counted in emulation")
def test_memory_is_freed_at_once() -> None:
    """Not when Python looks for cycles, so that what comes next has room."""
    gc.disable()
    try:
        town = customize("road:9x9", device="cuda")
        town.pairs([1], [2])
        town.rows([1])
        device: Any = town._device
        labels, *others = map(weakref.ref, (device._labels, *device._sweeps.values()))
        town.close()
        assert labels() is None
        others.append(weakref.ref(device._customizer(device.kind)))
        del town, device
        assert [other() for other in others] == [None, None]
    finally:
        gc.enable()


@pytest.mark.skipif(not EMULATED, reason="memory is counted in emulation")
def test_memory_is_asked_for() -> None:
    import cupy as cp

    graph = generate("road:20x20")
    town = customize(graph, device="cuda")
    memory = cp.memory  # type: ignore[attr-defined, unused-ignore]
    whole = memory.size
    try:
        memory.size = memory.taken + 50_000
        with pytest.raises(GraphError, match=r"labels of all vertices would take .* bytes"):
            town.pairs([0], [1])
        memory.size = memory.taken + 5_000
        with pytest.raises(GraphError, match=r"a customizable hierarchy would take .* bytes"):
            customize(graph, device="cuda")
        memory.size = whole
        town.rows([0])
        memory.size = memory.taken + 20_000  # the sweeps, which stay, take 51,200
        assert town.rows([399])[0, 399] == 0
    finally:
        memory.size = whole
    assert len(town.pairs([0], [1])) == 1
