"""The clock of a command: every moment from the start of the process belongs to one phase."""

from __future__ import annotations

import os
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


@pytest.mark.parametrize(
    ("scheduled", "age_s"),
    [("480000000 15000000 9", 0.495), ("480000000 0 9", 0.49), ("0 0 0", 0.49), (None, 0.49)],
)
def test_an_age_is_no_tick_too_great(
    scheduled: str | None, age_s: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    stat, schedstat = tmp_path / "stat", tmp_path / "schedstat"
    stat.write_text("1 (a) " + "S " * 19 + f"{round(1 / tick_s)} 0")
    if scheduled is not None:
        schedstat.write_text(scheduled)
    monkeypatch.setattr(clock, "STAT", stat)
    monkeypatch.setattr(clock, "SCHEDSTAT", schedstat)
    monkeypatch.setattr(clock.time, "clock_gettime", lambda _: 1.49 + tick_s)
    assert process_age_s() == pytest.approx(age_s)


def test_time_begins_with_the_process() -> None:
    begun = time.monotonic()
    code = "print(process_age_s(), time.monotonic())"
    code = f"from groute_py.system.clock import process_age_s, time; time.sleep(0.1); {code}"
    age_s, now = map(float, run_python(code).stdout.split())
    assert 0.1 < age_s < now - begun
