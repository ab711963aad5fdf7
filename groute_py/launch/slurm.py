"""From a plan to a Slurm batch script, and to ``sbatch``.

The template is ``sssp.sbatch`` beside this file: a job that works as it is, with a reason for each
option. A plan changes its ``#SBATCH`` lines, adds the set-up of the environment and fixes the
command; everything else stays, so the script that one gets explains itself too.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from groute_py.errors import InputError, SetupError, quote

TEMPLATE = Path(__file__).with_name("sssp.sbatch")

SETUP_MARK = "`source .venv/bin/activate`:\n"
COMMAND_MARK = 'set -- sssp "$@"\n'
PROGRAM_MARK = "program=(groute-py)\n"
MPI_MARK = "${SLURM_MPI_TYPE:-pmix}"
USAGE_MARK = "sssp.sbatch GRAPH [OPTIONS OF groute-py sssp]"
"""The texts of the template that a plan replaces."""

ITEM = "{}"  # in a command, stands for the item of an array job

TIME = re.compile(r"(?:(\d{1,9})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?", re.ASCII)
"""Slurm's times: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S."""


@dataclass(frozen=True)
class BatchJob:
    """A batch job: the command, its resources and its time limit."""

    argv: tuple[str, ...]  # arguments of groute-py; `ITEM` in them stands for the array's item
    nodes: int = 1
    gpus_per_node: int = 4  # and ranks; 0 for the CPU
    ranks_per_node: int | None = None  # if not the number of GPUs
    cpus_per_task: int | None = None  # None for the site's default, which is often one
    time: str = "01:00:00"
    account: str | None = None
    partition: str | None = None
    modules: tuple[str, ...] = ()
    venv: str | None = None
    container: str | None = None
    mpi: str = "pmix"  # the type for ``srun --mpi``; ``mpirun`` to start with mpirun
    items: tuple[str, ...] = ()  # of an array job, one task each
    at_once: int | None = None  # so many tasks may run at a time
    requeue: bool = False  # Slurm may start it again after a lost node

    @property
    def ranks(self) -> int:
        """Ranks on each node."""
        return self.ranks_per_node or self.gpus_per_node

    def check(self) -> None:
        """Raise `InputError` for a plan that cannot run."""
        if self.ranks < 1:
            raise InputError("no ranks: with --gpus-per-node 0 say --ntasks-per-node")
        if not TIME.fullmatch(self.time):
            raise InputError(f"time {quote(self.time)}: write it like 00:10:00 or 1-12:00:00")
        if not seconds(self.time):
            raise InputError(f"time {quote(self.time)}: to Slurm that is no limit at all; name one")
        if not re.fullmatch(r"[\w-]+", self.mpi):
            raise InputError(f"mpi {quote(self.mpi)}: what srun --mpi=list names, or mpirun")
        if self.items and not any(ITEM in word for word in self.argv):
            raise InputError(f"the command says nowhere {ITEM}, where the array's items would go")
        if any(ITEM in word for word in self.argv) and not self.items:
            raise InputError(f"the command has {ITEM}, but there are no items; give them by --each")


def script(job: BatchJob) -> str:
    """Write the batch script of a plan.

    >>> text = script(BatchJob(("sssp", "usa.gr"), nodes=2, time="00:10:00"))
    >>> [line for line in text.splitlines() if "-nodes" in line or line.startswith("set")]
    ['#SBATCH --nodes=2', 'set -- sssp usa.gr']
    """
    job.check()
    _, first, rest = TEMPLATE.read_text().partition("#SBATCH")
    text = first + rest
    for name, value in _directives(job).items():
        text = _with_directive(text, name, value)
    words = _own_words(job)  # all at once: a word of the command may look like a mark
    text = re.sub("|".join(map(re.escape, words)), lambda mark: words[mark[0]], text)
    return f"#!/usr/bin/env bash\n# {summary(job)}.\n#\n{text}"


