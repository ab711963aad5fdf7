"""Where contraction fits: what is refused, what the host does, and what ``plan`` says."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.command import as_json, run_command
from support.graphs import graph_of
from support.opening import opened_on
from support.prepared_town import ROAD, method

from groute_py import prepare, write_graph
from groute_py.comm.base import SoloChannel
from groute_py.device.cuda.hierarchy.memory_plan import levels_bytes_in, rows_bytes_in
from groute_py.device.registry import CONTRACTION
from groute_py.engine.memory.gpus import (
    estimate,
    free_gpu_bytes,
    place_for,
    prepared_estimate,
    refuse_large_levels,
)
from groute_py.engine.preparing import prepare_graph
from groute_py.errors import InputError
from groute_py.graph.facts import Size, facts_of
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.graph.hierarchy.problems import UnsuitableError
from groute_py.many.choose import own_figures

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


def room(monkeypatch: pytest.MonkeyPatch, gpu: int, host: int | None) -> None:
    """Let so many bytes be free."""
    monkeypatch.setattr("groute_py.engine.memory.gpus.free_gpu_bytes", lambda *_: gpu)
    monkeypatch.setattr("groute_py.system.memory_limits.available_bytes", lambda: host)


@pytest.mark.parametrize(
    ("gpu", "host", "place"),
    [(10**9, 0, "cuda"), (10**5, 10**9, "cpu"), (10**5, None, "cpu")],
)
def test_where_it_is_contracted(
    monkeypatch: pytest.MonkeyPatch, gpu: int, host: int | None, place: str
) -> None:
    room(monkeypatch, gpu, host)
    assert place_for(facts_of(ROAD), "cuda").kind == place


def test_what_fits_nowhere_is_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    room(monkeypatch, 10**3, 10**3)
    facts = facts_of(ROAD)
    said = r"of the GPU, 0\.0 are free; .* of the host, 0\.0 are"
    with pytest.raises(UnsuitableError, match=said):
        place_for(facts, "cuda")
    with pytest.raises(UnsuitableError, match=r"^contraction takes .* GB of the host"):
        prepare_graph(ROAD, facts, "cpu")


def test_a_full_gpu_lets_the_host_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    room(monkeypatch, 0, None)
    there = prepare_graph(ROAD, facts_of(ROAD), "cuda")[0].hierarchy
    here = prepare_graph(ROAD, facts_of(ROAD), "cpu")[0].hierarchy
    assert there.levels == here.levels
    np.testing.assert_array_equal(there.down, here.down)


def test_why_the_host_contracts(monkeypatch: pytest.MonkeyPatch) -> None:
    room(monkeypatch, 0, None)
    facts = facts_of(ROAD)
    said = "; on the host: contraction takes 0.0 GB of the GPU, 0.0 are free"
    assert prepare_graph(ROAD, facts, "cuda")[1] == said
    assert prepare_graph(ROAD, facts, "cpu")[1] == ""


def test_the_room_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may take or leave memory meanwhile: the reason is of what was done."""
    room(monkeypatch, 0, None)
    left = iter([0])
    monkeypatch.setattr("groute_py.engine.memory.gpus.free_gpu_bytes", lambda *_: next(left))
    why = why_prepared_on_gpu(monkeypatch, None)
    assert why.endswith("contraction takes 0.0 GB of the GPU, 0.0 are free")


@pytest.mark.parametrize(("host", "fits"), [(None, True), (0, False)])
def test_a_gpu_that_runs_out_of_memory(
    monkeypatch: pytest.MonkeyPatch, host: int | None, fits: bool
) -> None:
    """The estimate was too low, or another process was faster: the host contracts, if it can."""

    class Full:
        @staticmethod
        def contract(*_: object) -> None:
            raise MemoryError("17 bytes")

    room(monkeypatch, 10**9, host)
    monkeypatch.setitem(sys.modules, CONTRACTION["cuda"], Full)
    why = r"contraction does not fit on the GPU \(17 bytes\)"
    if not fits:
        with pytest.raises(UnsuitableError, match=f"^{why}; contraction takes .* of the host"):
            prepare_graph(ROAD, facts_of(ROAD), "cuda")
        return
    there, aside = prepare_graph(ROAD, facts_of(ROAD), "cuda")
    assert re.fullmatch(f"; on the host: {why}", aside)
    here = prepare_graph(ROAD, facts_of(ROAD), "cpu")[0].hierarchy
    np.testing.assert_array_equal(there.hierarchy.down, here.down)


def gpu_with(monkeypatch: pytest.MonkeyPatch, free: int, pooled: int) -> None:
    """A GPU of which nothing but its memory is asked for."""
    own = SimpleNamespace(mem_info=(free, 10**10), attributes={"MultiProcessorCount": 1})
    fake = SimpleNamespace(own_gpu=lambda _: own, pooled_bytes=lambda: pooled)
    monkeypatch.setitem(sys.modules, "groute_py.device.cuda.runtime.gpu", fake)


