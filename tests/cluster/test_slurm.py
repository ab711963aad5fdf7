"""Our batch scripts on a real Slurm: several nodes on this machine, ranks on the CPU."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.graphs import scipy_distances
from support.skips import needs
from support.slurm_cluster import Cluster, running_cluster, why_not

from groute_py import generate
from groute_py.comm.awareness import belongs, mpi_library
from groute_py.launch.slurm import TEMPLATE, BatchJob, script
from groute_py.results.result import read_result

pytestmark = [
    pytest.mark.slurm,
    needs(why_not()),
]

SPEC = "rmat:10"
ENDLESS = ("sssp", "road:100x100", "--device", "cpu", "--trials", "1000000")
STUCK = "time.sleep(1000)"
OURS = re.compile(r"^groute-py(?: \(rank \d\))?: ", re.MULTILINE)

PROGRAM = """\
#!{python}
# groute-py; when rank 0 begins to solve it leaves a file; then each rank does what ON_SOLVE says.
import os, sys, time
from pathlib import Path
from groute_py.device.cpu.device import CpuDevice
from groute_py.system.environment import place

NUMBER = os.environ["SLURM_JOB_ID"]
if "SLURM_ARRAY_JOB_ID" in os.environ:
    NUMBER = os.environ["SLURM_ARRAY_JOB_ID"] + "_" + os.environ["SLURM_ARRAY_TASK_ID"]
relax = CpuDevice.relax

def first(self, limit):
    CpuDevice.relax = relax
    if place().rank == 0:
        Path("{folder}", "begun-" + NUMBER).touch()
    exec(os.environ.get("ON_SOLVE", ""))
    return relax(self, limit)

CpuDevice.relax = first
from groute_py.cli.main import main
main()
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    if not belongs("mpich", mpi_library()):
        pytest.skip(f"Debian's Slurm starts ranks of MPICH as it is, and this is {mpi_library()}")
    with running_cluster() as cluster:
        program = cluster.folder / "groute-py"
        program.write_text(PROGRAM.format(python=sys.executable, folder=cluster.folder))
        program.chmod(0o755)
        bins = f"{cluster.folder}:{Path(sys.executable).parent}"  # where the MPI's mpirun is
        cluster.environ["PATH"] = f"{bins}:{cluster.environ['PATH']}"
        yield cluster


def batch(*argv: str, **plan: Any) -> str:
    """The script of a job on the CPU, one rank on each of two nodes."""
    plan = {"nodes": 2, "gpus_per_node": 0, "ranks_per_node": 1, "time": "00:10:00", **plan}
    return script(BatchJob(argv, mpi="mpirun", **plan))


def said(cluster: Cluster, number: int | str) -> str:
    """What a job wrote, as far as it is there."""
    return "".join(path.read_text() for path in cluster.folder.glob(f"*-{number}.out"))


def begun(cluster: Cluster, number: int | str) -> int | str:
    """Wait until a job solves, or has ended without; returns its number."""
    at_work = cluster.folder / f"begun-{number}"
    cluster.wait_until(lambda: at_work.exists() or cluster.over(number))
    return number


@pytest.fixture(scope="module", autouse=True)
def slow_jobs(cluster: Cluster) -> dict[str, int | str]:
    """Jobs that run into their time limit, of a minute at least, while other tests run."""
    warned, unwarned = (batch(*ENDLESS, time=minutes) for minutes in ("2", "1"))
    unwarned = re.sub("#SBATCH --signal.*", "", unwarned)
    return {
        # Slurm may send it a minute earlier than it is asked to
        "warned": cluster.submit("--signal=USR1@45", script=warned, ON_SOLVE=STUCK),
        "unwarned": cluster.submit(script=unwarned, ON_SOLVE=STUCK),
    }