def summary(job: BatchJob) -> str:
    """Summarise the resources of a job in one line."""
    ranks, gpus = job.nodes * job.ranks, job.nodes * job.gpus_per_node
    gpu_hours = gpus * seconds(job.time) / 3600 * max(len(job.items), 1)
    cores = f" of {_count(job.cpus_per_task, 'core')}" if job.cpus_per_task else ""
    parts = [
        f"{_count(job.nodes, 'node')}, {_count(gpus, 'GPU')}, {_count(ranks, 'rank')}{cores}",
        f"for at most {job.time}" + (f" ({gpu_hours:.3g} GPU hours)" if gpus else ""),
    ]
    if job.items:
        parts.append(f"{len(job.items)} times")
    parts += [f"{k} {v}" for k, v in (("partition", job.partition), ("account", job.account)) if v]
    command = re.sub(r"[\0-\x1f\x7f]", lambda control: repr(control[0])[1:-1], shlex.join(job.argv))
    return f"groute-py {command}: {', '.join(parts)}"


def submit(text: str) -> str:
    """Give a script to ``sbatch``; return the job's number."""
    try:
        run = subprocess.run(
            ["sbatch", "--parsable"], input=text, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise SetupError(
            f"sbatch cannot be run ({error.strerror}); submit from a login node of the cluster"
        ) from error
    if run.returncode:
        raise SetupError(f"sbatch refused the job: {run.stderr.strip()}")
    return run.stdout.strip().partition(";")[0]


def _directives(job: BatchJob) -> dict[str, object]:
    """Return options of sbatch by name; None leaves one out."""
    last, at_once = len(job.items) - 1, f"%{job.at_once}" if job.at_once else ""
    return {
        "job-name": "groute-" + re.sub(r"[^\w-]", "-", job.argv[0]),
        "output": "%x-%A_%a.out" if job.items else "%x-%j.out",
        "open-mode": "append" if job.requeue else None,
        "time": job.time,
        "nodes": job.nodes,
        "ntasks-per-node": job.ranks,
        "cpus-per-task": job.cpus_per_task,
        "gpus-per-node": job.gpus_per_node or None,
        "gpu-bind": "none" if job.gpus_per_node else None,
        "account": job.account,
        "partition": job.partition,
        "array": f"0-{last}{at_once}" if job.items else None,
        "requeue": "" if job.requeue else None,
    }


def _with_directive(text: str, name: str, value: object) -> str:
    """Replace the ``#SBATCH`` line of one option, or add it before the first one."""
    line = (
        "" if value is None else f"#SBATCH --{name}" + (f"={value}" if value != "" else "") + "\n"
    )
    text, count = re.subn(rf"^#SBATCH --{name}\b.*\n", lambda _: line, text, flags=re.MULTILINE)
    return text if count else text.replace("#SBATCH", f"{line}#SBATCH", 1)


def _own_words(job: BatchJob) -> dict[str, str]:
    """Return the replacements of the template's marks."""
    setup = [f"module load {shlex.join(job.modules)}"] if job.modules else []
    setup += [f"source {shlex.quote(job.venv)}/bin/activate"] if job.venv else []
    if job.items:
        setup += [f"items=({shlex.join(job.items)})", "item=${items[SLURM_ARRAY_TASK_ID]}"]
    within = ["apptainer", "exec", "--nv", job.container] if job.container else []
    return {
        SETUP_MARK: SETUP_MARK + "".join(f"{line}\n" for line in setup),
        COMMAND_MARK: f"set -- {' '.join(map(_word, job.argv))}\n",
        PROGRAM_MARK: f"program=({shlex.join([*within, 'groute-py'])})\n",
        USAGE_MARK: "${0##*/}",
        MPI_MARK: MPI_MARK.replace("pmix", job.mpi),
    }


def _word(word: str) -> str:
    """Quote a word of the command, except the array's item in it.

    >>> print(_word("my {}.npz"))
    'my '"$item".npz
    """
    return '"$item"'.join(shlex.quote(part) if part else "" for part in word.split(ITEM)) or "''"


def seconds(time: str) -> int:
    """Convert one of Slurm's times.

    >>> seconds("10"), seconds("10:30"), seconds("01:00:00"), seconds("1-12")
    (600, 630, 3600, 129600)
    """
    match = TIME.fullmatch(time)
    assert match is not None
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    units = (3600, 60, 1) if days is not None or len(numbers) == 3 else (60, 1)
    return int(days or 0) * 86400 + sum(n * u for n, u in zip(numbers, units, strict=False))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
