"""The main loop of a solve in rounds: merge arrivals, relax a slice, send improvements, vote.

It runs two tasks on a device: relaxing, and assigning predecessors.

No rank waits for all others. It continues as long as it has work up to the limit, while messages
and the vote are in flight. The limit is shared: it lies a *lead* above the smallest distance that
any rank still had to work on in the last vote. So no rank works far ahead of the others on
distances that are likely to be corrected (Groute's soft priority: Ben-Nun, Sutton, Pai and Pingali,
PPoPP 2017).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer, Channel
from groute_py.comm.team import Team
from groute_py.comm.termination import Ballot, Coordinator, Verdict
from groute_py.device.base import Device
from groute_py.errors import GrouteError, everywhere, too_late
from groute_py.system.clock import Record, recorder

PATIENCE, NAP_S = 100, 5e-5
"""Polls of a rank without work before it pauses between polls, and the pause."""

EXACT = 2.0**53
"""From here on float64 does not hold every integer, and one may have been rounded down."""


class Task(Protocol):
    """Distributed work: improving distances, or assigning predecessors."""

    def merge(self, message: Buffer) -> None:
        """Merge a peer's message."""

    def memory(self, size: int) -> Buffer:
        """Allocate room for a message of ``size`` bytes."""

    def work(self, limit: float) -> float:
        """Do a slice of the work up to distance ``limit``; return the smallest distance left."""

    def outgoing(self) -> list[tuple[int, Buffer]]:
        """Messages with the improvements since the last call, as (peer, message)."""

    def relaxations(self) -> int:
        """The number of arcs relaxed so far."""

    def counts(self) -> dict[str, int]:
        """The counters of the work so far, by their names in a trace."""

    def bucket_width(self) -> float:
        """The width of the current bucket."""

    def goal(self) -> float:
        """The distance of the farthest target so far; distances beyond it are not wanted."""


@dataclass(frozen=True)
class Pace:
    """Limits of a rank's work: how far ahead, and how long."""

    lead: float = math.inf  # bucket widths above the smallest pending distance of all ranks
    deadline: float = math.inf  # by `time.monotonic`


def run(
    task: Task,
    channel: Channel,
    pace: Pace,
    inspect: Callable[[Verdict], None] | None = None,
    team: Team | None = None,
) -> int:
    """Work until all ranks are quiet; return the number of votes taken. Collective.

    Every rank calls ``inspect`` with each verdict; it may raise the same error on all. ``team`` are
    the ranks with which this one works at the same time, each time.
    """
    try:
        return _work(task, channel, pace, inspect, team)
    except GrouteError as error:
        if error.on_all_ranks:
            channel.abandon()  # what is under way must not reach the next run
        raise


def _work(
    task: Task,
    channel: Channel,
    pace: Pace,
    inspect: Callable[[Verdict], None] | None,
    team: Team | None,
) -> int:
    coordinator = Coordinator()
    channel.begin()
    limit, votes, open_vote, idle = pace.lead * task.bucket_width(), 0, False, 0
    record = recorder()
    while True:
        start_s = time.monotonic() if record is not None else 0.0
        incoming = channel.receive(task.memory)
        for message in incoming:
            task.merge(message)
        floor = task.work(limit)
        outgoing = task.outgoing()
        for peer, message in outgoing:
            channel.send(peer, message)
        if record is not None and (incoming or outgoing or floor <= limit):
            _recorded(record, start_s, task, channel)
        if not open_vote:
            stop = time.monotonic() > pace.deadline
            counts = (channel.sent, channel.received, task.relaxations())
            channel.vote(Ballot(floor, *counts, task.bucket_width(), stop, task.goal()))
            open_vote = True
        ballots = channel.tally() if team is None else team.tally(channel)
        if ballots is not None:
            open_vote, votes = False, votes + 1
            verdict = coordinator.judge(ballots)
            if verdict.quiet:
                if verdict.goal < math.inf:
                    channel.abandon()  # a rank may have worked beyond the goal meanwhile
                return votes
            if verdict.stop:
                raise everywhere(too_late())
            if inspect is not None:
                inspect(verdict)
            if verdict.floor < math.inf:  # else all work is in messages, and the old limit stays
                limit = min(verdict.floor + pace.lead * verdict.bucket_width, verdict.goal)
        idle = idle + 1 if not (incoming or outgoing) and floor > limit else 0
        if idle:
            # a peer on the same core may be the one that has work
            time.sleep(NAP_S if idle > PATIENCE else 0)


def _recorded(record: Record, start_s: float, task: Task, channel: Channel) -> None:
    """Record a round that began then, and the counters after it."""
    end = time.monotonic()
    record.span("rounds", start_s, end)
    counts = task.counts()
    by_messages = int(channel.bytes_sent.sum())
    counts["bytes sent"] = counts.get("bytes sent", 0) + by_messages
    for counter, value in counts.items():
        record.count(counter, end, value)


def counts_of(device: Device) -> dict[str, int]:
    """Return the counters of a device since the solve began, by their names in a trace."""
    counters = device.counters
    lists = dict(zip(("near", "far"), counters.worklists or (), strict=False))
    return lists | {"relaxations": counters.relaxations, "bytes sent": sum(counters.sent)}


class Relaxing:
    """Improves distances, those of this rank's ``targets`` or, for None, of all vertices.

    ``width`` is that of its steps towards targets, if the device has no bucket.
    """

    def __init__(
        self, device: Device, targets: NDArray[np.int64] | None = None, width: float = math.inf
    ) -> None:
        self._device, self._targets, self._width = device, targets, width
        self._done = False
        self.memory = device.memory
        self.outgoing = device.outgoing

    def merge(self, message: Buffer) -> None:
        self._done = False
        self._device.merge(message)

    def work(self, limit: float) -> float:
        """Relax a slice, unless the last one left no work and no message has come since."""
        floor = math.inf if self._done else self._device.relax(limit)
        self._done = math.isinf(floor)
        return floor

    def relaxations(self) -> int:
        return self._device.counters.relaxations

    def counts(self) -> dict[str, int]:
        return counts_of(self._device)

    def bucket_width(self) -> float:
        return min(self._device.bucket_width(), self._width)

    def goal(self) -> float:
        """Return an upper bound of the farthest target's distance; infinite if one is unreached."""
        if self._targets is None:
            return math.inf
        distance = self.farthest()
        return float(distance) if distance < EXACT else math.nextafter(distance, math.inf)

    def farthest(self) -> float:
        """Return the exact distance of this rank's farthest target; infinite if unreached."""
        assert self._targets is not None
        return self._device.farthest(self._targets) if len(self._targets) else -math.inf


class Claiming:
    """Assigns predecessors; a claim has no distance, so no limit applies."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.memory = device.memory
        self.merge = device.merge_claims
        self.outgoing = device.outgoing_claims

    def work(self, limit: float) -> float:
        return 0.0 if self._device.claim() else math.inf

    def relaxations(self) -> int:
        return 0

    def counts(self) -> dict[str, int]:
        return counts_of(self._device)

    def bucket_width(self) -> float:
        return math.inf

    def goal(self) -> float:
        return math.inf
