"""The device-resident run: a kernel on each rank of a team until it is quiet, watched by its host.

The host does nothing in the loop. It launches, and waits for the end or for a reason to stop: the
time limit, or a signal. A stop reaches all ranks through the devices, so no kernel spins on; only
where a kernel itself fails can it not, and then the job ends by the error.

Where all ranks are one team, one launch is the solve. Where there are several (one a host), a run
is a slice of work in the loop of `groute_py.engine.loop`: it ends when the team has nothing left up
to the limit, and what improved beyond its walls goes to other teams by messages.
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
from groute_py.engine.loop import Pace, too_late
from groute_py.engine.tasks import Relaxing
from groute_py.errors import RunError, everywhere


def run(linked: Linked, channel: Channel, pace: Pace) -> bool:
    """Relax until all ranks are quiet; whether a distance did not fit on one; collective.

    The ranks' kernels agree on that: hosts, which have done something else meanwhile, take 0.2 ms.

    Raises:
        TimeLimitError: on all ranks, when the deadline passed on one before all were quiet.
        RunError: on all ranks, kernels ended before that for no reason that a rank knows of.
    """
    linked.prepare(pace.lead * linked.window(), math.inf)
    late = _is_late_at_the_end(linked, pace.deadline)
    if linked.all_quiet:
        return linked.overflowed
    if any(channel.gather(late)):
        raise too_late()
    problem = "kernels ended before all ranks were done, and no time limit had passed"
    raise everywhere(RunError(f"{problem}; solve again, with --mode rounds if it comes again"))


class Together(Relaxing):
    """Improving distances by runs of a whole team; `work` is collective in it.

    Args:
        device, targets, width: as for `Relaxing`.
        linked: the device, as it runs with its team.
        team: the ranks that run together.
        pace: lead within the team, and deadline.
    """

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
        self._floor = -math.inf  # whether the source is here is not known yet

    def merge(self, message: Buffer) -> None:
        self._device.merge(message)
        self._floor = -math.inf  # it may lie anywhere

    def work(self, limit: float) -> float:
        """Run, if there is something up to ``limit`` in the team."""
        self._linked.prepare(self._pace.lead * self._linked.window(), limit)
        least = min(self._team.agree(self._floor))  # so all members have ended their last run
        if least <= limit and least < math.inf:
            _is_late_at_the_end(self._linked, self._pace.deadline)
            self._linked.count()
            self._floor = self._linked.floor
        return self._floor


def _is_late_at_the_end(linked: Linked, deadline: float) -> bool:
    """Launch, and wait for the end, however it comes; whether the deadline passed before it."""
    late = False
    try:
        linked.launch()
        while not linked.finished():
            if not late and time.monotonic() > deadline:
                late = True
                linked.stop()
    except BaseException:
        with suppress(Exception):  # of a device that has failed: what it failed by is raised
            linked.stop()
            while not linked.finished():
                pass
        raise
    return late
