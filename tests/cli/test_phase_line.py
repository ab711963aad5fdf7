"""The line that names a phase which takes long."""

from __future__ import annotations

import io

import pytest

from groute_py.cli import phase_line
from groute_py.cli.phase_line import ERASE, PhaseLine
from groute_py.system import clock
from groute_py.system.clock import Clock


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which passes only as the test says."""
    passed = [100.0]
    monkeypatch.setattr(clock.time, "monotonic", lambda: passed[0])
    return passed


def test_only_long_phases_are_named(now: list[float]) -> None:
    watch, stream = Clock("start"), io.StringIO()
    line = PhaseLine(watch, stream)
    now[0] += 5
    line.write()
    watch.enter("compile")
    now[0] += 0.5
    line.write()
    assert stream.getvalue() == ""
    now[0] += 1.5
    line.write()
    assert stream.getvalue() == "compiling kernels … 2 s"
    watch.enter("solve")
    line.write()
    assert stream.getvalue() == f"compiling kernels … 2 s{ERASE}"


def test_others_have_the_terminal(now: list[float]) -> None:
    watch, stream = Clock("verify"), io.StringIO()
    line = PhaseLine(watch, stream)
    now[0] += 3
    line.write()
    with line.held():
        line.write()
        stream.write("bar ")
    line.write()
    assert stream.getvalue() == f"verifying … 3 s{ERASE}bar verifying … 3 s"


def test_nothing_without_a_terminal() -> None:
    with phase_line.phase_line(Clock("start")):
        assert phase_line._line is None
        with phase_line.free_terminal():
            pass


def test_the_thread_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phase_line, "EVERY_S", 0.001)
    monkeypatch.setattr(phase_line, "SOON_S", 0.0)
    stream = io.StringIO()
    line = PhaseLine(Clock("write"), stream)
    line.begin()
    while "writing" not in stream.getvalue():
        pass
    line.end()
    assert stream.getvalue().endswith(ERASE)
