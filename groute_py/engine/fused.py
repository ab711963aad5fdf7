"""Fused runs: one persistent kernel on each rank of a team, until the team is quiet.

The host launches the kernel and waits for its end. To stop it (time limit, signal) the host sets a
flag, which the kernels pass on to all ranks. Only a kernel that fails cannot pass it on; its error
ends the job.

If all ranks are one team, one launch is the whole solve. If there are several teams (one a host), a
run is a slice of work in the loop of `groute_py.engine.loop`. It ends when the team has nothing
left up to the limit. Improvements for vertices of other teams are sent in messages.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer, Channel
from groute_py.comm.team import Team
from groute_py.device.base import Device, Linked
from groute_py.engine.loop import Pace, Relaxing
from groute_py.errors import RunError, everywhere, too_late


def run(linked: Linked, channel: Channel, pace: Pace) -> bool:
    """Relax until all ranks are quiet; return whether a sum overflowed on any rank; collective.

    The kernels agree on the overflow, because an exchange between the hosts would take 0.2 ms.
    """
    linked.prepare(pace.lead * linked.bucket_width(), math.inf)
    late = _is_late_at_the_end(linked, pace.deadline)
    if linked.all_quiet:
        return linked.overflowed
    if any(channel.gather(late)):
        raise everywhere(too_late())
    problem = "kernels ended before all ranks were done, and no time limit had passed"
    raise everywhere(RunError(f"{problem}; solve again, with --mode rounds if it comes again"))


class Together(Relaxing):
    """Improves distances by runs of a whole team; `work` is collective in the team."""

    def __init__(
        self,
        device: Device,
        targets: NDArray[np.int64] | None,
        width: float,
        *,
        linked: Linked,
        team: Team,
        pace: Pace,
    ) -> None:
        super().__init__(device, targets, width)
        self._linked, self._team, self._pace = linked, team, pace
        self._floor = -math.inf  # unknown until the first run: the source may be on this rank

    def merge(self, message: Buffer) -> None:
        self._device.merge(message)
        self._floor = -math.inf  # the distances in the message are unknown to the host

    def work(self, limit: float) -> float:
        """Launch a run if some rank of the team has work up to ``limit``."""
        self._linked.prepare(self._pace.lead * self._linked.bucket_width(), limit)
        least = min(self._team.agree(self._floor))  # so all members have ended their last run
        if least <= limit and least < math.inf:
            _is_late_at_the_end(self._linked, self._pace.deadline)
            self._linked.count()
            self._floor = self._linked.floor
        return self._floor


def _is_late_at_the_end(linked: Linked, deadline: float) -> bool:
    """Launch and wait for the end; return whether the deadline passed before it."""
    late = False
    try:
        linked.launch()
        while not linked.finished():
            if not late and time.monotonic() > deadline:
                late = True
                linked.stop()
    except BaseException:
        with suppress(Exception):  # a failed device raises again here; the first error counts
            linked.stop()
            while not linked.finished():
                pass
        raise
    return late
