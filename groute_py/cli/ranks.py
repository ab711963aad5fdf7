"""The ranks of a command: connected, watched, and ended in time; or all but one left out."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import click

from groute_py.cli import records, show
from groute_py.cli.signals import on_signal, raise_heard
from groute_py.engine.option_values import LONGEST_LIMIT_S
from groute_py.errors import GrouteError, RunError, TimeLimitError, everywhere
from groute_py.system.atomic_file import what_was_written

if TYPE_CHECKING:
    from groute_py.comm.base import Channel
    from groute_py.graph.csr import Graph
    from groute_py.io.tables.columns import Columns

P = ParamSpec("P")

GRACE_S = 1.0  # after the time limit ranks get so long to notice it together, in order

LAST_RESORT_S, ABORT_S = 10.0, 3.0
"""The main thread gets so long to end the job in order, then the watching thread tells MPI to, and
where even that takes longer, at least this process ends."""


def connected(time_limit_s: float | None = None) -> Channel:
    """Connect the ranks, and watch them until the command ends; late ones end. Collective."""
    from groute_py.comm.connect import connect

    records.begin("mpi")
    raise_heard()
    channel = connect()
    raise_heard()
    _set_alarm(time_limit_s)  # once MPI runs: only then can a late rank end the others
    click.get_current_context().with_resource(_watched(channel))
    return channel


def _set_alarm(time_limit_s: float | None) -> None:
    """End a rank after the time limit, whatever it is doing."""
    if time_limit_s is None or not 0 < time_limit_s <= LONGEST_LIMIT_S:
        return  # none, or one that the check of the options refuses

    def too_late() -> TimeLimitError:
        return TimeLimitError(f"the time limit of {time_limit_s} s passed; {what_was_written()}")

    on_signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, time_limit_s + GRACE_S)


@contextmanager
def _watched(channel: Channel) -> Iterator[None]:
    """Let ranks watch each other: one that is stopped or lost ends the job. Collective.

    The `RunError` comes in the main thread, wherever it is.
    """
    from groute_py.comm.heartbeat import heartbeat
    from groute_py.system.settings import settings

    problems: list[str] = []

    def lost(problem: str) -> None:
        problems.append(problem)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR2)
        time.sleep(LAST_RESORT_S)
        _end_without_main(f"groute-py (rank {channel.rank}): {problem}; the job was ended")

    on_signal(signal.SIGUSR2, lambda: RunError(f"{problems[0]}; the job was ended"))
    with heartbeat(channel, settings().silence_s, lost) as unwatched:
        if unwatched:
            ranks = ", ".join(map(str, unwatched))
            show.note(f"no connection to ranks {ranks} beside MPI; if they hang, nobody notices")
        yield


def _end_without_main(message: str) -> None:
    """End while the main thread is in native code that hears no signal, as a call of MPI's."""
    from groute_py.comm.connect import abort_all

    click.echo(message, err=True)
    threading.Timer(ABORT_S, os._exit, (RunError.exit_code,)).start()
    abort_all(RunError.exit_code)
    os._exit(RunError.exit_code)


def on_rank_0(command: Callable[P, None]) -> Callable[P, None]:
    """Run a command on rank 0 only; its error is raised on every rank."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        records.begin("mpi")
        from groute_py.comm.agree import on_root
        from groute_py.comm.connect import connect

        raise_heard()
        channel = connect()
        records.begin("start")  # which no line on the terminal names
        on_root(channel, lambda: command(*args, **kwargs))

    return wrapped


def alike(command: Callable[P, None]) -> Callable[P, None]:
    """Let each error of a command be every rank's: they all do the same, and none hears another."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except GrouteError as error:
            raise everywhere(error) from error.__cause__

    return wrapped


def read_graph(graph: str, columns: Columns, cache: Any, turns: str | None = None) -> Graph:
    """Read the whole graph, with a bar on a terminal."""
    from groute_py.source.graph_source import GraphSource

    with show.progress(f"reading {graph}") as progress:
        how: dict[str, Any] = {"turns": turns, "cache": cache, "progress": progress}
        return GraphSource(graph, columns, **how).graph()
