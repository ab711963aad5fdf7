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
        memory.size = memory.taken + 5_000
        with pytest.raises(GraphError, match=r"a customizable hierarchy would take .* bytes"):
            customize(graph, device="cuda")
        memory.size = whole
        town.rows([0])
        memory.size = memory.taken + 20_000  # the sweeps, which stay, take 51,200
        assert town.rows([399])[0, 399] == 0
    finally:
        memory.size = whole


@pytest.mark.skipif(not EMULATED, reason="memory is counted in emulation")
def test_labels_that_have_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs are answered without; labels are tried again after as many pairs more."""
    import cupy as cp

    graph = generate("road:20x20")
    monkeypatch.setattr("groute_py.device.cuda.hierarchy.customization.PAIRS_A_CALL", 0)
    town, right = customize(graph, device="cuda"), customize(graph, device="cpu")
    ends = np.arange(60), np.arange(60)[::-1].copy()
    town.rows([0])  # whose sweeps stay
    device: Any = town._device
    memory = cp.memory  # type: ignore[attr-defined, unused-ignore]
    whole = memory.size
    try:
        memory.size = memory.taken + 50_000
        assert (town.pairs(*ends) == right.pairs(*ends)).all()
        for some in (ends[0][:4], ends[0][:8]):
            assert (town.matrix(some, ends[1]) == right.matrix(some, ends[1])).all()
        assert device._labels is None
    finally:
        memory.size = whole
    town.pairs([0], [1])
    assert device._labels is None
    for _ in range(20):
        assert (town.pairs(*ends) == right.pairs(*ends)).all()
    assert device._labels is not None
    town.update(graph.weights)
    town.pairs(*ends)
    assert not device._labels.are_due  # few pairs pay again


def test_rows_alone_need_no_labels() -> None:
    town = customize("road:12x12", device="cuda")
    town.share(0)
    town.rows([0, 5])
    device: Any = town._device
    assert device._labels is None


def test_labels_are_filled_when_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    place = "groute_py.device.cuda.hierarchy.customization"
    monkeypatch.setattr(f"{place}.PAIRS_A_LABEL", 1 / 8)
    monkeypatch.setattr(f"{place}.PAIRS_A_CALL", 4)
    graph = generate("road:12x12")
    town, right = customize(graph, device="cuda"), customize(graph, device="cpu")
    device: Any = town._device
    ends = np.arange(9), np.arange(100, 109)  # 13 of 18
    for other in (graph.weights, graph.weights[::-1].copy()):
        town.update(other)
        right.update(other)
        for is_filled in (False, True):
            assert (town.pairs(*ends) == right.pairs(*ends)).all()
            assert (device._labels is not None and not device._labels.are_due) == is_filled


def test_pairs_without_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    import cupy as cp

    monkeypatch.setattr("groute_py.device.cuda.hierarchy.customization.PAIRS_A_LABEL", np.inf)
    graph = generate("road:12x12")
    town, right = customize(graph, device="cuda"), customize(graph, device="cpu")
    ends = np.random.default_rng(2).integers(0, graph.vertex_count, (2, 70))
    for greatest in (99, 2**31 - 1, 2**40, 5):
        weights = np.random.default_rng(greatest).integers(0, greatest, graph.arc_count)
        town.update(weights)
        right.update(weights)
        assert (town.pairs(*ends) == right.pairs(*ends)).all()
        there = [cp.asarray(some) for some in ends]
        assert (town.pairs(*there).get() == right.pairs(*ends)).all()
        assert (town.matrix(*there).get() == right.matrix(*ends)).all()
    for wrong in (144, -1):
        ids = cp.asarray(np.array([0, wrong]))
        many = cp.asarray(np.arange(144))
        for some in ((ids, many), (many, ids), (ids, ids[:1]), (ids[:1], ids)):
            with pytest.raises(InputError, match="none of the 144 vertices"):
                town.matrix(*some)
        for some in ((ids, ids * 0), (ids * 0, ids)):
            with pytest.raises(InputError, match="none of the 144 vertices"):
                town.pairs(*some)
    assert (town.pairs(*ends) == right.pairs(*ends)).all()


def test_vertices_that_kernels_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the first that is none, as where cores check."""
    monkeypatch.setattr("groute_py.many.customized.MANY", 2)
    town = customize("road:12x12", device="cuda")
    right = np.array([5, 0, 143], np.int32)
    for kind in (np.int32, np.uint32, ">i4"):
        ends = np.array([0, 7, 143], kind)
        assert (town.pairs(ends, right) == town.pairs(ends.astype(np.int64), right)).all()
    for wrong, said in ((144, 144), (-1, -1), (2**31 - 1, 2**31 - 1)):
        ends = np.array([0, wrong, 3], np.int32)
        with pytest.raises(InputError, match=rf"^source {said} is not a vertex"):
            town.pairs(ends, right)
        with pytest.raises(InputError, match=rf"^target {said} is not a vertex"):
            town.paths(right, ends)
        with pytest.raises(InputError, match=rf"^target {said} is not a vertex"):
            town.matrix(right, ends)
        with pytest.raises(InputError, match=rf"^source {said} is not a vertex"):
            town.rows(ends)
    assert len(town.pairs(right, right)) == 3
