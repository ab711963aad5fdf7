"""From a plan to the ``mpirun`` command line, for each MPI library that brings an ``mpirun``.

``mpirun -n RANKS PROGRAM`` is common to all. Open MPI moreover refuses to run as root, and to
start more ranks than the machine has cores, unless told that both are meant. The differences are
data: ``FLAVOURS``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from groute_py.errors import SetupError


@dataclass(frozen=True)
class Flavour:
    """One family of ``mpirun``, and its options."""

    name: str
    signs: tuple[str, ...] = ()  # words in the output of ``mpirun --version``
    as_root: tuple[str, ...] = ()  # without these it refuses root
    oversubscribe: tuple[str, ...] = ()  # without these it refuses more ranks than cores
    unbound: tuple[str, ...] = ()  # leave a rank all the cores, as rank 0 reads graphs by threads
    # name the hosts, ``{hosts}`` as a,b or ``{slots}`` as a:4,b:4; ``{each}`` has so many ranks
    on_hosts: tuple[str, ...] = ()
    srun: str = "pmix"  # what ``srun --mpi`` takes to start ranks of this family


HYDRA_HOSTS = ("-hosts", "{hosts}", "-ppn", "{each}")

FLAVOURS = (
    Flavour(
        "openmpi",
        ("Open MPI", "prterun", "PRRTE"),
        as_root=("--allow-run-as-root",),
        # Understood by Open MPI 4 and 5; 5 calls --oversubscribe deprecated.
        oversubscribe=("--map-by", ":OVERSUBSCRIBE"),
        unbound=("--bind-to", "none"),
        on_hosts=("--host", "{slots}"),
    ),
    Flavour("intel", ("Intel(R) MPI",), on_hosts=HYDRA_HOSTS, srun="pmi2"),
    Flavour("mpich", ("HYDRA", "MPICH", "MVAPICH"), on_hosts=HYDRA_HOSTS, srun="pmi2"),
    Flavour("other"),
)
"""In the order in which they are tried: Intel's mpirun is a HYDRA too. "other" gets ``-n`` only."""


@dataclass(frozen=True)
class Plan:
    """The program to start, and the properties of the machine that matter to ``mpirun``.

    ``hosts`` have equally many ranks; none stand for this machine.
    """

    ranks: int
    argv: tuple[str, ...]
    mpirun: Path
    flavour: str
    as_root: bool = False
    oversubscribe: bool = False
    python: str = sys.executable
    hosts: tuple[str, ...] = ()


def command(plan: Plan) -> list[str]:
    """Write the command line of a plan.

    >>> plan = Plan(2, ("sssp", "a.gr"), Path("mpirun"), "openmpi", as_root=True, python="python3")
    >>> " ".join(command(plan))
    'mpirun --allow-run-as-root --bind-to none -n 2 python3 -m groute_py sssp a.gr'
    """
    flavour = flavour_named(plan.flavour)
    return [
        str(plan.mpirun),
        *(flavour.as_root if plan.as_root else ()),
        *(flavour.oversubscribe if plan.oversubscribe else ()),
        *flavour.unbound,
        *_on_hosts(flavour, plan),
        *("-n", str(plan.ranks)),
        *(plan.python, "-m", "groute_py"),
        *plan.argv,
    ]


def _on_hosts(flavour: Flavour, plan: Plan) -> list[str]:
    each = plan.ranks // max(len(plan.hosts), 1)
    slots = ",".join(f"{host}:{each}" for host in plan.hosts)
    words = flavour.on_hosts if plan.hosts else ()
    return [w.format(hosts=",".join(plan.hosts), slots=slots, each=each) for w in words]


def flavour_named(name: str) -> Flavour:
    """Return the flavour of a plan."""
    return next(f for f in FLAVOURS if f.name == name)


def plan(ranks: int, argv: Iterable[str], hosts: tuple[str, ...] = ()) -> Plan:
    """Plan a run with the ``mpirun`` that belongs to this interpreter."""
    mpirun = find_mpirun()
    return Plan(
        ranks,
        tuple(argv),
        mpirun,
        flavour(mpirun),
        as_root=os.geteuid() == 0,
        oversubscribe=not hosts and ranks > cores(),
        hosts=hosts,
    )


def find_mpirun() -> Path:
    """Find ``mpirun``: beside the running interpreter first, then on PATH.

    The one beside the interpreter comes from the same environment as the MPI library that mpi4py
    loads. With another one each rank would run as a job of one rank.
    """
    beside = str(Path(sys.executable).parent)
    for folder in (beside, None):
        if path := shutil.which("mpirun", path=folder):
            return Path(path)
    raise SetupError(
        f"no mpirun beside {sys.executable} nor on PATH; "
        "pip install 'groute-py[mpich]' brings one, or load your site's MPI module"
    )


def flavour(mpirun: Path) -> str:
    """Identify an ``mpirun`` by its version text."""
    try:
        answer = subprocess.run(
            [mpirun, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{mpirun} --version: {error}; is this MPI installed properly?") from error
    return flavour_of(answer.stdout + answer.stderr)


def flavour_of(version: str) -> str:
    """Name the flavour from the text that ``mpirun --version`` prints.

    >>> flavour_of("mpirun (Open MPI) 5.0.11")
    'openmpi'
    """
    return next(f.name for f in FLAVOURS if not f.signs or any(s in version for s in f.signs))


def cores() -> int:
    """Count the physical cores this process may use: what Open MPI takes for its slots."""
    return len({_siblings(cpu) for cpu in os.sched_getaffinity(0)})


def _siblings(cpu: int) -> str:
    """Name the core of a hardware thread by the list of all its threads."""
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return path.read_text().strip()
    except OSError:
        return str(cpu)
