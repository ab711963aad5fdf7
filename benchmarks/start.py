"""``python -m benchmarks --start``: whole processes, from the command to the answer.

    python -m benchmarks --start
    python -m benchmarks --start --device cuda --cold
    python -m benchmarks --start --case NY --case NY-first

Each case is a command that a fresh process runs. ``wall`` is from its start to its end, ``cpu`` the
processor time of it and its children; behind them stand the time of the last answer, as it accounts
for it, and its longest phases. ``end`` is from the answer to the end of the process, ``named`` the
share of ``wall`` that its ``total`` names. A case with a process beside it runs by turns with that;
``times`` is the ratio of their medians.
Bytecode of Python is compiled beforehand, as an installation has it, and all caches are folders of
this run. A case whose name ends in ``-first`` has empty ones for each process, as after an
installation; the others run once unmeasured. Processes run elsewhere than here, so what the
interpreter has installed is measured: a checkout, or a wheel with its compiled kernels.

Files are in the page cache. With ``--cold``, which root alone can ask for, each case is measured
again with nothing there. To drop the page cache slows down all that runs on the machine.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.attempts import measure_all, numbers
from benchmarks.cases import NY_FILE, SkippedError, data_file
from groute_py import generate, write_graph
from groute_py.comm.base import SoloChannel
from groute_py.device.registry import gpu_problem
from groute_py.errors import InputError, RunError

DROP_CACHES = Path("/proc/sys/vm/drop_caches")

CACHES = ("NUMBA_CACHE_DIR", "CUPY_CACHE_DIR", "GROUTE_PY_CACHE", "CUDA_CACHE_PATH")
"""Variables that name folders of what a run leaves for the next."""

GENERATED, SMALL = "road:4900x4900", "road:200x200"

REOPENED = """
import json, sys, time
import groute_py
for _ in range(2):
    begun = time.perf_counter()
    with groute_py.open(sys.argv[1], device=sys.argv[2]) as solver:
        opened = time.perf_counter() - begun
        result = solver.sssp(1)  # vertex 0 of GENERATED has no arcs
    total = time.perf_counter() - begun
