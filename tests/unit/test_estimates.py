"""Estimates of methods for many sources: what an H100 was measured to take, and what is chosen."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.places import ROOT

from groute_py import InputError
from groute_py.engine.options import Options
from groute_py.graph.facts import Facts
from groute_py.jobs import pairs
from groute_py.jobs.pairs import Counts
from groute_py.many import choose as many_choose
from groute_py.many.choose import Choice, choose
from groute_py.many.estimates import GpuRates, estimates, order_seconds

H100 = GpuRates(132, 75 * 10**9)

MEASURED = ROOT / "benchmarks" / "results" / "many-costs-h100.jsonl"


def facts(vertices: int, arcs: int, weights: str = "int32") -> Facts:
    greatest = 1000 if weights == "int32" else 10**12
    return Facts(vertices, arcs, np.dtype(weights), 1, greatest, greatest / 2, 0, 0, "it")


def measured() -> list[dict[str, Any]]:
    return [json.loads(line) for line in MEASURED.read_text().splitlines()]


def test_what_is_chosen_is_estimated_within_a_factor_of_two() -> None:
    """And nothing that was measured beside it took less than two thirds of it."""
    cases: dict[tuple[str, int], dict[str, float]] = {}
    sizes = {}
    for record in measured():
        cases.setdefault((record["graph"], record["count"]), {})[record["method"]] = record["s"]
        sizes[record["graph"]] = record["n"], record["m"]
    checked = 0
    for (graph, count), seconds in cases.items():
        expected = estimates(facts(*sizes[graph]), count, H100)
        expected.pop("sweep", None)  # see test_sweeps
        chosen = min(expected, key=lambda name: expected[name])
        if chosen not in seconds:
            continue
        assert 0.5 <= expected[chosen] / seconds[chosen] <= 2, (graph, count, chosen)
        assert min(seconds.values()) >= seconds[chosen] / 1.5, (graph, count, seconds)
        checked += 1
    assert checked >= 80


@pytest.mark.parametrize(
    ("vertices", "arcs", "count", "method"),
    [
        (24_010_000, 59_529_730, 4, "single"),
        (24_010_000, 59_529_730, 264, "sweep"),
        (264_346, 733_846, 8448, "sweep"),
        (65_536, 393_216, 65_536, "batch"),
        (2000, 1_000_000, 2000, "floyd"),
    ],
)
def test_what_is_chosen(
    vertices: int, arcs: int, count: int, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_choose, "gpu_problem", lambda: None)
    monkeypatch.setattr(many_choose, "gpu_bytes", lambda limit: H100.free_bytes)
    monkeypatch.setattr(many_choose, "own_figures", lambda *_: H100)
    result = choose(Options(device="cuda", predecessors=False), facts(vertices, arcs), count)
    assert result.algorithm == method
    assert f"{method} " in result.reason


@pytest.mark.parametrize(
    ("vertices", "arcs", "count", "seconds"),
    [(24_010_000, 59_529_730, 256, 0.084), (264_346, 733_846, 8192, 0.042)],
)
def test_sweeps(vertices: int, arcs: int, count: int, seconds: float) -> None:
    """Sums of a prepared graph, measured on an H200, beside what opening it takes."""
    several, none = (
        estimates(facts(vertices, arcs), k, H100, prepared=True)["sweep"] for k in (count, 0)
    )
    assert 0.5 <= (several - none) / seconds <= 2


def test_what_is_counted() -> None:
    """Sources are shared by ranks, and rows take time to get where they are wanted."""
    road = facts(10**6, 2_472_658)
    alone, shared = (estimates(road, 1056, H100, ranks) for ranks in (1, 4))
    assert alone["batch"] > 3 * shared["batch"]
    assert alone["floyd"] == 4 * shared["floyd"]
    to_memory = estimates(road, 1056, H100, 1, "memory")
    to_file = estimates(road, 1056, H100, 1, "file")
    assert alone["batch"] + 1 < to_memory["batch"] < to_file["batch"]


def test_what_is_in_place_need_not_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few sources then stay with the hierarchy on the GPU, even where there is no room for one."""
    road = facts(264_346, 733_846)
    swept, cored = Choice("sweep", "cuda", ""), GpuRates(132, 1)
    anew, again = (estimates(road, 3, H100, resident=place) for place in (None, "sweep"))
    assert again["sweep"] < 1e-3 < 0.1 < anew["sweep"]
    assert "sweep" in estimates(road, 3, cored, resident="sweep")
    assert estimates(road, 3, None, resident="sweep")["sweep"] < 0.1
    monkeypatch.setattr(many_choose, "gpu_problem", lambda: None)
    monkeypatch.setattr(many_choose, "gpu_bytes", lambda limit: H100.free_bytes)
    monkeypatch.setattr(many_choose, "own_figures", lambda *_: H100)
    assert choose(Options(predecessors=False), road, 3).device == "cpu"
    result = choose(Options(predecessors=False), road, 3, resident=swept)
    assert (result.algorithm, result.device) == ("sweep", "cuda")
    assert "(sweep is in place)" in result.reason


def test_roads_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cores search while a GPU gets ready, upward in a hierarchy; many sources are the GPU's."""
    road, none = facts(264_346, 733_846), Options(predecessors=False)
    few, many = Counts(5, 5), Counts(20_000, 20_000)
    how: dict[str, Any] = {"prepared": False, "resident": None}
    assert pairs.choose_method(none, road, many, 1, **how).algorithm == "two-sided search"
    monkeypatch.setattr(pairs, "gpu_problem", lambda: None)
    monkeypatch.setattr(many_choose, "gpu_bytes", lambda limit: H100.free_bytes)
    monkeypatch.setattr(many_choose, "own_figures", lambda *_: H100)
    assert pairs.choose_method(none, road, few, 1, **how).device == "cpu"
    upward = pairs.choose_method(none, road, few, 1, prepared=True, resident=None)
    assert (upward.algorithm, upward.device) == ("upward search", "cpu")
    with_paths = replace(none, predecessors=True)
    ways = pairs.choose_method(with_paths, road, few, 1, prepared=True, resident=None)
    assert ways.algorithm == "two-sided search"
    rows = pairs.choose_method(none, road, many, 1, **how)
    assert (rows.algorithm, rows.device) == ("sweep", "cuda")
    assert re.match(r"estimates: two-sided search .* on cores, sweep .* on a GPU", rows.reason)
    on_gpu = pairs.choose_method(replace(none, device="cuda"), road, few, 1, **how)
    assert on_gpu.device == "cuda"


@pytest.mark.parametrize(
    ("vertices", "arcs", "seconds"),
    [
        (250_000, 617_246, 0.75),
        (264_346, 733_846, 1.35),
        (1_000_000, 2_475_862, 4.0),
        (2_250_000, 5_575_458, 12.4),
    ],
)
def test_orders_of_roads(vertices: int, arcs: int, seconds: float) -> None:
    """Seconds of a core that the orders of grids and of New York took."""
    assert seconds / 1.5 < order_seconds(vertices, arcs) < 1.5 * seconds


def test_single_is_for_gpus() -> None:
    with pytest.raises(InputError, match="single is a method for GPUs; on the CPU use batch"):
        choose(Options(algorithm="single", device="cpu"), facts(100, 200), 5)
