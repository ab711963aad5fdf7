"""How a run ends in which something breaks: signals, lost ranks, defects, limits.

A small program changes one thing and then is the command line; "running RANK PID" tells that a rank
is in the middle of its work.
"""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.one_error import OURS, WITHIN_S, Bad, check, quick
from support.processes import LONG_RUN

from groute_py.launch.mpirun import command, plan

PROGRAM = """
import os, sys, time
from groute_py.device.cpu.device import CpuDevice
from groute_py.system.environment import place
from groute_py.errors import *

relax = CpuDevice.relax
slices = started = 0

def changed(self, limit):
    global slices, started
    slices += 1
    if slices == 50:
        started = time.monotonic()
        # main() leaves stdout to rank 0
        os.write(1, f"running {{place().rank}} {{os.getpid()}}\\n".encode())
    if slices >= 50 and time.monotonic() > started + 1:
        {change}
    return relax(self, limit)

CpuDevice.relax = changed
from groute_py.cli.main import main
main()
"""


@pytest.fixture
def job(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start a run that goes on until it is ended, with one change."""

    def start(ranks: int, change: str = "pass", *more: str) -> subprocess.Popen[str]:
        program = tmp_path / "program.py"
        program.write_text(PROGRAM.format(change=change))
        words = [sys.executable, str(program)]
        if ranks > 1:
            words = command(plan(ranks, []))
            words[words.index("-m") :] = [str(program)]
        return subprocess.Popen(
            [*words, *LONG_RUN, "-o", str(tmp_path / "out.npz"), *more],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def running(started: subprocess.Popen[str], ranks: int) -> dict[int, int]:
    """Wait until all ranks are at work; their process ids by rank."""
    assert started.stdout is not None
    lines = [started.stdout.readline().split() for _ in range(ranks)]
    assert all(line[:1] == ["running"] for line in lines), started.communicate(timeout=WITHIN_S)
    return {int(rank): int(process) for _, rank, process in lines}


def ended(started: subprocess.Popen[str], within_s: float = WITHIN_S) -> tuple[int, str, str]:
    out, err = started.communicate(timeout=within_s)
    return started.returncode, out, err


def all_gone(processes: dict[int, int]) -> bool:
    """Whether no process is left, zombies not counted; init may take a moment to bury them."""
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        if not any(alive(process) for process in processes.values()):
            return True
        time.sleep(0.05)
    return False


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_interrupted_alone(job: Any, tmp_path: Path, name: str) -> None:
    started = job(1)
    running(started, 1)
    started.send_signal(signal.Signals[name])
    code, out, err = ended(started)
    check(Bad("", 130, f"interrupted by {name}; nothing was written"), code, out, err)
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_interrupted_mpirun(job: Any, tmp_path: Path, name: str) -> None:
    """mpirun chooses the code and adds lines, on stdout too; ours is at most one."""
    started = job(2)
    processes = running(started, 2)
    started.send_signal(signal.Signals[name])
    code, out, err = ended(started)
    assert code != 0
    assert "vertices" not in out
    assert len(OURS.findall(err)) <= 1, err
    assert all_gone(processes)
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_all_ranks_interrupted(job: Any, name: str) -> None:
    """As a terminal or a batch system does it: every rank gets the signal."""
    started = job(2)
    processes = running(started, 2)
    for process in processes.values():
        os.kill(process, signal.Signals[name])
    code, out, err = ended(started)
    check(Bad("", 130, f"interrupted by {name}"), code, out, err)
    assert all_gone(processes)


@pytest.mark.parametrize("ranks", [1, pytest.param(3, marks=pytest.mark.mpi)])
def test_warned_of_the_time_limit(job: Any, ranks: int, tmp_path: Path) -> None:
    """As Slurm's --signal does it: every rank gets SIGUSR1."""
    started = job(ranks)
    processes = running(started, ranks)
    for process in processes.values():
        os.kill(process, signal.SIGUSR1)
    code, out, err = ended(started)
    check(Bad("", 1, "SIGUSR1: the batch system says that the time limit is near"), code, out, err)
    assert all_gone(processes)
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.mpi
@pytest.mark.parametrize("rank", [0, 1])
def test_killed_rank(job: Any, rank: int) -> None:
    started = job(2)
    processes = running(started, 2)
    os.kill(processes[rank], signal.SIGKILL)
    code, out, _ = ended(started)
    assert code != 0
    assert "vertices" not in out
    assert all_gone(processes)


@pytest.mark.mpi
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_stopped_rank_is_named(
    job: Any, rank: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUTE_PY_SILENCE_S", "2")
    started = job(3)
    processes = running(started, 3)
    os.kill(processes[rank], signal.SIGSTOP)
    code, out, err = ended(started)
    assert code != 0
    assert out == ""
    assert f"rank {rank} (process {processes[rank]} on {platform.node()}) is stopped" in err
    said = [line for line in err.splitlines() if OURS.match(line)]
    # a launcher may wake the stopped rank in order to end it
    assert len([line for line in said if "interrupted by SIGTERM" not in line]) == 1, err
    assert all_gone(processes)
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.mpi
@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_leaves_is_missed(job: Any, rank: int) -> None:
    """With code 0, at which no launcher looks up; MPICH's and Slurm's wait for the others."""
    started = job(3, f"if place().rank == {rank}: os._exit(0)")
    processes = running(started, 3)
    ended(started)
    assert all_gone(processes)


@pytest.mark.mpi
def test_a_job_that_was_stopped_as_a_whole_goes_on(
    job: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batch systems suspend jobs; afterwards nobody is blamed for the silence."""
    monkeypatch.setenv("GROUTE_PY_SILENCE_S", "2")
    started = job(2)
    processes = running(started, 2)
    for process in processes.values():
        os.kill(process, signal.SIGSTOP)
    with pytest.raises(subprocess.TimeoutExpired):
        started.wait(timeout=6)
    for process in processes.values():
        os.kill(process, signal.SIGCONT)
    with pytest.raises(subprocess.TimeoutExpired):
        started.wait(timeout=4)
    for process in processes.values():
        os.kill(process, signal.SIGTERM)
    code, out, err = ended(started)
    check(Bad("", 130, "interrupted by SIGTERM"), code, out, err)


ON_RANK_1 = "if place().rank == 1: "

BREAKS = {
    "defect on rank 1": (ON_RANK_1 + "raise ValueError('injected')", 1, "ValueError: injected"),
    "defect on all ranks": ("raise ValueError('injected')", 1, "ValueError: injected"),
    "error on rank 1": (
        ON_RANK_1 + "raise RunError('injected')",
        1,
        "groute-py (rank 1): injected",
    ),
    "input error on rank 1": (ON_RANK_1 + "raise InputError('injected')", 2, "(rank 1): injected"),
    "no memory on rank 1": (
        ON_RANK_1 + "raise MemoryError('injected')",
        1,
        "MemoryError: injected",
    ),
}


@pytest.mark.mpi
@pytest.mark.parametrize("name", BREAKS)
def test_breaks_on_two_ranks(job: Any, tmp_path: Path, name: str) -> None:
    change, code, says = BREAKS[name]
    started = job(2, change)
    processes = running(started, 2)
    result, out, err = ended(started)
    assert result == code, err
    assert out == ""
    assert err.count(says) == 1, err
    assert len(OURS.findall(err)) == 1, err
    assert all_gone(processes)
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.mpi)])
def test_a_rank_that_hangs_meets_the_time_limit(job: Any, ranks: int) -> None:
    """A rank stuck in its work cannot vote to stop; the alarm ends it, and it ends all."""
    change = f"while place().rank == {ranks - 1}: time.sleep(0.1)"
    with quick():
        code, out, err = ended(job(ranks, change, "--time-limit", "2"))
    out = re.sub(r"running \d+ \d+\n", "", out)
    check(Bad("", 1, "the time limit"), code, out, err)
