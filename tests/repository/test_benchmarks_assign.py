"""``python -m benchmarks --assign`` runs, in a tiny form, and a wrong answer makes it fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.benchmark_runs import Bench, bench_of
from support.skips import require_metis

require_metis()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return bench_of("--assign", tmp_path, monkeypatch)


def test_cases(run: Bench) -> None:
    done, [record] = run("road:9x9/20")
    assert done.exit_code == 0, done.output
    for method, curve in record["curves"].items():
        assert len(curve) == record[f"{method}_iterations"]
        assert curve[-1][1] <= 1e-6
    assert set(record["curves"]) == {"bfw", "tfw"}


def test_a_wrong_gap(run: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groute_py.assignment.answer.Assignment.gap", 0.5)
    done, _ = run("road:9x9/20")
    assert done.exit_code == 3
    assert "differs from that of Dijkstra's" in done.output


def test_no_such_case(run: Bench) -> None:
    done, _ = run("town/NY")
    assert done.exit_code == 2
    assert "GRAPH/ZONES or PATH/NAME" in done.output
