"""How a run ends in which something breaks: signals, lost ranks, defects, limits.

A small program changes one thing and then is the command line; "running RANK PID" tells that a rank
is in the middle of its work.
"""

from __future__ import annotations

import os
import platform
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.one_error import OURS, WITHIN_S, Bad, check, quick
from support.processes import run_under_mpirun

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

LONG = ["sssp", "road:150x150", "--source", "9000", "--device", "cpu", "--trials", "1000000"]


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
            [*words, *LONG, "-o", str(tmp_path / "out.npz"), *more],
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
    found, out, err = ended(started)
    assert found == code, err
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


BEFORE_MPI = """
import os, signal, sys, time
from groute_py.comm import connect
from groute_py.errors import *
from groute_py.system.environment import place

world = connect.world

def changed():
    if place().rank == {rank}:
        {change}
        time.sleep(60)
    return world()

connect.world = changed
from groute_py.cli.main import main
main()
"""

BREAKS_BEFORE_MPI = {
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", 130, "interrupted by SIGTERM"),
    "SIGUSR1": ("os.kill(os.getpid(), signal.SIGUSR1)", 1, "the time limit is near"),
    "defect": ("raise ValueError('injected')", 1, "ValueError: injected"),
    "error": ("raise InputError('injected')", 2, "injected"),
    "error of all": ("raise everywhere(SetupError('injected'))", 2, "injected"),
}


@pytest.mark.mpi
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("name", BREAKS_BEFORE_MPI)
def test_a_rank_that_breaks_before_mpi_ends_all(tmp_path: Path, name: str, rank: int) -> None:
    """The other waits for it in MPI's start, where nothing of ours watches."""
    change, code, says = BREAKS_BEFORE_MPI[name]
    (tmp_path / "program.py").write_text(BEFORE_MPI.format(change=change, rank=rank))
    done = run_under_mpirun(tmp_path / "program.py", 2, *LONG, timeout=WITHIN_S)
    assert done.returncode == code, done.stderr
    assert done.stderr.count(says) == 1, done.stderr


@pytest.mark.slow
@pytest.mark.mpi
@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1"])
def test_a_signal_while_ranks_start(tmp_path: Path, name: str) -> None:
    """Whenever it comes: while modules are imported, while MPI starts, and a little later."""
    words = [sys.executable, "-m", "groute_py.launch", "-n", "2", "--", *LONG]
    words += ["-o", str(tmp_path / "out.npz")]
    draw = random.Random(name)
    for _ in range(20):
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
            ranks = ranks_of(started.pid, 2)
            time.sleep(draw.choice([0, 0.2, 0.4, 0.6, 0.8]))
            os.kill(draw.choice(ranks), signal.Signals[name])
            try:
                started.communicate(timeout=WITHIN_S)
            finally:
                for rank in ranks:
                    with suppress(ProcessLookupError):
                        os.kill(rank, signal.SIGKILL)
            assert started.returncode != 0


def ranks_of(mpirun: int, count: int) -> list[int]:
    """The process ids of ranks as soon as all of them run Python."""
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        family, found = {mpirun}, []
        for process in sorted(int(path.name) for path in Path("/proc").glob("[0-9]*")):
            with suppress(OSError):
                parent = int(
                    Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]
                )
                if parent in family:
                    family.add(process)
                    words = Path(f"/proc/{process}/cmdline").read_text().split("\0")
                    if words[1:3] == ["-m", "groute_py"]:
                        found.append(process)
        if len(found) == count:
            return found
    raise AssertionError("the ranks did not start")


def first_of_two(folder: Path) -> subprocess.Popen[str]:
    """Rank 0 of two that imports what lies in a folder first; up to where that prints a line."""
    environ = {**os.environ, "PMI_SIZE": "2", "PMI_RANK": "0"}
    environ["PYTHONPATH"] = f"{folder}:{environ.get('PYTHONPATH', '')}"
    words = [sys.executable, "-m", "groute_py", "sssp", "road:5x5"]
    pipe = subprocess.PIPE
    run = subprocess.Popen(words, env=environ, stdout=pipe, stderr=pipe, text=True)
    assert run.stdout is not None
    assert run.stdout.readline() == "here\n"
    return run


def test_a_signal_while_mpi_starts(tmp_path: Path) -> None:
    """No handler runs in there, so a rank that waits for one that has ended must not have one."""
    (tmp_path / "mpi4py").mkdir()
    (tmp_path / "mpi4py" / "__init__.py").write_text(
        "import ctypes\nprint('here', flush=True)\nctypes.PyDLL(None).sleep(60)\n"
    )
    with first_of_two(tmp_path) as run:
        run.terminate()
        assert run.wait(timeout=WITHIN_S) == -signal.SIGTERM


@pytest.mark.mpi
@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1"])
def test_a_signal_while_mpi_starts_that_it_handles(name: str) -> None:
    """MPICH takes SIGUSR1 for itself; the command's own handler stood there before."""
    program = f"""
import os, signal
signal.signal(signal.{name}, lambda *_: print("too early"))
from groute_py.comm.connect import _mortal
with _mortal():
    from mpi4py import MPI
    os.kill(os.getpid(), signal.{name})
    print("still here")
"""
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert done.returncode != 0
    assert done.stdout == ""


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_modules_are_imported(name: signal.Signals, tmp_path: Path) -> None:
    """What a handler raises there may be dropped, and the run goes on; so nothing is raised."""
    (tmp_path / "click").mkdir()
    (tmp_path / "click" / "__init__.py").write_text(
        "import time\nprint('imports', flush=True)\n"
        "try:\n    time.sleep(60)\nexcept BaseException:\n    pass\n"
    )
    environ = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    words = [sys.executable, "-m", "groute_py", "algorithms"]
    with subprocess.Popen(
        words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert run.stdout.readline() == "imports\n"
        run.send_signal(name)
        assert run.wait(timeout=WITHIN_S) == 130
        assert run.stderr.read() == ""


def test_a_signal_while_numpy_is_imported_on_a_rank(tmp_path: Path) -> None:
    """What is half imported cannot be imported again to say so."""
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text(
        "import time\nprint('here', flush=True)\ntime.sleep(60)\n"
    )
    with first_of_two(tmp_path) as run:
        assert run.stderr is not None
        run.terminate()
        code = run.wait(timeout=WITHIN_S)
        check(Bad("", 130, "interrupted by SIGTERM"), code, "", run.stderr.read())
