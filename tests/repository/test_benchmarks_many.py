"""``python -m benchmarks --many`` runs, in a tiny form, and a wrong row makes it fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.benchmark_runs import Bench, bench_of
from support.places import ROOT

from groute_py.device.rows import NarrowError
from groute_py.system.environment import JobPlace


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return bench_of("--many", tmp_path, monkeypatch)


def test_cases(run: Bench) -> None:
    done, records = run("floyd:random:60,200", "heap:road:9x9/paths", "batch:rmat:6/7")
    assert done.exit_code == 0, done.output
    assert [record["rows_verified"] for record in records] == [60, 81, 7]
    assert [record["sources"] for record in records] == [60, 81, 7]
    assert all(record["median_s"] > 0 for record in records)
    assert done.output.count(" sources/s") == 3


def test_the_end_of_one_of_several_ranks(run: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.__main__.place", lambda: JobPlace("mpirun", size=2, rank=0))
    monkeypatch.setattr("benchmarks.__main__.abort_all", lambda code: pytest.fail(f"ends {code}"))
    done, records = run("heap:random:60,200")
    assert done.exit_code == 0, done.output
    assert len(records) == 1


def test_a_wrong_row(run: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = "groute_py.kernels.cpu.serial.heap_dijkstra"
    monkeypatch.setattr(kernel, lambda *arguments: arguments[3].fill(1))
    done, records = run("heap:random:60,200", "floyd:random:60,200")
    assert done.exit_code == 3
    assert "heap:random:60,200@1: FAILED: the distances from 0 are wrong" in done.output
    assert records[0]["exit_code"] == 3
    assert records[1]["rows_verified"] == 60


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (MemoryError("17 bytes"), "does not fit in memory: 17 bytes"),
        (NarrowError(), "a distance does not fit in the type"),
    ],
)
def test_a_case_that_does_not_fit(
    run: Bench, monkeypatch: pytest.MonkeyPatch, problem: Exception, said: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise problem

    monkeypatch.setattr("groute_py.many.floyd.close", fail)
    done, records = run("floyd:random:60,200", "heap:random:60,200")
    assert done.exit_code == 2
    assert f"FAILED: {said}" in done.output
    assert "failed" in records[0]
    assert records[1]["rows_verified"] == 60


def test_no_such_case(run: Bench) -> None:
    done, _ = run("heap:random:60,200", "dijkstra:NY")
    assert done.exit_code == 2
    assert "METHOD:GRAPH" in done.output


def test_what_goes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.__main__ import main

    done = CliRunner().invoke(main, ["--many", "--both"])
    assert done.exit_code == 2
    assert "--many goes with" in done.output
