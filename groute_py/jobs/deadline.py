"""The end of a job at its time limit."""

from __future__ import annotations

import math
import time

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.errors import too_late
from groute_py.many.apsp import Progress


def deadline_in(limit_s: float | None) -> float:
    """`time.monotonic` at which to give up."""
    return math.inf if limit_s is None else time.monotonic() + limit_s


def until(channel: Channel, deadline: float, progress: Progress | None = None) -> Progress | None:
    """What ends a job at the deadline, between two blocks. Collective, now and when called.

    Args:
        channel: connects the ranks.
        deadline: of this rank.
        progress: is called too.
    """
    if not any(channel.gather(math.isfinite(deadline))):
        return progress

    def watch(done: int, total: int) -> None:
        if progress is not None:
            progress(done, total)
        with collective(channel):
            refuse_late(deadline, done, total)

    return watch


def refuse_late(deadline: float, done: int, total: int) -> None:
    """Raise `TimeLimitError` behind the deadline if something is left to be done."""
    if done < total and time.monotonic() > deadline:
        raise too_late(f"{done:,} of {total:,} sources were done")