def why_prepared_on_gpu(monkeypatch: pytest.MonkeyPatch, limit: int | None) -> str:
    """Why `apsp` with `prepare` has a hierarchy, or none, where there is a GPU."""
    monkeypatch.setattr("groute_py.many.parts.kind_of", lambda *_: "cuda")
    opened = opened_on(SoloChannel(), ROAD, prepare=True, memory_limit=limit)
    opened.supply()
    opened.graph()
    return opened.why_prepared


def test_a_memory_limit_bounds_contraction(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu_with(monkeypatch, 10**9, 0)
    why = why_prepared_on_gpu(monkeypatch, 1000)
    said = "; on the host: contraction takes 0.0 GB of the GPU, 0.0 may be used"
    assert why.endswith(said)


def test_what_the_pool_keeps_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu_with(monkeypatch, 10**9, 2 * 10**9)
    assert [free_gpu_bytes(limit) for limit in (None, 10**10, 5)] == [3 * 10**9, 3 * 10**9, 5]
    assert own_figures(None, facts_of(ROAD)).free_bytes > 29 * 10**8


def test_a_hierarchy_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    town = prepare(ROAD, device="cpu")
    assert town is not None
    facts = facts_of(ROAD)
    takes = takes_of_sweep(town.hierarchy)
    for free, kind in ((takes, "cuda"), (10**3, "cpu")):
        room(monkeypatch, free, None)
        refuse_large_levels(town.hierarchy, facts, kind)
    room(monkeypatch, takes - 1, None)
    with pytest.raises(UnsuitableError, match=r"a sweep takes .* GB of the GPU"):
        refuse_large_levels(town.hierarchy, facts, "cuda")


@pytest.mark.parametrize("is_one_way", [False, True])
@pytest.mark.parametrize("kind", [INT32, INT64])
def test_what_rows_take_on_a_gpu(kind: np.dtype[Any], *, is_one_way: bool) -> None:
    """Weights as the file has them, and packed with their heads as kernels read them."""
    graph = graph_of(4, [(0, 1, 2), (1, 2, 3), (2, 3, 4)]) if is_one_way else ROAD
    prepared = prepare(graph, device="cpu")
    assert prepared is not None
    town = prepared.hierarchy
    assert town.is_symmetric is not is_one_way
    packed = 2 * kind.itemsize * town.arc_count * (2 if is_one_way else 1)
    core = 2 * kind.itemsize * town.core_count**2
    assert rows_bytes_in(town, kind) >= town.nbytes + packed + core + 8 * town.vertex_count


def takes_of_sweep(town: Hierarchy) -> int:
    """Bytes of the levels, and of the graph beside them."""
    levels = levels_bytes_in(town, town.type)
    return levels + estimate(Size(ROAD.vertex_count, ROAD.arc_count), 1, town.type).tight


def test_a_run_goes_on_without_or_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_graph(ROAD, tmp_path / "town.gr")
    room(monkeypatch, 0, 10**3)
    name, why, _ = method(tmp_path / "town.gr", "--prepare")
    assert name == "delta-stepping"
    assert "; not contracted: contraction takes" in why
    with pytest.raises(InputError, match="cannot be contracted: contraction takes"):
        method(tmp_path / "town.gr", "--algorithm", "contraction")


def test_estimates() -> None:
    roads = prepared_estimate(Size(24_000_000, 58_000_000), INT32)
    assert roads is not None
    assert roads.verdict(80 * 10**9) == "yes"
    assert roads.verdict(roads.contraction - 1) == "contracted on the host"
    assert roads.verdict(roads.sweep - 1) == "no"
    assert prepared_estimate(Size(100, 501), INT32) is None
    wide = prepared_estimate(Size(24_000_000, 58_000_000), INT64)
    assert wide is not None
    assert wide.sweep > 1.4 * roads.sweep
    assert wide.contraction_on_host > roads.contraction_on_host


@pytest.mark.parametrize(("gigabytes", "fits"), [(80, "yes"), (8, "contracted on the host")])
def test_plan(gigabytes: int, fits: str) -> None:
    words = ("plan", "road:4900x4900", "--gpu-memory", gigabytes, "--json")
    result = as_json(run_command(*words))
    assert result["prepared_fits"] == fits
    assert result["sweep_gpu_gigabytes"] > result["least_gpu_gigabytes"]
    assert result["labels_gpu_gigabytes"] > 0
    assert result["labels_fit"] == "perhaps not"
    assert result["order_seconds"] > 0
    assert result["contraction_gpu_gigabytes"] > result["contraction_host_gigabytes"] / 2


@pytest.mark.parametrize(
    ("gpus", "gigabytes", "fits"),
    [(4, 200, "probably"), (4, 80, "probably, in shares"), (4, 8, "perhaps not")],
)
def test_plan_of_labels(gpus: int, gigabytes: int, fits: str) -> None:
    words = ("plan", "road:4900x4900", "--gpus", gpus, "--gpu-memory", gigabytes, "--json")
    assert as_json(run_command(*words))["labels_fit"] == fits


def test_plan_of_a_dense_graph() -> None:
    result = as_json(run_command("plan", "rmat:16", "--gpu-memory", "80", "--json"))
    assert "prepared_fits" not in result
    assert "labels_fit" not in result
