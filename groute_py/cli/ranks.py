"""The ranks of a command: connected, watched, and ended in time."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import click

from groute_py.cli import timing
from groute_py.cli.signals import on_signal
from groute_py.cli.watch import watched
from groute_py.engine.options import LONGEST_LIMIT_S
from groute_py.errors import TimeLimitError
from groute_py.system.atomic_file import what_was_written

if TYPE_CHECKING:
    from groute_py.comm.base import Channel

GRACE_S = 1.0
"""After the time limit ranks get so long to notice it together, in order."""


def connected(time_limit_s: float | None = None) -> Channel:
    """Connect the ranks, and watch them until the command ends. Collective.

    Args:
        time_limit_s: after it each rank ends, whatever it is doing.
    """
    from groute_py.comm.connect import connect

    timing.begin("mpi")
    channel = connect()
    _set_alarm(time_limit_s)  # once MPI runs: only then can a late rank end the others
    click.get_current_context().with_resource(watched(channel))
    return channel


def _set_alarm(time_limit_s: float | None) -> None:
    """End a rank after the time limit, whatever it is doing."""
    if time_limit_s is None or not 0 < time_limit_s <= LONGEST_LIMIT_S:
        return  # none, or one that the check of the options refuses

    def too_late() -> TimeLimitError:
        return TimeLimitError(f"the time limit of {time_limit_s} s passed; {what_was_written()}")

    on_signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, time_limit_s + GRACE_S)
