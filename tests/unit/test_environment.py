"""A process's place in the job, from the variables that real launchers set."""

from __future__ import annotations

import pwd

import pytest

from groute_py.errors import InputError
from groute_py.system.environment import JobPlace, hiding, local_size, place
from groute_py.system.settings import settings

# The batch step of a Slurm job: the script itself, before any srun.
BATCH = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
# One task of a step of four on two nodes.
STEP = BATCH | {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "3", "SLURM_LOCALID": "1"}
# mpirun in a batch job starts one srun task a node: Slurm's variables count nodes, not ranks.
PROXY = BATCH | {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"}

OPENMPI = {
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_RANK": "3",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "PMIX_RANK": "3",
}
MPICH = {"PMI_SIZE": "4", "PMI_RANK": "3", "MPI_LOCALNRANKS": "2", "MPI_LOCALRANKID": "1"}
FLUX = {"FLUX_JOB_SIZE": "4", "FLUX_TASK_RANK": "3", "FLUX_TASK_LOCAL_ID": "1"}

MVAPICH = {
    "MV2_COMM_WORLD_SIZE": "4",
    "MV2_COMM_WORLD_RANK": "3",
    "MV2_COMM_WORLD_LOCAL_RANK": "1",
}
JSRUN = {
    "JSM_NAMESPACE_SIZE": "4",
    "JSM_NAMESPACE_RANK": "3",
    "JSM_NAMESPACE_LOCAL_RANK": "1",
}
# Under `flux run` MPICH and Intel MPI start by PMI-1, Open MPI by PMIx.
FLUX_PMI = FLUX | {"PMI_SIZE": "4", "PMI_RANK": "3", "PMI_FD": "25"}
# `flux run -N2 mpirun`: one task a node starts the ranks of its node.
FLUX_PROXY = FLUX | {"FLUX_JOB_SIZE": "2", "FLUX_TASK_RANK": "1", "FLUX_TASK_LOCAL_ID": "0"}
INTEL = MPICH | {"I_MPI_MPIRUN": "mpirun", "PMI_FD": "9", "MPI_LOCALNRANKS": "2"}

PALS = {"PMI_SIZE": "4", "PMI_RANK": "3", "PALS_LOCAL_RANKID": "1"}

PLACES = {
    "no launcher": ({}, JobPlace()),
    "batch step": (BATCH, JobPlace()),
    "srun": (STEP, JobPlace("Slurm", 4, 3, 1)),
    "Open MPI": (OPENMPI, JobPlace("Open MPI", 4, 3, 1)),
    "MPICH": (MPICH, JobPlace("MPICH (hydra)", 4, 3, 1)),
    "Flux": (FLUX, JobPlace("Flux", 4, 3, 1)),
    "Flux with MPICH or Intel MPI": (FLUX_PMI, JobPlace("MPICH (hydra)", 4, 3, 1)),
    "Flux with Open MPI": (FLUX | OPENMPI, JobPlace("Open MPI", 4, 3, 1)),
    "Intel MPI's mpirun": (INTEL, JobPlace("MPICH (hydra)", 4, 3, 1)),
    "Intel MPI's mpirun in Slurm": (PROXY | INTEL, JobPlace("MPICH (hydra)", 4, 3, 1)),
    "Intel MPI's mpirun in Flux": (FLUX_PROXY | INTEL, JobPlace("MPICH (hydra)", 4, 3, 1)),
    "MVAPICH's mpirun_rsh": (MVAPICH, JobPlace("MVAPICH (mpirun_rsh)", 4, 3, 1)),
    "MVAPICH's hydra": (MVAPICH | MPICH, JobPlace("MPICH (hydra)", 4, 3, 1)),
    "jsrun": (JSRUN, JobPlace("LSF (jsrun)", 4, 3, 1)),
    "jsrun of Open MPI": (JSRUN | OPENMPI, JobPlace("Open MPI", 4, 3, 1)),
    "Cray's mpiexec": (PALS, JobPlace("MPICH (hydra)", 4, 3, 1)),
    "Open MPI's mpirun in Slurm": (PROXY | OPENMPI, JobPlace("Open MPI", 4, 3, 1)),
    "MPICH's mpirun in Slurm": (PROXY | MPICH, JobPlace("MPICH (hydra)", 4, 3, 1)),
    "srun --mpi=pmix of Open MPI": (STEP | OPENMPI, JobPlace("Open MPI", 4, 3, 1)),
    "srun --mpi=pmi2 of MPICH": (
        STEP | {"PMI_SIZE": "4", "PMI_RANK": "3"},
        JobPlace("MPICH (hydra)", 4, 3, 1),
    ),
    "srun starts proxies that start ranks": (
        PROXY | {"PMI_SIZE": "4", "PMI_RANK": "3"},
        JobPlace("MPICH (hydra)", 4, 3, None),
    ),
    "MVAPICH": (
        {"PMI_SIZE": "4", "PMI_RANK": "3", "MV2_COMM_WORLD_LOCAL_RANK": "0"},
        JobPlace("MPICH (hydra)", 4, 3, 0),
    ),
    "one rank": ({"PMI_SIZE": "1", "PMI_RANK": "0"}, JobPlace("MPICH (hydra)", 1, 0, None)),
    "half a launcher": ({"OMPI_COMM_WORLD_SIZE": "4"}, JobPlace()),
    "not a number": ({"PMI_SIZE": "four", "PMI_RANK": "0"}, JobPlace()),
    "empty": ({"PMI_SIZE": "", "PMI_RANK": ""} | STEP, JobPlace("Slurm", 4, 3, 1)),
}


@pytest.mark.parametrize(("environ", "expected"), PLACES.values(), ids=PLACES)
def test_place(environ: dict[str, str], expected: JobPlace) -> None:
    assert place(environ) == expected


def test_place_reads_the_process_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OPENMPI.items():
        monkeypatch.setenv(name, value)
    assert place() == JobPlace("Open MPI", 4, 3, 1)
    assert local_size() == 4
    for named, size in (("2", 2), ("0", 1), ("9", 4), ("two", 4)):
        monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_SIZE", named)
        assert local_size() == size


@pytest.mark.parametrize(
    ("environ", "setting"),
    [
        ({}, None),
        ({"SLURM_GPU_BIND": "none"}, None),
        ({"SLURM_TRES_PER_TASK": "cpu=4"}, None),
        ({"SLURM_TRES_PER_TASK": "gres:gpu:1"}, "--tres-per-task=gres:gpu:1"),
        ({"SLURM_GPU_BIND": "single:1", "CUDA_VISIBLE_DEVICES": "0"}, "--gpu-bind=single:1"),
        ({"CUDA_VISIBLE_DEVICES": "2"}, "CUDA_VISIBLE_DEVICES=2"),
    ],
)
def test_what_hides_gpus(environ: dict[str, str], setting: str | None) -> None:
    assert hiding(environ) == setting


@pytest.mark.parametrize("value", ["-1", "0", "two", "1.5", "²"])
def test_a_number_of_hosts_that_cannot_be(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUTE_PY_HOSTS", value)
    with pytest.raises(InputError, match=f"GROUTE_PY_HOSTS={value}: expected a number from 1"):
        settings.__wrapped__()


@pytest.mark.parametrize(("value", "hosts"), [("2", 2), ("", None)])
def test_a_number_of_hosts(value: str, hosts: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUTE_PY_HOSTS", value)
    assert settings.__wrapped__().hosts == hosts


@pytest.mark.parametrize("value", ["-1", "1", "nan", "inf", "soon"])
def test_a_silence_that_cannot_be_kept(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks beat once a second; less than two would blame good ones."""
    monkeypatch.setenv("GROUTE_PY_SILENCE_S", value)
    with pytest.raises(InputError, match=f"GROUTE_PY_SILENCE_S={value}: expected 0, or seconds"):
        settings.__wrapped__()


@pytest.mark.parametrize(("value", "seconds"), [("0", 0.0), ("2", 2.0), ("", 20.0)])
def test_a_silence(value: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUTE_PY_SILENCE_S", value)
    assert settings.__wrapped__().silence_s == seconds


@pytest.mark.parametrize("home", [None, "", "/"])
def test_a_user_without_a_home(home: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept then, and nothing fails."""

    def nobody(number: int) -> None:
        raise KeyError(number)

    for name in ("HOME", "XDG_CACHE_HOME", "GROUTE_PY_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    if home is not None:
        monkeypatch.setenv("HOME", home)
    folder = settings.__wrapped__().cache_folder
    with pytest.raises(OSError, match="Not a directory"):
        folder.mkdir(parents=True)
