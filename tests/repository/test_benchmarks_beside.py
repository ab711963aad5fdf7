"""``python -m benchmarks --beside`` runs, in a tiny form, and a wrong answer makes it fail."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.benchmark_runs import Bench, bench_of

import groute_py

CASES = (
    "pairs:rmat:5/9",
    "nearest:rmat:5/4",
    "nearest:road:9x9/5/k3",
    "within:road:9x9/3",
    "near:road:9x9/3",
    "isochrones:road:9x9/3",
    "isochrone:road:9x9/2",
    "rows:rmat:5/10",
    "matrix:road:9x9/10",
    "tree:road:9x9/1",
    "closeness:rmat:5/3/unweighted",
    "betweenness:rmat:5/3/unweighted",
    "betweenness:road:9x9/1",
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return bench_of("--beside", tmp_path, monkeypatch)


def test_cases(run: Bench) -> None:
    """SciPy, which is always installed, has equal distances; others run where they are."""
    done, records = run(*CASES)
    assert done.exit_code == 0, done.output
    assert [record["case"] for record in records] == list(CASES)
    assert all(record["median_s"] > 0 < record["phases"]["run"] for record in records)
    assert all(record["peers"]["SciPy"]["compared"] for record in records[:10])
    assert [record["peers"]["SciPy"].get("part") for record in records[7:9]] == [None, 8]
    peers = [peer for record in records for peer in record["peers"].values()]
    assert all("median_s" in peer or peer["skipped"] == "not installed" for peer in peers)
    assert {"method", "pairs"} <= records[0]["phases"].keys()
    assert all({"sums", "answer"} <= record["phases"].keys() for record in records[10:])


@pytest.mark.parametrize("case", ["within:road:9x9/3", "nearest:road:9x9/4/k2"])
def test_another_answer(run: Bench, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    import scipy.sparse.csgraph

    honest = scipy.sparse.csgraph.dijkstra
    wrong = lambda *ends, **more: np.asarray(honest(*ends, **more)) + 1  # noqa: E731
    monkeypatch.setattr(scipy.sparse.csgraph, "dijkstra", wrong)
    done, records = run(case)
    assert done.exit_code == 3
    assert records[0]["failed"] == f"{case}: the answer differs from that of SciPy"


def test_our_own_wrong_answer(run: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    import benchmarks.beside

    honest = benchmarks.beside.right_distances
    monkeypatch.setattr(benchmarks.beside, "right_distances", lambda *ends: honest(*ends) + 1)
    done, records = run("closeness:road:9x9/3", "tree:road:9x9/2")
    assert done.exit_code == 3
    assert all("differs from that of Dijkstra" in record["failed"] for record in records)


@pytest.mark.parametrize("wrong", [lambda sums: sums * 2, lambda sums: np.roll(sums, 1)])
def test_our_own_wrong_sums(
    run: Bench, monkeypatch: pytest.MonkeyPatch, wrong: Callable[[Any], Any]
) -> None:
    honest = groute_py.Solver.betweenness

    def betweenness(solver: groute_py.Solver, sources: Any) -> Any:
        scores = honest(solver, sources)
        assert scores is not None
        return dataclasses.replace(scores, values=wrong(scores.values))

    monkeypatch.setattr(groute_py.Solver, "betweenness", betweenness)
    done, records = run("betweenness:rmat:9/2/unweighted")  # the first drawn reaches no vertex
    assert done.exit_code == 3
    assert "differs from that of Brandes" in records[0]["failed"]


def test_no_such_case(run: Bench) -> None:
    for case in ("query:road:9x9/3", "tree:road:9x9/0"):
        done, _ = run(case)
        assert done.exit_code == 2
        assert "JOB:GRAPH/N" in done.output