@pytest.mark.parametrize("each", [1, 2])
def test_the_template_runs_on_two_and_four_ranks(cluster: Cluster, each: int) -> None:
    """Two nodes, GPUs asked for and given: what the file in launch/ does by itself."""
    words = (
        *("--nodes=2", f"--ntasks-per-node={each}", f"--gpus-per-node={each}"),
        *(TEMPLATE, SPEC, "--device", "cpu", "--verify", "--json"),
    )
    number = cluster.submit(*words, SLURM_MPI_TYPE="mpirun")
    assert cluster.ended(number)["JobState"] == "COMPLETED", said(cluster, number)
    found = json.loads(said(cluster, number))
    assert found["verified"] is True
    assert found["statistics"]["ranks"] == 2 * each
    assert cluster.job(number)["TresPerNode"] == f"gres:gpu:{each}"


@pytest.mark.parametrize("mpi", ["mpirun", "none"])
def test_cores_of_each_rank(cluster: Cluster, mpi: str) -> None:
    """Also by srun, for which one rank needs no MPI."""
    text = batch("info", SPEC, nodes=1, cpus_per_task=2)
    number = cluster.submit(script=text, SLURM_MPI_TYPE=mpi)
    assert cluster.ended(number)["JobState"] == "COMPLETED", said(cluster, number)
    assert cluster.job(number)["CPUs/Task"] == "2"


