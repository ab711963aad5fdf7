"""This process's place in a parallel job, by the launcher's variables, without importing MPI.

The launchers are data: for each, the variables that hold the world's size, this process's rank,
and its rank among the processes of its host. mpi4py knows them too, but only once MPI is started,
and the choice whether to start it is made from them.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from groute_py.errors import SetupError, everywhere

MEMBERSHIP, GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
"""Files in which Linux shows the control groups of this process."""


@dataclass(frozen=True)
class Launcher:
    """The variables one launcher sets."""

    name: str
    size: str
    rank: str
    local_rank: tuple[str, ...] = ()


SRUN = Launcher("Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", ("SLURM_LOCALID",))
FLUX = Launcher("Flux", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", ("FLUX_TASK_LOCAL_ID",))
SYSTEMS = (SRUN, FLUX)
"""Batch systems, which start the ranks of MPI libraries under the libraries' own variables too."""

LAUNCHERS = (
    Launcher(
        "Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", ("OMPI_COMM_WORLD_LOCAL_RANK",)
    ),
    Launcher(
        "MPICH (hydra)",
        "PMI_SIZE",
        "PMI_RANK",
        ("MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "PMI_LOCAL_RANK", "PALS_LOCAL_RANKID"),
    ),
    Launcher(
        "MVAPICH (mpirun_rsh)",
        "MV2_COMM_WORLD_SIZE",
        "MV2_COMM_WORLD_RANK",
        ("MV2_COMM_WORLD_LOCAL_RANK",),
    ),
    Launcher(
        "LSF (jsrun)", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", ("JSM_NAMESPACE_LOCAL_RANK",)
    ),
    *reversed(SYSTEMS),
)
"""In order of trust: in a Slurm job, mpirun's own variables win over those of the batch step."""


@dataclass(frozen=True)
class JobPlace:
    """This process's place in the job, as the launcher tells it; None where it does not say."""

    launcher: str | None = None
    size: int = 1
    rank: int = 0
    local_rank: int | None = None


def place(environ: Mapping[str, str] | None = None) -> JobPlace:
    """Find this process's place in the job.

    >>> place({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "3"}).rank
    3
    >>> place({}).launcher is None
    True
    """
    environ = os.environ if environ is None else environ
    for launcher in LAUNCHERS:
        size, rank = environ.get(launcher.size, ""), environ.get(launcher.rank, "")
        if size.isdecimal() and rank.isdecimal():
            return JobPlace(launcher.name, int(size), int(rank), _local_rank(launcher, environ))
    return JobPlace()


def _local_rank(launcher: Launcher, environ: Mapping[str, str]) -> int | None:
    """Read it from the launcher; else from the batch system, if that started the same ranks."""
    names, world = launcher.local_rank, (environ.get(launcher.size), environ.get(launcher.rank))
    for system in SYSTEMS:
        if (environ.get(system.size), environ.get(system.rank)) == world:
            names += system.local_rank
    local = next((environ[name] for name in names if environ.get(name)), None)
    return None if local is None else int(local)


def local_rank(rank: int) -> int:
    """Return the rank within the host, or in the job where the launcher does not say."""
    local = place().local_rank
    return rank if local is None else local


LOCAL_SIZES = (
    *("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"),
    "JSM_NAMESPACE_LOCAL_SIZE",
)
"""The variables in which launchers say how many ranks a host has."""


def local_size() -> int:
    """Return the ranks on this host, or of the job where the launcher does not say."""
    named = (int(os.environ[name]) for name in LOCAL_SIZES if os.environ.get(name, "").isdecimal())
    size = place().size
    return max(min(next(named, size), size), 1)


def named_threads() -> int | None:
    """Return the threads of a process that ``OMP_NUM_THREADS`` names, or ``NUMBA_NUM_THREADS``.

    A value that is no number from 1 names none. Of a list, which has one for each level of nested
    threads, the first counts.
    """
    for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        named = os.environ.get(variable, "").split(",")[0].strip()
        if named.isdecimal() and int(named) > 0:
            return int(named)
    return None


FORWARD_S = 0.2
"""Seconds that MPICH's mpirun may need to forward what a rank has written, before it ends all."""


def hydra_socket() -> int | None:
    """Return the descriptor by which MPICH's mpirun (hydra) takes commands of PMI 1."""
    if place().size > 1 and "HYDI_CONTROL_FD" in os.environ:
        with suppress(KeyError, ValueError, OSError):
            number = int(os.environ["PMI_FD"])
            return number if stat.S_ISSOCK(os.fstat(number).st_mode) else None
    return None


def end_job(exit_code: int) -> None:
    """Let MPICH's mpirun end every rank at once; return where there is none.

    For ranks that fail before MPI has started. The others would wait in its start for ever: this
    mpirun notices that a rank is killed by a signal, but not that it exits with a code.
    """
    if (number := hydra_socket()) is not None:
        time.sleep(FORWARD_S)
        with suppress(OSError):
            os.write(number, b"cmd=abort exitcode=%d\n" % exit_code)


HIDING = {
    "SLURM_GPUS_PER_TASK": "--gpus-per-task",
    "SLURM_TRES_PER_TASK": "--tres-per-task",
    "SLURM_GPU_BIND": "--gpu-bind",
    "CUDA_VISIBLE_DEVICES": "CUDA_VISIBLE_DEVICES",
}
"""Settings that may keep a rank from seeing its host's other GPUs, most telling first: the variable
that shows it, and what the user knows it by."""


def hiding(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the setting that keeps GPUs of this host from this process, as variables tell.

    >>> hiding({"SLURM_GPUS_PER_TASK": "1", "CUDA_VISIBLE_DEVICES": "0"})
    '--gpus-per-task=1'
    """
    environ = os.environ if environ is None else environ
    for variable, name in HIDING.items():
        value = environ.get(variable)
        if value and value != "none" and (variable != "SLURM_TRES_PER_TASK" or "gpu" in value):
            return f"{name}={value}"
    return None


def refuse_inside_a_job() -> None:
    """Refuse mpirun inside srun or mpirun: every rank would start a job of its own."""
    here = place()
    if here.size > 1:
        problem = SetupError(
            f"this is already one of {here.size} ranks under {here.launcher}; "
            "run `groute-py` itself there, not the launcher"
        )
        raise everywhere(problem)


ADVICE = (
    "let every rank see all GPUs of its node: under Slurm --gpus-per-node with --gpu-bind=none, "
    "elsewhere the same CUDA_VISIBLE_DEVICES for all ranks"
)


def why_hidden(rank: int, peers: list[int], setting: str | None) -> str:
    """Say why a rank that does not see the GPUs of ``peers`` cannot exchange inside the kernel.

    It opens the memory of these GPUs (CUDA IPC), for which CUDA must show them to it.

    >>> why_hidden(1, [0], "--gpus-per-task=1")[:70]
    'rank 1 does not see the GPU of rank 0, which --gpus-per-task=1 may hid'
    """
    whose = f"rank {peers[0]}" if len(peers) == 1 else f"ranks {', '.join(map(str, peers))}"
    by = f", which {setting} may hide" if setting else ""
    return f"rank {rank} does not see the GPU of {whose}{by}; {ADVICE}"
