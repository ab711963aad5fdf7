"""While a command solves, ranks watch each other: one that is stopped or lost ends the job."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from groute_py.cli import show
from groute_py.cli.signals import on_signal
from groute_py.errors import RunError

if TYPE_CHECKING:
    from groute_py.comm.base import Channel

LAST_RESORT_S, ABORT_S = 10.0, 3.0
"""The main thread gets so long to end the job in order, then the watching thread tells MPI to, and
where even that takes longer, at least this process ends."""


@contextmanager
def watched(channel: Channel) -> Iterator[None]:
    """Watch the other ranks during the block; collective.

    Raises:
        RunError: in the main thread, wherever it is, when a rank is lost.
    """
    from groute_py.comm.heartbeat import heartbeat
    from groute_py.system.settings import settings

    found: list[str] = []

    def lost(problem: str) -> None:
        found.append(problem)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR2)
        time.sleep(LAST_RESORT_S)
        _end_without_main(f"groute-py (rank {channel.rank}): {problem}; the job was ended")

    on_signal(signal.SIGUSR2, lambda: RunError(f"{found[0]}; the job was ended"))
    with heartbeat(channel, settings().silence_s, lost) as unwatched:
        if unwatched:
            ranks = ", ".join(map(str, unwatched))
            show.note(f"no connection to ranks {ranks} beside MPI; if they hang, nobody notices")
        yield


def _end_without_main(message: str) -> None:
    """The main thread is in native code that hears no signal, such as a blocking call of MPI's."""
    from groute_py.comm.connect import abort_all

    click.echo(message, err=True)
    threading.Timer(ABORT_S, os._exit, (RunError.exit_code,)).start()
    abort_all(RunError.exit_code)
    os._exit(RunError.exit_code)