def test_an_array_is_submitted(cluster: Cluster) -> None:
    graph, folder = generate(SPEC), cluster.folder
    sources = [int(v) for v in np.argsort(np.diff(graph.offsets))[-2:]]
    (folder / "sources").write_text("".join(f"{source}\n" for source in sources))
    plan = (
        *("--nodes", "2", "--gpus-per-node", "0", "--ntasks-per-node", "1"),
        *("--time", "00:10:00"),
    )
    solve = ("sssp", SPEC, "--device", "cpu", "-s", "{}", "-o", "from-{}.npz")
    words = (*plan, "--each", "sources", "--submit", "--", *solve)

    done = subprocess.run(
        [sys.executable, "-m", "groute_py", "launch", "slurm", *words],
        cwd=folder,
        env=cluster.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "2 nodes, 0 GPUs, 2 ranks, for at most 00:10:00, 2 times" in done.stderr
    for task, source in enumerate(sources):
        number = f"{done.stdout.strip()}_{task}"
        assert cluster.ended(number)["JobState"] == "COMPLETED", said(cluster, number)
        result = read_result(folder / f"from-{source}.npz")
        np.testing.assert_array_equal(result.distances, scipy_distances(graph, source))


def test_an_array_writes_one_matrix(cluster: Cluster) -> None:
    """Each task its rows; one that is lost is repeated by hand."""
    graph, folder, parts = generate(SPEC), cluster.folder, [f"{part}/4" for part in range(1, 5)]
    (folder / "parts").write_text("\n".join([*parts[:2], parts[3]]))
    plan = ("--gpus-per-node", "0", "--ntasks-per-node", "1", "--time", "00:10:00")
    solve = ("apsp", SPEC, "--device", "cpu", "-o", "rows.npy", "--rows")
    launch = [sys.executable, "-m", "groute_py", "launch", "slurm", *plan, "--each", "parts"]
    how: Any = {"cwd": folder, "env": cluster.environ, "capture_output": True, "text": True}
    done = subprocess.run([*launch, "--submit", "--", *solve, "{}"], **how, check=True)
    for task in range(3):
        number = f"{done.stdout.strip()}_{task}"
        assert cluster.ended(number)["JobState"] == "COMPLETED", said(cluster, number)
    assert not (folder / "rows.npy").exists()
    lost = [sys.executable, "-m", "groute_py", *solve, parts[2], "--resume"]
    subprocess.run(lost, **how, check=True)
    rows = np.load(folder / "rows.npy")
    for source in (0, 300, 600, 1023):
        np.testing.assert_array_equal(rows[source], scipy_distances(graph, source))


@pytest.mark.parametrize(
    "how", ["os._exit(7)", "os._exit(0)", "os.kill(os.getpid(), 9)", "raise ValueError"]
)
def test_a_failing_task_ends_the_job(cluster: Cluster, how: str) -> None:
    """Else the others would wait for it until the time limit."""
    text, then = batch(*ENDLESS), f"if place().rank == 1: {how}"
    number = begun(cluster, cluster.submit(script=text, ON_SOLVE=then))
    assert cluster.ended(number, within_s=30)["JobState"] == "FAILED", said(cluster, number)


def test_a_wrong_mpi_type_is_said(cluster: Cluster) -> None:
    number = cluster.submit(script=batch("sssp", SPEC), SLURM_MPI_TYPE="none")
    # the highest of all ranks, of which Slurm may have interrupted one before it could say so
    assert cluster.ended(number)["ExitCode"] in ("2:0", "130:0", "143:0")
    assert "Slurm started 2 ranks" in said(cluster, number)


def test_doctor_looks_at_the_whole_job(cluster: Cluster) -> None:
    text = batch("doctor", "--json")
    number = cluster.submit(script=text)
    assert cluster.ended(number)["JobState"] == "COMPLETED", said(cluster, number)
    found = json.loads(said(cluster, number))
    assert found["launcher"]["found"] == "MPICH (hydra), 2 ranks"
    assert "local rank 0" in found["rank 0"]["found"]
    assert "local rank 0" in found["rank 1"]["found"]  # the first of its node
    assert not [what for what, finding in found.items() if finding["state"] == "wrong"]


def test_a_cancelled_job_ends_in_order(cluster: Cluster) -> None:
    number = begun(cluster, cluster.submit(script=batch(*ENDLESS)))
    cluster.cancel(number)
    assert cluster.ended(number, within_s=10)["JobState"] == "CANCELLED"
    text = said(cluster, number)
    assert "interrupted by SIGTERM; nothing was written" in text
    assert len(OURS.findall(text)) == 1, text


def test_a_requeued_job_starts_again(cluster: Cluster) -> None:
    wait = "while 'SLURM_RESTART_COUNT' not in os.environ: time.sleep(0.01)"
    text = batch("sssp", SPEC, "--device", "cpu", "--verify", "--json", requeue=True)
    number = begun(cluster, cluster.submit(script=text, ON_SOLVE=wait))
    cluster.control("requeue", number)
    cluster.wait_until(lambda: cluster.state(number) == "PENDING")
    # Slurm lets it wait for two minutes. In the second in which it was ended the nodes would refuse
    # its credential, which counts seconds, and it would fail.
    cluster.control("update", f"jobid={number}", "StartTime=now+2")
    assert cluster.ended(number)["JobState"] == "COMPLETED", said(cluster, number)
    assert cluster.job(number)["Restarts"] == "1"
    lines = said(cluster, number).splitlines()
    assert any("interrupted by SIGTERM" in line for line in lines)
    assert json.loads(lines[-1])["verified"] is True


@pytest.mark.parametrize(
    ("option", "settings"),
    [
        ("--gpu-bind=none", ["None", "None"]),
        ("--gpus-per-task=1", ["CUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES=1"]),
    ],
)
def test_hidden_gpus_are_recognised(cluster: Cluster, option: str, settings: list[str]) -> None:
    look = "from groute_py.system.environment import hiding; print(hiding())"
    text = f"#!/bin/sh\nsrun {option} {sys.executable} -c '{look}'\n"
    asked = ("--nodes=1", "--ntasks-per-node=2", "--gpus-per-node=2", "--output=%x-%j.out")
    number = cluster.submit(*asked, script=text)
    assert cluster.ended(number)["JobState"] == "COMPLETED", said(cluster, number)
    assert sorted(said(cluster, number).split()) == settings


def test_the_end_is_announced(cluster: Cluster, slow_jobs: dict[str, int | str]) -> None:
    number = slow_jobs["warned"]
    assert cluster.ended(number, within_s=120)["JobState"] == "FAILED"
    text = said(cluster, number)
    assert "SIGUSR1: the batch system says that the time limit is near" in text
    assert len(OURS.findall(text)) == 1, text


def test_the_time_limit(cluster: Cluster, slow_jobs: dict[str, int | str]) -> None:
    number = slow_jobs["unwarned"]
    assert cluster.ended(number, within_s=120)["JobState"] == "TIMEOUT"
    text = said(cluster, number)
    assert "interrupted by SIGTERM; nothing was written" in text
    assert len(OURS.findall(text)) == 1, text
