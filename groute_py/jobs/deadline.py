"""The end of a job at its time limit."""

from __future__ import annotations

import math
import time

from groute_py.comm.base import Channel
from groute_py.engine.agree import collective
from groute_py.errors import TimeLimitError
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
            if time.monotonic() > deadline:
                reason = "the time limit passed before the answer was complete"
                raise TimeLimitError(f"{reason}; {done:,} of {total:,} sources were done")

    return watch