print(json.dumps({"seconds": result.statistics["seconds"] | {"open": opened, "total": total}}))
"""
"""Opens a file in a process that has solved it before; the second time counts."""

CALL = "import sys, groute_py; groute_py.sssp(sys.argv[1], 20100, device='cpu')"

LIBRARIES = ("-c", "import numpy, numba")

Record = dict[str, Any]


@dataclass(frozen=True)
class StartCase:
    """One command.

    Attributes:
        name: of the case.
        words: of the command, after the interpreter; ``{}`` stands for the file.
        file: gives the file in a folder, or raises `SkippedError`.
        must_s, goal_s: the seconds that were set for it; None where none were.
        ranks: started by mpirun if more than one.
        beside: words of a process that runs by turns with it.
        must_times: its medians to those of ``beside``, as it was set.
    """

    name: str
    words: tuple[str, ...]
    file: Callable[[Path], Path] | None = None
    must_s: float | None = None
    goal_s: float | None = None
    ranks: int = 1
    beside: tuple[str, ...] = ()
    must_times: float | None = None

    @property
    def is_first(self) -> bool:
        """Whether each process is the first after an installation."""
        return self.name.endswith("-first")

    def command(self, path: Path | None) -> list[str]:
        """The command with its file."""
        words = [str(path) if word == "{}" else word for word in self.words]
        if self.ranks > 1:
            words = ["-m", "groute_py.launch", "-n", str(self.ranks), "--", *words[2:]]
        return [sys.executable, *words]


def _new_york(_: Path) -> Path:
    return data_file(NY_FILE).resolve()


def _generated(suffix: str, spec: str = GENERATED) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        path = folder / f"{spec.replace(':', '-')}{suffix}"
        if not path.exists():
            write_graph(generate(spec), path)
        return path

    return made


def _sssp(device: str, *options: str) -> tuple[str, ...]:
    return ("-m", "groute_py", "sssp", "{}", "--device", device, "--json", *options)


_SMALL = _generated(".gr", SMALL)
CPU = [
    StartCase("import", ("-c", "import groute_py"), None, None, 0.05),
    StartCase("help", ("-m", "groute_py", "--help"), None, None, 0.2),
    StartCase("small-call", ("-c", CALL, "{}"), _SMALL, beside=LIBRARIES, must_times=1.3),
    StartCase("small", _sssp("cpu", "--no-cache"), _SMALL, beside=LIBRARIES, must_times=1.3),
    StartCase("small-first", _sssp("cpu", "--no-cache"), _SMALL),
    StartCase("NY-first", _sssp("cpu", "--no-cache"), _new_york, 3.0, 1.5),
    StartCase("NY", _sssp("cpu", "--no-cache"), _new_york, 1.2, 0.7),
    StartCase("NY-kept", _sssp("cpu"), _new_york),
    StartCase("NY-verify", _sssp("cpu", "--no-cache", "--verify"), _new_york),
]
_CSR, _GR = _generated(".csr"), _generated(".gr")
CUDA = [
    StartCase("csr", _sssp("cuda"), _CSR, 1.5, 1.0),
    StartCase("csr-first", _sssp("cuda"), _CSR, 2.5, 1.3),
    StartCase("csr-verify", _sssp("cuda", "--verify"), _CSR, 2.0, 1.1),
    StartCase("csr-prepared", _sssp("cuda", "--prepare"), _CSR, 1.2),
    StartCase("csr-reopened", ("-c", REOPENED, "{}", "cuda"), _CSR, 0.15, 0.1),
    StartCase("csr@4", _sssp("cuda"), _CSR, 2.2, 1.5, ranks=4),
    StartCase("gr", _sssp("cuda", "--no-cache"), _GR, 4.0, 2.0),
    StartCase("gr@4", _sssp("cuda", "--no-cache"), _GR, 4.0, 1.5, ranks=4),
]
CASES = {case.name: case for case in (*CPU, *CUDA)}


def measure_start(
    device: str, names: tuple[str, ...], repeat: int, output: Path, commit: str | None, cold: bool
) -> int:
    """Measure cases one after the other, and write the numbers to a file.

    Returns:
        The exit code of the first case that failed, else 0.

    Raises:
        InputError: a case is unknown, or ``cold`` is asked for without the right to drop caches.
    """
    chosen = names or [case.name for case in (*CPU, *(CUDA if device == "cuda" else ()))]
    for name in chosen:
        if name not in CASES:
            raise InputError(f"case {name!r} is unknown; there are {', '.join(CASES)}")
    if cold and not os.access(DROP_CACHES, os.W_OK):
        raise InputError(f"--cold writes to {DROP_CACHES}, which only root of this machine can")
    channel = SoloChannel()
    with tempfile.TemporaryDirectory() as folder:
        return measure_all(
            channel,
            [CASES[name] for name in chosen],
            lambda case: measure(case, Path(folder), repeat, cold=cold),
            _shown,
            numbers(output, f"start-{device}", channel),
            {"device": device, "commit": commit, "repeat": repeat},
        )


def measure(case: StartCase, folder: Path, repeat: int, *, cold: bool) -> Record:
    """Measure a case.

    Args:
        case: the command.
        folder: of files and caches.
        repeat: the number of measured processes.
        cold: whether to measure again with nothing in the page cache.

    Raises:
        SkippedError: a file or a GPU is missing.
        RunError: the command fails.
    """
    if case in CUDA and (problem := gpu_problem()) is not None:
        raise SkippedError(f"no GPU: {problem}")
    command = case.command(None if case.file is None else case.file(folder))
    if not case.is_first:
        _timed(command, folder / "caches")
    else:
        _timed(command, folder / "bytecode")  # its caches are not used again
    record: Record = {"must_s": case.must_s, "goal_s": case.goal_s, "processes": case.ranks}
    for state in ("warm", "cold") if cold else ("warm",):
        runs, beside = [], []
        for _ in range(repeat):
            with tempfile.TemporaryDirectory(dir=folder) as fresh:
                caches = Path(fresh) if case.is_first else folder / "caches"
                if state == "cold":
                    os.sync()
                    DROP_CACHES.write_text("3")
                runs.append(_timed(command, caches))
                if case.beside:
                    beside.append(_timed([sys.executable, *case.beside], caches))
        record[state] = {"medians": _medians(runs), "runs": runs}
        if beside:
            record[state]["beside"] = {"medians": _medians(beside), "runs": beside}
            walls = record[state]["medians"]["wall_s"], _medians(beside)["wall_s"]
            record[state]["times"] = walls[0] / walls[1]
            record["must_times"] = case.must_times
    return record


def _medians(runs: list[Record]) -> Record:
    """Medians of the numbers of processes."""
    numbers = [name for name, value in runs[0].items() if isinstance(value, float)]
    return {name: statistics.median(run[name] for run in runs) for name in numbers}


def _timed(command: list[str], caches: Path) -> Record:
    """One process: its times, and the ``seconds`` of its answer if it has one."""
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environ |= {name: str(caches / name) for name in CACHES}
    for name in CACHES:
        (caches / name).mkdir(parents=True, exist_ok=True)
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, env=environ, cwd=caches, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        answer = process.stdout.readline()
        answer_s = time.perf_counter() - begun
        process.stdout.read()
        code = process.wait()
        wall_s, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        if code:
            errors.seek(0)
            raise RunError(f"{' '.join(command)} ended with {code}: {errors.read()[-500:]}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    record: Record = {"wall_s": wall_s, "cpu_s": cpu_s}
    if answer.startswith("{"):
        # Open MPI may print escapes behind it
        record["seconds"] = seconds = json.JSONDecoder().raw_decode(answer)[0]["seconds"]
        if "start" in seconds:  # then its total begins with the process
            record |= {"named": seconds["total"] / wall_s, "end_s": wall_s - answer_s}
    return record


def _shown(record: Record) -> str:
    parts = []
    for state in ("warm", "cold"):
        if state in record:
            medians = record[state]["medians"]
            parts.append(f"{state} {medians['wall_s']:.2f} s, CPU {medians['cpu_s']:.2f} s")
            if "named" in medians:
                parts.append(f"named {medians['named']:.0%}, end {medians['end_s']:.3f} s")
            if times := record[state].get("times"):
                parts.append(f"{times:.2f} times what runs beside (must {record['must_times']})")
    aims = [f"{aim} {record[f'{aim}_s']} s" for aim in ("must", "goal") if record[f"{aim}_s"]]
    last = record["warm"]["runs"][-1].get("seconds", {})
    greatest = sorted((s, name) for name, s in last.items())[:-6:-1]
    parts += [f"({', '.join(aims)})"] if aims else []
    parts += [f"[{', '.join(f'{name} {s:.2f}' for s, name in greatest)}]"] if greatest else []
    return " ".join(parts)
