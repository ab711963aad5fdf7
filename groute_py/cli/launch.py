"""``groute-py launch``: a command for several ranks, as an mpirun line or a Slurm batch script."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from groute_py.cli import show
from groute_py.cli.amounts import Integer
from groute_py.cli.ranks import alike
from groute_py.errors import InputError, SetupError, quote, quoted
from groute_py.system.environment import refuse_inside_a_job

HOST = re.compile(r"[\w.:%@+\[\]-]+")
"""Also an IPv6 address in brackets, with its zone, a user in front, and `+n0` of Open MPI."""

_positive = Integer(min=1)
_command = click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED)


@click.group()
def launch() -> None:
    """Start a command on several ranks: print what would start it, or start it with --submit.

    \b
        groute-py launch mpirun --gpus-per-node 4 -- sssp usa.gr
        groute-py launch slurm --nodes 2 --time 00:10:00 -- sssp usa.gr -o usa.npz
    """  # noqa: D301 - \b is click's


@launch.command()
@click.option("-n", "ranks", type=_positive, metavar="RANKS", help="Ranks on all hosts together.")
@click.option("--hosts", help="Names of the hosts, separated by commas.  [this machine]")
@click.option("--gpus-per-node", type=_positive, help="One rank a GPU.  [--ntasks-per-node]")
@click.option("--ntasks-per-node", type=_positive, help="Ranks a host.  [--gpus-per-node]")
@click.option("--submit", is_flag=True, help="Start it instead of printing it.")
@_command
@alike
def mpirun(
    ranks: int | None,
    hosts: str | None,
    gpus_per_node: int | None,
    ntasks_per_node: int | None,
    submit: bool,
    argv: tuple[str, ...],
) -> None:
    """The mpirun line of `groute-py ARGV`."""
    from groute_py.launch.mpirun import command, plan

    if submit:
        refuse_inside_a_job()
    _check_command(argv)
    if ":" in argv:
        what = "':' by itself would begin another program for mpirun"
        raise InputError(f"{what}; write a file of that name as ./:")
    names = () if hosts is None else tuple(hosts.split(","))
    for name in names:
        _check_host(name)
    ranks = _ranks(ranks, ntasks_per_node or gpus_per_node, max(len(names), 1))
    words = command(plan(ranks, argv, names))
    show.note(f"{ranks} ranks on {', '.join(names) or 'this machine'}")
    if not submit:
        click.echo(shlex.join(words))
        return
    sys.stdout.flush()
    os.execv(words[0], words)


@launch.command()
@click.option("--nodes", type=_positive, default=1, show_default=True, help="The number of nodes.")
@click.option(
    "--gpus-per-node",
    type=Integer(min=0),
    default=4,
    show_default=True,
    help="One rank a GPU; 0 for the CPU.",
)
@click.option("--ntasks-per-node", type=_positive, help="Ranks a node.  [--gpus-per-node]")
@click.option("--cpus-per-task", type=_positive, help="Cores a rank.  [the site's default]")
@click.option(
    "--time", default="01:00:00", show_default=True, help="The time limit, as Slurm writes it."
)
@click.option("--account", help="The account to charge.  [the site's default]")
@click.option("--partition", help="The partition to run in.  [the site's default]")
@click.option("--modules", default="", help="Load these modules, separated by blanks.")
@click.option("--venv", metavar="FOLDER", help="Activate this virtual environment.")
@click.option("--container", metavar="IMAGE", help="Run within this Apptainer image.")
@click.option("--mpi", metavar="TYPE", help="srun's --mpi: pmix, pmi2, …; or mpirun.  [this MPI's]")
@click.option(
    "--each",
    metavar="FILE",
    help="Submit an array with a task for each line of FILE, which replaces {}.",
)
@click.option("--at-once", type=_positive, metavar="N", help="At most N tasks at a time.")
@click.option("--requeue", is_flag=True, help="Slurm may start it again after a lost node.")
@click.option("--submit", is_flag=True, help="Give it to sbatch and print the job's number.")
@_command
@alike
def slurm(
    ntasks_per_node: int | None,
    modules: str,
    venv: str | None,
    mpi: str | None,
    each: str | None,
    submit: bool,
    **plan: Any,
) -> None:
    """The Slurm batch script of `groute-py ARGV`."""
    from groute_py.launch import slurm as launching

    _check_command(plan["argv"])
    for name in ("account", "partition"):
        if plan[name] is not None:
            _check_word(f"--{name}", plan[name])
    if plan["at_once"] and each is None:
        raise InputError("--at-once is of the tasks that --each makes; name its FILE")
    job = launching.BatchJob(
        **plan,
        ranks_per_node=ntasks_per_node,
        modules=tuple(modules.split()),
        venv=venv and str(Path(venv).expanduser()),  # of --venv=~/name the shell makes nothing
        mpi=mpi or _start(),
        items=() if each is None else _lines(each),
    )
    text = launching.script(job)
    show.note(launching.summary(job))
    click.echo(launching.submit(text) if submit else text, nl=submit)


def _ranks(ranks: int | None, each: int | None, hosts: int) -> int:
    if ranks is None and each is None:
        raise InputError("how many ranks? say -n, --gpus-per-node or --ntasks-per-node")
    if ranks is not None and each is not None:
        raise InputError("-n, --gpus-per-node and --ntasks-per-node: give one of them")
    if ranks is not None and ranks % hosts:
        raise InputError(f"-n {ranks}: each of {hosts} hosts gets equally many ranks")
    return ranks or (each or 1) * hosts


def _check_command(argv: tuple[str, ...]) -> None:
    """Check the command now, so that a mistake does not first show when the job starts."""
    group = click.get_current_context().find_root().command
    assert isinstance(group, click.Group)
    if argv[0] not in group.commands:
        names = ", ".join(group.commands)
        raise InputError(f"there is no command {quote(argv[0])}; there are {names}")


def _check_word(option: str, value: str) -> None:
    """Refuse a blank, which would end it, a line of its own, and a dash: another option."""
    if value.split() != [value] or not value.isprintable() or value.startswith("-"):
        raise InputError(f"{option}: expected a name, got {quote(value)}")


def _check_host(name: str) -> None:
    """Take characters that names and addresses of hosts have; a quote is a shell's."""
    _check_word("--hosts", name)
    if not HOST.fullmatch(name):
        raise InputError(f"--hosts: expected names of hosts, got {quote(name)}")


def _start() -> str:
    """The ``srun --mpi`` type for this interpreter's MPI library, pmix if unknown; or mpirun.

    An MPICH that pip has installed is not built for the site's Slurm, and its releases from 5 on
    may write more than Slurm's plugin reads.
    """
    from groute_py.launch import mpirun as finding

    try:
        path = finding.find_mpirun()
        flavour = finding.flavour_named(finding.flavour(path))
        is_own = path.parent == Path(sys.executable).parent
        return "mpirun" if is_own and flavour.name == "mpich" else flavour.srun
    except SetupError:
        return finding.Flavour.srun


def _lines(path: str) -> tuple[str, ...]:
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a list of items: {error}") from error
    items = tuple(line.strip() for line in text.split("\n") if line.strip())
    if "\0" in text:
        raise InputError(f"{path}: has a null character, which no argument can hold")
    if not items:
        raise InputError(f"{path}: no items; write one on each line")
    option = next((item for item in items if item.startswith("-")), None)
    if option is not None:
        problem = f"the item {quote(option)} would be an option of the command"
        raise InputError(f"{path}: {problem}; write a file of that name as ./{quoted(option)}")
    return items
