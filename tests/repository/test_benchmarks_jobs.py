"""``python -m benchmarks --jobs`` runs, in a tiny form, and a wrong answer makes it fail."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.benchmark_runs import Bench, bench_of


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return bench_of("--jobs", tmp_path, monkeypatch)


def test_cases(run: Bench) -> None:
    done, records = run(
        "matrix:road:9x9/7",
        "nearest:rmat:5/4",
        "nearest:road:9x9/5/k3/prepared",
        "route:road:9x9/20/prepared",
        "within:road:9x9/3/prepared",
    )
    assert done.exit_code == 0, done.output
    assert [record["count"] for record in records] == [7, 4, 5, 20, 3]
    assert all(record["median_s"] > 0 for record in records)
    assert [record.get("sssp_s", 0) > 0 for record in records] == [False, True, False, False, False]
    assert records[-1]["solve_s"] > 0 < records[-1]["whole_s"]
    assert done.output.count(" ms each") == 5
    phases = records[0]["phases"]
    assert {"method", "lay out", "rows", "write", "finish", "run"} <= phases.keys()
    assert all(len(seconds) == 1 for seconds in phases.values())


@pytest.mark.slow
def test_questions(run: Bench) -> None:
    """In a process of its own."""
    done, records = run("query:road:9x9/6")
    assert done.exit_code == 0, done.output
    assert records[0]["count"] == 6


def test_a_wrong_answer(run: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    import benchmarks.jobs

    honest = benchmarks.jobs.right_distances
    monkeypatch.setattr(benchmarks.jobs, "right_distances", lambda *ends: honest(*ends) // 2 + 1)
    done, records = run("matrix:road:9x9/7", "matrix:road:9x9/0x")
    assert (done.exit_code, records) == (2, [])
    assert "JOB:GRAPH/N" in done.output
    done, records = run("matrix:road:9x9/7", "route:road:9x9/3")
    assert done.exit_code == 3
    assert records[0]["failed"] == "matrix:road:9x9/7: a distance or a facility is wrong"


def test_what_goes_with_it(run: Bench) -> None:
    for more, says in ((("--both",), "goes with --device"), (("--many",), "exclude each other")):
        done, _ = run(more=more)
        assert done.exit_code == 2
        assert says in done.output
