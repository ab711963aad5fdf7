"""The mode of a solve: ranks exchange inside kernels, in rounds, or both; and the reason."""

from __future__ import annotations

from dataclasses import dataclass

from groute_py.algorithms.methods import Algorithm
from groute_py.comm.base import Channel
from groute_py.comm.team import Team, team_of
from groute_py.device.base import Device, Linked, ModeName
from groute_py.errors import GrouteError, SetupError, everywhere
from groute_py.graph.facts import Facts


@dataclass(frozen=True)
class PlannedMode:
    """The planned mode, the same on every rank, before the ranks have their shares."""

    name: ModeName
    reason: str
    team: Team | None = None  # the ranks of this host, if they are to be linked
    forced: bool = False  # asked for by the user, so that no other may replace it


@dataclass(frozen=True)
class Mode:
    """The mode, the same on every rank, and what links this one to others."""

    name: ModeName
    reason: str
    linked: Linked | None = None  # drives the fused runs of this rank's team, if it has one
    team: Team | None = None  # that team, if there are several teams (one a host)

    @property
    def whole(self) -> Linked | None:
        """The driver of the fused run of all ranks, if one run is the whole solve."""
        return self.linked if self.team is None else None


def plan_mode(
    channel: Channel, device: Device, method: Algorithm, facts: Facts, requested: str
) -> PlannedMode:
    """Plan the mode: exchange inside kernels if possible, else refuse ``fused``; collective."""
    if channel.size == 1:
        return PlannedMode("alone", "one rank")
    if not method.distributed:
        return PlannedMode("alone", f"{method.name} runs on one rank, the others wait")
    if requested == "rounds":
        return PlannedMode("rounds", "asked for")
    team = _team(channel, device, facts)
    if isinstance(team, str):
        if requested == "fused":
            raise _impossible(team)
        return PlannedMode("rounds", team)
    forced = requested == "fused"
    if team.hosts == 1:
        return PlannedMode("fused", "every pair of ranks has peer access", team, forced)
    reason = f"fused within {team.hosts} hosts, rounds between"
    return PlannedMode("hierarchical", reason, team, forced)


def enter(plan: PlannedMode, channel: Channel, device: Device) -> Mode | PlannedMode:
    """Link the ranks of each host if that is planned; collective.

    If linking fails, return a plan for which the shares must be loaded again. All ranks get the
    same kind.
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
        return PlannedMode("rounds", str(problem))
    several = team if team.hosts > 1 and linked is not None else None
    return Mode(plan.name, plan.reason, linked, several)


def _team(channel: Channel, device: Device, facts: Facts) -> Team | str:
    """Return the ranks of this host, or the reason against fused mode; the same on every rank."""
    if facts.has_negative:
        return "negative weights are watched by the hosts"
    if set(channel.gather(device.name)) != {"cuda"}:
        return "not every rank has a GPU"
    team = team_of(channel)
    if isinstance(team, str):
        return team
    if team.hosts == channel.size:
        return "one rank a host"
    why_not_linked = device.why_not_linked(team) if team.channel.size > 1 else None
    return next(filter(None, channel.gather(why_not_linked)), team)


def _impossible(reason: str) -> GrouteError:
    return everywhere(SetupError(f"mode fused cannot run: {reason}; use --mode rounds"))
