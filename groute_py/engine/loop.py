"""The heart: a rank takes what has arrived, works a slice, sends what improved, and votes.

No rank ever waits for all the others. It works on as long as it has work inside the window, while
messages and the vote are under way. The window is shared: it ends a *lead* above the smallest
distance that any rank had still to work on in the last vote, so no rank runs far ahead of the
others on distances that are likely to be corrected (Groute's soft priority).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from groute_py.comm.base import Buffer, Channel
from groute_py.comm.team import Team
from groute_py.comm.termination import Ballot, Coordinator, Verdict
from groute_py.errors import GrouteError, TimeLimitError, everywhere

PATIENCE, NAP_S = 100, 5e-5
"""A rank without work looks this often for some before it naps so long between looks."""


class Task(Protocol):
    """Work that spreads over ranks: improving distances, or claiming predecessors."""

    def merge(self, message: Buffer) -> None:
        """Take a peer's message."""

    def memory(self, size: int) -> Buffer:
        """Room for a message of so many bytes."""

    def work(self, limit: float) -> float:
        """Work a slice on what is not above ``limit``; return the smallest distance left."""

    def outgoing(self) -> list[tuple[int, Buffer]]:
        """What has to be sent since the last call."""

    def relaxations(self) -> int:
        """Arcs relaxed so far."""

    def window(self) -> float:
        """The width of the window it works in."""

    def goal(self) -> float:
        """The distance beyond which nothing is wanted, as far as is known."""


@dataclass(frozen=True)
class Pace:
    """Attributes:
    lead: how many windows above the smallest pending distance of all ranks one may work.
    deadline: `time.monotonic` at which to give up.
    """

    lead: float = math.inf
    deadline: float = math.inf


def run(
    task: Task,
    channel: Channel,
    pace: Pace,
    inspect: Callable[[Verdict], None] | None = None,
    team: Team | None = None,
) -> int:
    """Work until all ranks are quiet; collective.

    Args:
        task: this rank's work.
        channel: to the other ranks.
        pace: lead and deadline.
        inspect: called on every rank with each verdict; may raise the same error on all.
        team: the ranks with which this one works at the same time, each time; None if it is alone.

    Returns:
        The number of votes taken.

    Raises:
        TimeLimitError: on all ranks, when the deadline passed on one.
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
    """`run`, but for what an error leaves behind."""
    coordinator = Coordinator()
    channel.begin()
    limit, votes, open_vote, idle = pace.lead * task.window(), 0, False, 0
    while True:
        arrived = channel.receive(task.memory)
        for message in arrived:
            task.merge(message)
        floor = task.work(limit)
        leaving = task.outgoing()
        for peer, message in leaving:
            channel.send(peer, message)
        if not open_vote:
            stop = time.monotonic() > pace.deadline
            counts = (channel.sent, channel.received, task.relaxations())
            channel.vote(Ballot(floor, *counts, task.window(), stop, task.goal()))
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
                raise too_late()
            if inspect is not None:
                inspect(verdict)
            if verdict.floor < math.inf:  # else all is on the wire, and what it was sent by holds
                limit = min(verdict.floor + pace.lead * verdict.window, verdict.goal)
        idle = idle + 1 if not (arrived or leaving) and floor > limit else 0
        if idle:
            # a peer on the same core may be the one that has work
            time.sleep(NAP_S if idle > PATIENCE else 0)


def too_late() -> GrouteError:
    """The error of all ranks when the deadline has passed on one."""
    return everywhere(
        TimeLimitError(
            "the time limit passed before the answer was complete; nothing was written; "
            "give more time with --time-limit"
        )
    )
