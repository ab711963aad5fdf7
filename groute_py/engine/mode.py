"""How ranks exchange: inside kernels, in rounds, or both; and why that way."""

from __future__ import annotations

from dataclasses import dataclass

from groute_py.algorithms.base import Algorithm
from groute_py.comm.base import Channel
from groute_py.comm.team import Team, team_of
from groute_py.device.base import Device, Linked, ModeName
from groute_py.errors import GrouteError, SetupError, everywhere
from groute_py.graph.facts import Facts


@dataclass(frozen=True)
class Plan:
    """How ranks are to exchange, before they have their shares.

    Attributes:
        name: of the mode; the same on every rank.
        reason: why that way; likewise.
        team: to be linked; the ranks of this host.
        forced: no other mode will do.
    """

    name: ModeName
    reason: str
    team: Team | None = None
    forced: bool = False


@dataclass(frozen=True)
class Mode:
    """Attributes:
    name: the same on every rank.
    reason: why that way; likewise.
    linked: what drives the runs of this rank's team, if it has one.
    team: that team, where there are several; each is a host's.
    """

    name: ModeName
    reason: str
    linked: Linked | None = None
    team: Team | None = None

    @property
    def whole(self) -> Linked | None:
        """What drives the run of all ranks, where one run is a solve."""
        return self.linked if self.team is None else None


def plan_mode(channel: Channel, device: Device, method: Algorithm, facts: Facts, wish: str) -> Plan:
    """Exchange inside kernels where that can be; collective.

    Args:
        channel: connects the ranks.
        device: this rank's.
        method: that is to run.
        facts: of the graph.
        wish: ``auto``, ``fused`` or ``rounds``.

    Raises:
        SetupError: ``fused`` is asked for and cannot be; on every rank.
    """
    if channel.size == 1:
        return Plan("alone", "one rank")
    if not method.distributed:
        return Plan("alone", f"{method.name} runs on one rank, the others wait")
    if wish == "rounds":
        return Plan("rounds", "asked for")
    team = _team(channel, device, facts)
    if isinstance(team, str):
        if wish == "fused":
            raise _impossible(team)
        return Plan("rounds", team)
    forced = wish == "fused"
    if team.hosts == 1:
        return Plan("fused", "every pair of ranks has peer access", team, forced)
    reason = f"fused within {team.hosts} hosts, rounds between"
    return Plan("hierarchical", reason, team, forced)


def enter(plan: Plan, channel: Channel, device: Device) -> Mode | Plan:
    """Link the ranks of each host if that is planned; collective.

    Returns:
        The mode; or, where linking fails, the plan for which shares have to be loaded again. On
        every rank the one or the other.

    Raises:
        SetupError: as for `plan_mode`.
    """
    team = plan.team
    if team is None:
        return Mode(plan.name, plan.reason)
    linked = device.link(team) if team.channel.size > 1 else None
    problems = channel.gather(linked if isinstance(linked, str) else None)
    problem = next(filter(None, problems), None)
    if problem is not None or isinstance(linked, str):
        device.unlink()
        if plan.forced:
            raise _impossible(str(problem))
        return Plan("rounds", str(problem))
    several = team if team.hosts > 1 and linked is not None else None
    return Mode(plan.name, plan.reason, linked, several)


def _team(channel: Channel, device: Device, facts: Facts) -> Team | str:
    """The ranks of this host, or why none exchange inside kernels; the same on every rank."""
    if facts.has_negative:
        return "negative weights are watched by the hosts"
    if set(channel.gather(device.name)) != {"cuda"}:
        return "not every rank has a GPU"
    team = team_of(channel)
    if isinstance(team, str):
        return team
    if team.hosts == channel.size:
        return "one rank a host"
    obstacle = device.obstacle(team) if team.channel.size > 1 else None
    return next(filter(None, channel.gather(obstacle)), team)


def _impossible(reason: str) -> GrouteError:
    return everywhere(SetupError(f"mode fused cannot run: {reason}; use --mode rounds"))
