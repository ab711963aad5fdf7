"""``python -m benchmarks --start``: whole processes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.places import ROOT


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.__main__ import main

    words = ["--start", "--output", str(tmp_path / "out"), "--repeat", "2"]
    return lambda *more: CliRunner().invoke(main, [*words, *more])


def test_cases(run: Callable[..., Result], tmp_path: Path) -> None:
    done = run("--case", "import")
    assert done.exit_code == 0, done.output
    (file,) = (tmp_path / "out").glob("start-*.json")
    (record,) = json.loads(file.read_text())["records"]
    assert [run["wall_s"] > 0 for run in record["warm"]["runs"]] == [True, True]
    assert "import@1: warm 0." in done.output


def test_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.start import CASES, _shown

    run = {"wall_s": 1.0, "cpu_s": 2.0, "seconds": {"read": 0.25, "solve": 0.5, "total": 0.75}}
    medians = {"wall_s": 1.0, "cpu_s": 2.0}
    record = {"must_s": 3.0, "goal_s": None, "warm": {"runs": [run], "medians": medians}}
    expected = "warm 1.00 s, CPU 2.00 s (must 3.0 s) [total 0.75, solve 0.50, read 0.25]"
    assert _shown(record) == expected
    command = CASES["csr@4"].command(Path("road.csr"))
    assert command[1:6] == ["-m", "groute_py.launch", "-n", "4", "--"]
    assert command[6:8] == ["sssp", "road.csr"]


def test_what_mpirun_prints_behind_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.start import _timed

    program = r"""print('{"seconds": {"solve": 0.5}}\n\33[0m')"""
    assert _timed([sys.executable, "-c", program], tmp_path)["seconds"] == {"solve": 0.5}


def test_what_a_total_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.start import StartCase, _shown, measure

    text = '{"seconds": {"start": 0.001, "total": 0.001}}'
    words = ("-c", f"import time; print({text!r}, flush=True); time.sleep(0.05)")
    case = StartCase("printing", words, beside=("-c", "pass"), must_times=1.3)
    record = measure(case, tmp_path, 3, cold=False)
    warm = record["warm"]
    assert len(warm["runs"]) == len(warm["beside"]["runs"]) == 3
    for run in warm["runs"]:
        assert 0.05 <= run["end_s"] < run["wall_s"]
        assert run["named"] == 0.001 / run["wall_s"]
    walls = warm["medians"]["wall_s"], warm["beside"]["medians"]["wall_s"]
    assert warm["times"] == walls[0] / walls[1]
    assert f"{warm['times']:.2f} times what runs beside (must 1.3)" in _shown(record)


def test_what_cannot_be_measured(run: Callable[..., Result]) -> None:
    done = run("--case", "csr-first")
    assert done.exit_code == 0
    assert "csr-first@1: " in done.output
    assert "\ncsr@4: " in f"\n{run('--case', 'csr@4').output}"
    for words in (("--case", "no"), ("--many",), ("--quick",)):
        assert run(*words).exit_code == 2
