"""The ``groute-py`` command, and the wall every error ends at.

Heavy imports (MPI, Numba, CuPy, rich) happen inside commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from functools import partial
from typing import NoReturn

import click

import groute_py
from groute_py.cli.assign import assign
from groute_py.cli.cache import cache
from groute_py.cli.centrality import centrality
from groute_py.cli.convert import convert, generate, prepare
from groute_py.cli.cost_distance import cost_distance
from groute_py.cli.doctor import doctor
from groute_py.cli.info import algorithms, info
from groute_py.cli.jobs import isochrone, nearest, route
from groute_py.cli.launch import launch
from groute_py.cli.phase_line import phase_line
from groute_py.cli.plan import plan
from groute_py.cli.plot import plot
from groute_py.cli.query import query
from groute_py.cli.rows import apsp, matrix
from groute_py.cli.show import warning
from groute_py.cli.signals import be_done, first_signal, ignore_signals, on_signal, raise_dropped
from groute_py.cli.solve import bfs, sssp, verify
from groute_py.errors import EXIT_CODES, GrouteError, InterruptedRun, TimeLimitError, printable
from groute_py.system.atomic_file import FULL, what_was_written
from groute_py.system.clock import Clock, current, process_age_s, running
from groute_py.system.environment import end_job, hydra_socket, place
from groute_py.system.paths import STDOUT

PATIENCE_S, NEXT_S, LAST_TURN = 1.0, 0.3, 8
"""Seconds for which other ranks let rank 0 speak first when the same thing may have hit all of
them, and how much longer each lets those before it (all from number LAST_TURN speak together)."""

REMEDIES = {
    "source": "for several sources use groute-py apsp --sources ID,ID,…",
    "sources": "name several sources in one value: {} ID,ID,…",
}
"""Advice instead of giving an option twice, by parameter."""


class Commands(click.Group):
    """A group whose commands refuse repeated options, and account for their time.

    An option with one value may be given once: of two values one would be lost without a word.
    """

    def invoke(self, ctx: click.Context) -> object:
        with running(current() or Clock("start")):
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, left = super().resolve_command(ctx, args)
        if command is not None:
            _refuse_repeats(click.Context(command, ctx, name), left)
        return name, command, left


def _refuse_repeats(context: click.Context, args: list[str]) -> None:
    _, _, order = context.command.make_parser(context).parse_args(args=list(args))
    for parameter, times in Counter(order).items():
        if not isinstance(parameter, click.Option) or times == 1:
            continue
        if parameter.multiple or parameter.is_flag or parameter.count:
            continue
        remedy = REMEDIES.get(parameter.name or "", "give it once")
        name = parameter.opts[-1]
        raise click.UsageError(f"{name} was given {times} times; {remedy.format(name)}", context)


_CODES = "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())


@click.group(
    cls=Commands, epilog=f"Exit codes: {_CODES}.", context_settings={"max_content_width": 100}
)
@click.version_option(groute_py.__version__, prog_name="groute-py")
def commands() -> None:
    """Shortest paths on graphs of up to billions of arcs, on one GPU or many.

    Run under mpirun or srun to use several GPUs or cores:

        mpirun -n 4 groute-py sssp usa.gr
    """


for command in (
    *(matrix, nearest, isochrone, route, query, centrality, assign, cost_distance),
    *(prepare, sssp, bfs, apsp, info, generate, convert, verify),
    *(algorithms, cache, doctor, plan, plot, launch),
):
    commands.add_command(command)


def main() -> NoReturn:
    """Run the command line; ends the process with a documented exit code, the same on all ranks."""
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # Δ and → are not in every encoding
            stream.reconfigure(errors="backslashreplace")
    if place().rank > 0:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - to the end
    for number in (signal.SIGINT, signal.SIGTERM):
        on_signal(number, partial(_interrupted, number.name))
    on_signal(signal.SIGUSR1, _warned)
    sys.unraisablehook = raise_dropped
    warnings.showwarning = warning
    try:
        clock = Clock("start", process_age_s())
        with running(clock), phase_line(clock):
            commands.main(standalone_mode=False)
        be_done()
    except click.exceptions.NoArgsIsHelpError as error:
        if place().rank == 0:
            click.echo(error.format_message(), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        _end_in_order(printable(error.format_message()), 2, _usage(error))
    except GrouteError as error:
        _end(error if error.by_signal else first_signal() or error)
    except Exception as error:  # noqa: BLE001 - the wall
        if (received := first_signal()) is not None:
            _end(received)  # native code, as an import, has made an error of its own of it
        if isinstance(error, OSError) and error.errno in FULL:
            _end_all_ranks(f"cannot write: {error.strerror}; make room, or write elsewhere", 1)
        # a defect, or something the machine did: show where, and leave no rank waiting
        _end_all_ranks(f"unexpected failure\n{traceback.format_exc()}", 1)
    sys.exit(0)


def _end(error: GrouteError) -> NoReturn:
    ignore_signals()
    if error.on_all_ranks or place().size == 1 or (error.by_signal and not _has_mpi()):
        _end_in_order(str(error), error.exit_code)
    _end_all_ranks(str(error), error.exit_code)


def _has_mpi() -> bool:
    """Return whether MPI runs. Before that launchers signal all ranks, in most cases."""
    if "mpi4py.MPI" not in sys.modules:  # NumPy may be half imported: leave it alone
        return False
    from groute_py.comm.connect import running

    return running()


def _open_what_is_closed() -> None:
    """Open standard streams that a shell has closed: the next file would take their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the least number that is free
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - to the end
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def _interrupted(name: str) -> GrouteError:
    ignore_signals()
    return InterruptedRun(f"interrupted by {name}; {what_was_written()}")


