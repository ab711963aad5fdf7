"""How a run ends in which something breaks while its ranks start, before or while MPI does."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.one_error import WITHIN_S, Bad, check
from support.processes import LONG_RUN, run_under_mpirun

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


# mpirun of Open MPI 5.0.11 may crash or wait where a rank ends before MPI has started
@pytest.mark.mpi
@pytest.mark.one_mpi
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("name", BREAKS_BEFORE_MPI)
def test_a_rank_that_breaks_before_mpi_ends_all(tmp_path: Path, name: str, rank: int) -> None:
    """The other waits for it in MPI's start, where nothing of ours watches."""
    change, code, says = BREAKS_BEFORE_MPI[name]
    (tmp_path / "program.py").write_text(BEFORE_MPI.format(change=change, rank=rank))
    done = run_under_mpirun(2, tmp_path / "program.py", *LONG_RUN, timeout=WITHIN_S)
    assert done.returncode == code, done.stderr
    assert done.stderr.count(says) == 1, done.stderr


@pytest.mark.slow
@pytest.mark.mpi
@pytest.mark.one_mpi
@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1"])
def test_a_signal_while_ranks_start(tmp_path: Path, name: str) -> None:
    """Whenever it comes: while modules are imported, while MPI starts, and a little later."""
    words = [sys.executable, "-m", "groute_py.launch", "-n", "2", "--", *LONG_RUN]
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
        family, result = {mpirun}, []
        for process in sorted(int(path.name) for path in Path("/proc").glob("[0-9]*")):
            with suppress(OSError):
                parent = int(
                    Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]
                )
                if parent in family:
                    family.add(process)
                    words = Path(f"/proc/{process}/cmdline").read_text().split("\0")
                    if words[1:3] == ["-m", "groute_py"]:
                        result.append(process)
        if len(result) == count:
            return result
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
    assert done.returncode < 0  # mpirun then ends the other ranks
    assert done.stdout == ""


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_modules_are_imported(name: signal.Signals, tmp_path: Path) -> None:
    """An error raised there may be dropped, and the run goes on; so nothing is raised."""
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
    """A module that is half imported cannot be imported again to say so."""
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text(
        "import time\nprint('here', flush=True)\ntime.sleep(60)\n"
    )
    with first_of_two(tmp_path) as run:
        assert run.stderr is not None
        run.terminate()
        code = run.wait(timeout=WITHIN_S)
        check(Bad("", 130, "interrupted by SIGTERM"), code, "", run.stderr.read())
