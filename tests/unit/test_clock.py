"""The clock of a command: every moment from the start of the process belongs to one phase."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from support.command import as_json, run_command
from support.processes import run_python

from groute_py.cli.records import slowest
from groute_py.engine.statistics import Stopwatch
from groute_py.system import clock
from groute_py.system.clock import Clock, process_age_s, running


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which passes only as the test says."""
    passed = [100.0]
    monkeypatch.setattr(clock.time, "monotonic", lambda: passed[0])
    return passed


def test_phases_add_up(now: list[float]) -> None:
    watch = Clock("start", age_s=2.0)
    now[0] += 1
    watch.enter("read")
    now[0] += 4
    with watch.phase("compile"):
        now[0] += 8
    now[0] += 16
    assert watch.seconds() == {"start": 3, "read": 20, "compile": 8, "total": 31}


def test_an_error_ends_a_phase(now: list[float]) -> None:
    watch = Clock("start")

    def fails() -> None:
        now[0] += 1
        raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"), watch.phase("read"):
        fails()
    now[0] += 2
    assert watch.seconds() == {"start": 2, "read": 1, "total": 3}


def test_a_stopwatch_counts_in_the_clock_that_runs() -> None:
    watch = Clock("start")
    with running(watch), Stopwatch().phase("solve"):
        pass
    with Stopwatch().phase("alone"):
        pass
    assert list(watch.seconds()) == ["start", "solve", "total"]


def test_without_proc_the_age_is_cpu_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for content in (None, "", "1 (a b) S 1", "1 (a) b) " + "x " * 30):
        path = tmp_path / "stat"
        if content is not None:
            path.write_text(content)
        monkeypatch.setattr(clock, "STAT", path)
        assert process_age_s() == pytest.approx(time.process_time(), abs=0.1)


def test_ranks_are_taken_together() -> None:
    ranks = [{"read": 3.0, "total": 3.0}, {"read": 1.0, "wait": 1.5, "total": 2.5}]
    assert slowest(ranks) == {"read": 3.0, "wait": 1.5, "total": 3.0}


@pytest.mark.parametrize(
    "words",
    [
        ("sssp", "road:9x9", "--verify", "--trials", "2"),
        ("nearest", "road:9x9", "--facilities", "1,5", "-o", "{}/out.csv"),
        ("matrix", "road:9x9", "--from", "1", "--to", "2", "-o", "{}/out.npy"),
        ("isochrone", "road:9x9", "--from", "1", "--limits", "9", "-o", "{}/out.csv"),
        ("apsp", "road:9x9"),
        ("centrality", "closeness", "road:9x9"),
    ],
)
def test_commands_account_for_all_time(words: tuple[str, ...], tmp_path: Path) -> None:
    words = tuple(word.format(tmp_path) for word in words)
    seconds = as_json(run_command(*words, "--device", "cpu", "--json"))["seconds"]
    total = seconds.pop("total")
    assert sum(seconds.values()) == pytest.approx(total)
    assert {"start", "import", "mpi", "read"} <= seconds.keys()


def test_time_begins_with_the_process() -> None:
    begun = time.monotonic()
    code = "from groute_py.system.clock import process_age_s; print(process_age_s())"
    age_s = float(run_python(f"import time; time.sleep(0.1); {code}").stdout)
    assert 0.1 < age_s < time.monotonic() - begun + 0.02  # ticks of the kernel are 10 ms
