"""Whole rows within a cutoff: every method on every device, and several ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command import run_command
from support.graphs import graph_of, graphs, random_graph, scipy_distances
from support.local_ranks import on_ranks
from support.opening import opened_on

import groute_py
from groute_py import UNREACHED, Graph, InputError, Result, SourceRows, generate, verify
from groute_py.engine.options import Options
from groute_py.graph.facts import facts_of
from groute_py.jobs.rows import apsp_job
from groute_py.many.choose import choose
from groute_py.many.estimates import GpuRates, estimates

ROAD = generate("road:20x20")


def check(graph: Graph, rows: SourceRows | None, cutoff: float) -> None:
    """Against SciPy with the same limit, and the certificate of each row."""
    assert rows is not None
    for row, source in enumerate(rows.sources.tolist()):
        right = scipy_distances(graph, source, limit=cutoff)
        np.testing.assert_array_equal(rows.distances[row], right)
        if rows.predecessors is not None:
            before = rows.predecessors[row].astype(np.int64)
            verify(graph, Result(source, rows.distances[row], before), cutoff=cutoff)


@settings(max_examples=20)
@given(graph=graphs(), cutoff=st.sampled_from([0, 0.5, 7, 19, 1e9]))
def test_any_graph(device: str, method: str, graph: Graph, cutoff: float) -> None:
    how: Any = {"algorithm": method, "device": device, "predecessors": True}
    check(graph, groute_py.apsp(graph, cutoff=cutoff, **how), cutoff)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_exactly_at_a_distance(device: str, method: str, dtype: str) -> None:
    if method == "sweep" and dtype[0] == "f":
        pytest.skip("sweeps take no floats")
    whole = random_graph(120, 500, seed=2, greatest=40)
    factor = {"int64": 2**40, "float32": 0.125, "float64": 0.125}.get(dtype, 1)
    graph = whole.with_weights((whole.weights * np.float64(factor)).astype(dtype))
    row = scipy_distances(graph, 3)
    reached = np.isfinite(row) if dtype[0] == "f" else row < UNREACHED
    distance = np.quantile(row[reached], 0.4, method="lower").item()
    assert distance > 0
    how: Any = {"algorithm": method, "device": device, "sources": [3, 3, 0, 119]}
    for cutoff in (0, distance, distance - factor / 2, float("inf")):
        check(graph, groute_py.apsp(graph, cutoff=cutoff, **how), cutoff)


def test_rows_come_in_pieces(device: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.many.put_rows.WIDENED_ON_GPU", 900)
    rows = groute_py.apsp(ROAD, algorithm=method, device=device, predecessors=True, cutoff=9000)
    check(ROAD, rows, 9000)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("reverse", [False, True])
def test_on_ranks(device: str, ranks: int, reverse: bool) -> None:
    graph = random_graph(150, 400, seed=ranks, greatest=9)
    sources = np.array([7, 7, 149, 0, 20, 3, 1])

    def work(channel: Any) -> SourceRows | None:
        opened = opened_on(channel, graph, device=device, reverse=reverse, cutoff=12)
        return opened.answer(apsp_job(sources, predecessors=True))

    rows, *others = on_ranks(ranks, work)
    assert others == [None] * (ranks - 1)
    check(graph.reversed() if reverse else graph, rows, 12)


def test_negative_weights_come_back_below_the_cutoff(device: str, method: str) -> None:
    graph = graph_of(4, [(0, 1, 5), (1, 2, -4), (2, 3, 9)])
    rows = groute_py.apsp(graph, cutoff=4, sources=[0], algorithm=method, device=device)
    assert rows is not None
    assert rows.distances.tolist() == [[0, UNREACHED, 1, UNREACHED]]


def test_turns(device: str) -> None:
    path = graph_of(4, [(0, 1, 1), (1, 2, 1), (2, 3, 1)])
    rows = groute_py.apsp(path, cutoff=4, sources=[0], turns=[(0, 1, 2, 2)], device=device)
    assert rows is not None
    assert rows.distances.tolist() == [[0, 1, 4, UNREACHED]]


def test_a_solver_answers_within_its_cutoff(device: str) -> None:
    with groute_py.open(ROAD, device=device, cutoff=9000, prepare=True, predecessors=False) as town:
        for predecessors in (False, True, False):
            check(ROAD, town.apsp([5, 390], predecessors=predecessors), 9000)
        assert town.apsp([5]).statistics["algorithm"] != "labels"
        with pytest.raises(InputError, match="cutoff: not for"):
            town.closeness()


def test_one_search_may_be_out_of_range_beyond_the_cutoff(device: str, method: str) -> None:
    graph = graph_of(4, [(0, 1, 3), (1, 2, 2**62), (2, 3, 2**62)], "int64")
    rows = groute_py.apsp(graph, cutoff=3, sources=[0], algorithm="batch", device=device)
    assert rows is not None
    assert rows.distances.tolist() == [[0, 3, UNREACHED, UNREACHED]]


def test_searches_pay_where_little_is_within_the_cutoff() -> None:
    road, gpu = facts_of(generate("road:200x200")), GpuRates(132, 75 * 10**9)
    for place, times in ((gpu, 2), (None, 100)):
        near, wide, whole = (
            estimates(road, 4000, place, prepared=True, cutoff=cutoff)
            for cutoff in (5 * road.mean, 1e300, None)
        )
        assert times * near["batch"] < whole["batch"]
        assert near["sweep"] == whole["sweep"]
        assert wide == whole
    hub = facts_of(generate("rmat:9"))
    assert estimates(hub, 9, gpu, cutoff=1) == estimates(hub, 9, gpu)
    options = Options(device="cpu", cutoff=5 * road.mean, predecessors=False)
    assert choose(options, road, 4000, prepared=True).algorithm in ("heap", "batch")
    assert choose(Options(device="cpu"), road, 4000, prepared=True).algorithm == "sweep"


class TestTheCommand:
    def test_rows_in_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "rows.npy"
        words = ("--sources", "3,0", "--cutoff", "9000", "--device", "cpu", "-o", file)
        assert run_command("apsp", "road:20x20", *words).exit_code == 0
        right = [scipy_distances(ROAD, source, limit=9000) for source in (3, 0)]
        np.testing.assert_array_equal(np.load(file), right)

    @pytest.mark.parametrize("more", [(), ("--reduce", "sum")])
    def test_no_sums(self, more: tuple[str, ...]) -> None:
        words = ("--cutoff", "9", "--device", "cpu", *more)
        with pytest.raises(InputError, match="with --cutoff rows are saved, not reduced or"):
            run_command("apsp", "road:9x9", *words)