def _warned() -> GrouteError:
    """Return the error of the signal by which batch systems announce the end of a job's time."""
    ignore_signals()
    return TimeLimitError(
        "SIGUSR1: the batch system says that the time limit is near; "
        f"{what_was_written()}; ask for more time (sbatch --time)"
    )


def _drop_what_cannot_be_written() -> None:
    """Empty stdout; else Python would try again at the end, and end with its own code (120)."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.get_usage()}\n" if context is not None else ""


def _end_in_order(message: str, code: int, before: str = "") -> NoReturn:
    """End every rank by itself; rank 0 says why.

    Before MPI has started the problem may be of this rank alone: then it speaks, and ends all.
    """
    ignore_signals()
    rank, may_be_alone = place().rank, not _has_mpi() and hydra_socket() is not None
    if rank > 0 and not _ends_with_all():
        # mpirun and srun may end all ranks when one has ended, before rank 0 has said why
        time.sleep(PATIENCE_S)
    if rank == 0 or may_be_alone:
        where = f" (rank {rank})" if rank > 0 else ""
        click.echo(f"{before}groute-py{where}: {message}", err=True)
    if may_be_alone:
        end_job(code)
    sys.exit(code)


def _ends_with_all() -> bool:
    """Return whether MPI holds this rank at its end until rank 0 ends as well."""
    if "mpi4py.MPI" not in sys.modules:
        return False
    from groute_py.comm.connect import is_whole

    return is_whole()


def _end_all_ranks(message: str, code: int) -> NoReturn:
    """End all ranks, which may be waiting for this one."""
    from groute_py.comm.connect import abort_all, peer_aborts

    ignore_signals()
    here = place()
    turn_s = PATIENCE_S + NEXT_S * min(here.rank - 1, LAST_TURN) if here.rank > 0 else 0.0
    if not peer_aborts(within_s=turn_s):
        where = f" (rank {here.rank})" if here.size > 1 else ""
        click.echo(f"groute-py{where}: {message}", err=True)
    _drop_what_cannot_be_written()
    abort_all(code)
    sys.exit(code)
