"""``python -m benchmarks --documents``: the tables of the source documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.places import ROOT

WORDS = ("--documents", "--quick", "--case", "thesis/table5-2/SimpleGraph00")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.__main__ import main

    return lambda *words: CliRunner().invoke(main, [*words, "--output", str(tmp_path / "out")])


def test_published_beside_ours(run: Callable[..., Result], tmp_path: Path) -> None:
    done = run(*WORDS, "--case", "floyd/results/N=80", "--case", "dense/results/N=4")
    assert done.exit_code == 0, done.output
    assert "| Bellman-Ford, CPU 0.028; Bellman-Ford, GPU 0.31 |" in done.stdout
    assert "NVIDIA GeForce RTX 2080" in done.stdout
    (file,) = (tmp_path / "out").iterdir()
    first, floyd, dense = json.loads(file.read_text())["records"]
    assert first["ours"]["bellman-ford"]["verified"] == 1
    assert floyd["ours"]["floyd"]["median_ms"] > 0
    assert dense["published_ms"] == {"Bellman-Ford, GPU": None}


def test_what_is_refused(run: Callable[..., Result]) -> None:
    assert "no row begins so" in run("--documents", "--case", "nothing").output
    assert "--documents does not go with --many" in run("--documents", "--many").output


def test_the_tables_of_the_committed_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.document_tables import RESULTS, block, committed

    text = block(committed(RESULTS))
    assert text.count("\n## ") >= 3
    assert "NVIDIA H200" in text


def test_both_devices_in_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.document_tables import block, committed, page

    name, case = "Simple Graph 00", "thesis/table5-2/SimpleGraph00"
    ours = {
        m: {"median_ms": ms, "sources": 1}
        for m, ms in (("textbook-bellman-ford", 8.0), ("auto", 4.0))
    }
    record = {
        "case": case,
        "vertices": 10,
        "arcs": 34,
        "ours": ours,
        "published_ms": {"GPU": None},
    }
    about = {"processor": "P", "cores": 2, "commit": "c", "gpus": [], "device": "cpu"}
    other = record | {"case": "floyd/results/N=80"}
    for file, more, records in (
        ("documents-cpu-1-a", {}, [record]),
        ("documents-cuda-1-a", {"gpus": ["G"], "device": "cuda"}, [record]),
        ("documents-cuda-1-b", {"gpus": ["G"], "device": "cuda"}, [other]),
    ):
        content = about | more | {"records": records}
        (tmp_path / f"{file}.json").write_text(json.dumps(content))
    runs = committed(tmp_path)
    text = page(runs)
    assert "| published | here, CPU | here, GPU | remark |" in text
    row = next(line for line in text.splitlines() if name in line)
    assert "| GPU – | textbook-bellman-ford 8; auto 4 | auto 4 |" in row
    assert "| not measured | auto 4 |" in text
    assert "| textbook-bellman-ford 8<br>auto 4 |" in block(runs)
