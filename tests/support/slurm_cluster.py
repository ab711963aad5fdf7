"""A Slurm cluster of four nodes on this machine: one slurmctld, four slurmd, a munged of its own.

Everything is on loopback, on ports of its own, in one folder; each node claims two GPUs, which are
really /dev/null. What needs cgroups is switched off, and timers are short.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

NODES = ("n1", "n2", "n3", "n4")
PROGRAMS = (
    "slurmctld",
    "slurmd",
    "munged",
    "sbatch",
    "srun",
    "scontrol",
    "scancel",
    "sinfo",
    "squeue",
)

OVER = (
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "TIMEOUT",
)
"""States of a job that has ended; one that is sent a signal is SIGNALING, then RUNNING again."""

CONFIGURATION = """\
ClusterName=groute
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=27817
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
TmpFS={folder}/tmp.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
KillWait=5
MinJobAge=300
JobRequeue=0
GresTypes=gpu
NodeName=n[1-4] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[27821-27824] CPUs=8 Gres=gpu:2
PartitionName=test Nodes=n[1-4] Default=YES DefaultTime=5 State=UP OverSubscribe=FORCE:4
"""
GPUS = "NodeName=n[1-4] Name=gpu File={folder}/gpu[0-1]\n"


def why_not() -> str | None:
    """Why no cluster can be started here, or None."""
    if os.geteuid() != 0:
        return "a Slurm cluster of one's own needs root"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"no {', '.join(missing)}; on Debian: apt-get install slurm-wlm munge"
    return None


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """A cluster in a folder of its own, which munge wants everybody to be able to enter."""
    folder = Path(tempfile.mkdtemp(prefix="groute-slurm-"))
    folder.chmod(0o755)
    cluster = Cluster(folder)
    try:
        cluster.start()
        yield cluster
        cluster.end_jobs()
    finally:
        cluster.stop()
    shutil.rmtree(folder)


class Cluster:
    """Four nodes; files, logs and the output of jobs are in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = {
            **os.environ,
            "SLURM_CONF": str(folder / "slurm.conf"),
            # The nodes share this machine's memory, which real ones do not: MPICH names shared
            # memory by the job, and two "nodes" with two ranks each would take the same for theirs
            # and wait for ever.
            "UCX_TLS": "tcp,self",
            "MPIR_CVAR_NOLOCAL": "1",
        }

    def start(self) -> None:
        self._lay_out()
        munge = self.folder / "munge"
        self._call(
            *("munged", f"--key-file={munge}/key", f"--socket={munge}/socket"),
            *(f"--pid-file={munge}/munged.pid", f"--seed-file={munge}/seed"),
            f"--log-file={munge}/log",
        )
        self._call("slurmctld")
        for node in NODES:
            self._call("slurmd", "-N", node)
        self.wait_until(self._all_idle, within_s=30)

    def _lay_out(self) -> None:
        folder = self.folder
        for name in (
            "munge",
            "state",
            *(f"{n}.{node}" for n in ("spool", "tmp") for node in NODES),
        ):
            (folder / name).mkdir(mode=0o755)
        (folder / "munge" / "key").write_bytes(secrets.token_bytes(1024))
        (folder / "munge" / "key").chmod(0o600)
        for number in (0, 1):
            (folder / f"gpu{number}").symlink_to("/dev/null")
        user = pwd.getpwuid(os.geteuid()).pw_name
        (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, user=user))
        (folder / "gres.conf").write_text(GPUS.format(folder=folder))

    def _call(self, *words: str) -> str:
        """Run one of Slurm's programs to its end; daemons go to the background by themselves."""
        log = self.folder / "calls.log"
        with open(log, "a") as errors:  # a daemon keeps it open, which a pipe would wait for
            done = subprocess.run(
                words,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL if words[0] in PROGRAMS[:3] else subprocess.PIPE,
                stderr=errors,
                text=True,
                timeout=60,
                check=False,
            )
        assert done.returncode == 0, f"{words}: {log.read_text()}"
        return done.stdout or ""

    def _all_idle(self) -> bool:
        return self._call("sinfo", "-h", "-N", "-o", "%t").split() == ["idle"] * len(NODES)

    def submit(self, *words: object, script: str | None = None, **environ: str) -> int:
        """Submit a batch job, its script in ``words`` or given; returns its number."""
        done = subprocess.run(
            ["sbatch", "--parsable", f"--chdir={self.folder}", *map(str, words)],
            input=script,
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    def control(self, *words: object) -> str:
        return self._call("scontrol", *map(str, words))

    def cancel(self, number: int | str) -> None:
        self._call("scancel", str(number))

    def job(self, number: int | str) -> dict[str, str]:
        """What Slurm knows of a job."""
        words = self.control("-o", "show", "job", number).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def state(self, number: int | str) -> str:
        return self.job(number)["JobState"]

    def ended(self, number: int | str, within_s: float = 60) -> dict[str, str]:
        """Wait until a job is over; what Slurm knows of it."""
        self.wait_until(lambda: self.over(number), within_s)
        return self.job(number)

    def over(self, number: int | str) -> bool:
        return self.state(number) in OVER

    def wait_until(self, there: Callable[[], bool], within_s: float = 60) -> None:
        deadline = time.monotonic() + within_s
        while not there():
            assert time.monotonic() < deadline, self._logs()
            time.sleep(0.2)

    def _logs(self) -> str:
        logs = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        return "\n".join(f"{log.name}:\n{log.read_text()[-2000:]}" for log in logs)

    def end_jobs(self) -> None:
        self._call("scancel", "--quiet", f"--user={os.geteuid()}")
        self.wait_until(lambda: not self._call("squeue", "-h").strip(), within_s=20)

    def stop(self) -> None:
        """End the daemons that have started; slurmctld first, else it waits for its nodes."""
        names = ("slurmctld", *(f"slurmd.{node}" for node in NODES), "munge/munged")
        files = [self.folder / f"{name}.pid" for name in names]
        processes = [int(file.read_text()) for file in files if file.exists()]
        for process in processes:
            os.kill(process, signal.SIGTERM)
        for process in processes:
            self.wait_until(partial(_has_ended, process), within_s=20)


def _has_ended(process: int) -> bool:
    return not Path(f"/proc/{process}").exists()
