"""``python -m benchmarks --customize`` runs, in a tiny form, and a wrong answer makes it fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.benchmark_runs import Bench, bench_of

from groute_py import generate


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return bench_of("--customize", tmp_path, monkeypatch)


def test_cases(run: Bench) -> None:
    done, records = run("road:9x9/50", "random:40,90/70")
    assert done.exit_code == 0, done.output
    assert [record["pairs"] for record in records] == [50, 70]
    assert all(record["update_s"] > 0 for record in records)
    assert done.output.count(" M pairs/s") == 2


def test_copies_of_a_road_network(run: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.tiles.topology", lambda _: generate("road:7x6"))
    done, records = run("tiles:2x3x4:NW/50")
    assert done.exit_code == 0, done.output
    assert records[0]["vertices"] == 6 * 42
    assert records[0]["levels"] < 6 * 4 + 42


def test_wrong_distances(run: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.device.cpu.customization.as_distances", lambda some, kind: some)
    done, _ = run("random:40,30")
    assert done.exit_code == 3
    assert "differ from Dijkstra's" in done.output


def test_no_such_case(run: Bench) -> None:
    done, _ = run("town:NY")
    assert done.exit_code == 2
    assert "GRAPH[/N]" in done.output
