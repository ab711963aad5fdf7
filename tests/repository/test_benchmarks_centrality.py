"""``python -m benchmarks --centrality`` runs, in a tiny form, and a wrong answer makes it fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.benchmark_runs import Bench, bench_of


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return bench_of("--centrality", tmp_path, monkeypatch)


def test_cases(run: Bench) -> None:
    done, records = run(
        "closeness:road:9x9",
        "harmonic:rmat:5/unweighted",
        "eccentricity:random:40,90/7",
        "betweenness:random:40,90/7",
        "edge-betweenness:rmat:5/unweighted",
    )
    assert done.exit_code == 0, done.output
    assert [record["sources"] for record in records] == [81, 32, 7, 7, 32]
    assert all(record["median_s"] > 0 for record in records)
    assert done.output.count(" sources/s") == 5


def test_wrong_values(run: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "groute_py.centrality.dependencies.floats", lambda sums: sums[:, 1].astype(float) + 0.5
    )
    done, records = run("betweenness:random:40,90/7", "closeness:road:9x9")
    assert done.exit_code == 3
    assert "betweenness differs from that of Brandes" in done.output
    assert records[0]["exit_code"] == 3
    assert "failed" not in records[1]


def test_no_such_case(run: Bench) -> None:
    done, _ = run("spread:NY")
    assert done.exit_code == 2
    assert "MEASURE:GRAPH" in done.output


def test_what_goes_with_it(run: Bench) -> None:
    for more, why in (("--both", "goes with --device"), ("--many", "exclude each other")):
        done, _ = run(more=(more,))
        assert done.exit_code == 2
        assert why in done.output
