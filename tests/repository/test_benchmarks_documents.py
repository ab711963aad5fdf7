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
