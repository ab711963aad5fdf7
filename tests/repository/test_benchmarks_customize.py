"""``python -m benchmarks --customize`` runs, in a tiny form, and a wrong answer makes it fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.benchmark_runs import Bench, bench_of


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return bench_of("--customize", tmp_path, monkeypatch)


def test_cases(run: Bench) -> None:
    done, records = run("road:9x9/50", "random:40,90/70")
    assert done.exit_code == 0, done.output
    assert [record["pairs"] for record in records] == [50, 70]
    assert all(record["update_s"] > 0 for record in records)
    assert done.output.count(" M pairs/s") == 2


def test_wrong_distances(run: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.device.cpu.customization.as_distances", lambda some, kind: some)
    done, _ = run("random:40,30")
    assert done.exit_code == 3
    assert "differ from Dijkstra's" in done.output


def test_no_such_case(run: Bench) -> None:
    done, _ = run("town:NY")
    assert done.exit_code == 2
    assert "GRAPH[/N]" in done.output
