"""All that needs several GPUs of one host, on two of them and on four: `make test-gpus`.

Each line of `RUNS` is a program of this folder under mpirun. It ends with an error at the first
that fails, or that takes longer than `LIMIT_S`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from support.places import ROOT, TESTS
from support.processes import run_under_mpirun

from groute_py.device.registry import gpu_problem

LIMIT_S = 150


RUNS = [
    "exchange_on_gpus.py fused 100",
    "exchange_on_gpus.py fused 40 sssp grid",
    "exchange_on_gpus.py fused 40 sssp grid roomy",
    "exchange_on_gpus.py fused 40 sssp growing",
    "exchange_on_gpus.py fused 40 sssp pull",
    "exchange_on_gpus.py fused 40 sssp laps",
    "exchange_on_gpus.py rounds 30",
    "exchange_on_gpus.py rounds 30 bfs",
    "stops_on_gpus.py road:2000x2000",
    "floyd_on_gpus.py",
    "labels_on_gpus.py",
]
"""With a GPU for each rank."""

AS_HOSTS = ["exchange_on_gpus.py hierarchical 40 sssp shared"]
"""With four ranks, on two GPUs or four, that stand for two hosts."""


def main() -> int:
    gpus = usable_gpus()
    if gpus < 2:
        print(f"GPUs that can be used: {gpus}; this takes two or four")
        return 2
    for ranks in (2, 4):
        for words in RUNS if ranks <= gpus else []:
            check(words, ranks)
    for words in AS_HOSTS:
        check(words, 4, GROUTE_PY_HOSTS="2")
    return 0


def usable_gpus() -> int:
    if gpu_problem() is not None:
        return 0
    from groute_py.device.cuda.runtime.gpu import gpus  # where there is CuPy

    return len(gpus())


def check(words: str, ranks: int, **environ: str) -> None:
    """Run a program on some ranks."""
    program, *rest = words.split()
    path, start = TESTS / "gpu" / program, time.monotonic()
    environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(TESTS), *sys.path])
    ends_all = "-m", "mpi4py"  # when one rank fails
    try:
        done = run_under_mpirun(ranks, *ends_all, path, *rest, timeout=LIMIT_S, environ=environ)
    except subprocess.TimeoutExpired as late:
        sys.exit(f"{words}: not done in {LIMIT_S} s\n{late.stdout}\n{late.stderr}")
    print(
        f"{ranks} ranks, {time.monotonic() - start:.1f} s: {words}\n{done.stdout}",
        end="",
        flush=True,
    )
    if done.returncode:
        sys.exit(done.stderr)


if __name__ == "__main__":
    sys.exit(main())
