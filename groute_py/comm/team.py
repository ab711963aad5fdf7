"""Teams: the ranks of one host, which may exchange through the memory of their GPUs.

To ranks of other hosts a team acts as one rank: its members work, vote and see the end of a vote in
the same iterations. So the proof for ranks in `groute_py.comm.termination` holds for teams.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass

from groute_py.comm.base import Channel
from groute_py.system.settings import settings


def hosts_of(channel: Channel) -> list[str]:
    """The host of each rank, in rank order; collective.

    Ranks of one host can share memory, as MPI finds it. Different hosts that have the same name are
    told apart by a number. ``GROUTE_PY_HOSTS`` divides one host into several simulated ones.
    """
    names = channel.gather((platform.node(), channel.first_of_host()))
    doubles = {name for name, first in names if any(first != f for n, f in names if n == name)}
    hosts = [f"{name} ({first})" if name in doubles else name for name, first in names]
    if pretended := settings().hosts:
        hosts = [f"{host}/{rank * pretended // len(hosts)}" for rank, host in enumerate(hosts)]
    return hosts


def ranks_of_host(channel: Channel) -> Channel:
    """Connect the ranks of this one's host; collective."""
    hosts = hosts_of(channel)
    return channel.split([hosts.index(host) for host in hosts])


def part_of_host(hosts: list[str], rank: int) -> tuple[int, int]:
    """Return a rank's number among the ranks of its host, and their count.

    >>> part_of_host(["a", "b", "a"], 2)
    (1, 2)
    """
    own = [other for other, host in enumerate(hosts) if host == hosts[rank]]
    return own.index(rank), len(own)


@dataclass(frozen=True)
class Team:
    """A rank's host among all hosts."""

    channel: Channel  # connects the ranks of this host
    first: int  # the number of its first rank among all
    hosts: int  # the number of teams

    def agree(self, value: float) -> list[float]:
        """Every member's value, on every member; collective in the team."""
        self.channel.vote([value])
        while (values := self.channel.tally()) is None:
            os.sched_yield()
        return [value for (value,) in values]

    def tally(self, channel: Channel) -> list[Sequence[float]] | None:
        """The channel's ballots, at the same time on all members: if one has them, all wait."""
        ballots = channel.tally()
        if any(self.agree(ballots is not None)):
            while ballots is None:
                os.sched_yield()
                ballots = channel.tally()
        return ballots


def team_of(channel: Channel) -> Team | str:
    """This rank's team, or the reason why there is none; collective, the same on every rank."""
    hosts = hosts_of(channel)
    if problem := scattered(hosts):
        return problem
    names = list(dict.fromkeys(hosts))
    numbers = [names.index(host) for host in hosts]
    mine = numbers[channel.rank]
    return Team(channel.split(numbers), numbers.index(mine), len(names))


def scattered(hosts: Sequence[str]) -> str | None:
    """A message if the ranks of a host are not consecutive, else None; ``hosts[r]`` is rank r's."""
    for rank in range(1, len(hosts)):
        if hosts[rank] != hosts[rank - 1] and hosts[rank] in hosts[:rank]:
            return (
                f"rank {rank} on {hosts[rank]} does not follow the others of its host; start the "
                "ranks host by host (srun --distribution=block, mpirun --map-by slot)"
            )
    return None
