"""The device-resident run: one kernel on each rank from the source to quiet, watched by its host.

The host does nothing in the loop. It launches, and waits for the end or for a reason to stop: the
time limit, or a signal. A stop reaches all ranks through the devices, so no kernel can spin on.
"""

from __future__ import annotations

import time

from groute_py.comm.base import Channel
from groute_py.device.base import Linked
from groute_py.engine.loop import Pace, too_late


def run(linked: Linked, channel: Channel, pace: Pace) -> None:
    """Relax until all ranks are quiet; collective.

    Raises:
        TimeLimitError: on all ranks, when the deadline passed on one.
    """
    linked.prepare(pace.lead * linked.window())
    channel.gather(None)  # every mailbox is ready before anybody writes into one
    linked.launch()
    late = False
    try:
        while not linked.finished():
            if not late and time.monotonic() > pace.deadline:
                late = True
                linked.stop()
    except BaseException:
        linked.stop()
        while not linked.finished():
            pass
        raise
    if any(channel.gather(late)):
        raise too_late()
