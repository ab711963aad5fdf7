"""How ranks exchange: inside kernels, in rounds, or both; and why that way."""

from __future__ import annotations

from dataclasses import dataclass

from groute_py.algorithms.base import Algorithm
from groute_py.comm.base import Channel
from groute_py.comm.team import Team, team_of
from groute_py.device.base import Device, Linked
from groute_py.engine.agree import on_all
from groute_py.errors import SetupError, everywhere
from groute_py.graph.facts import Facts


@dataclass(frozen=True)
class Mode:
    """Attributes:
    name: ``alone``, ``fused``, ``hierarchical`` or ``rounds``; the same on every rank.
    reason: why that way; likewise.
    linked: what drives the runs of this rank's team, if it has one.
    team: that team, where there are several; each is a host's.
    """

    name: str
    reason: str
    linked: Linked | None = None
    team: Team | None = None


def choose_mode(
    channel: Channel, device: Device, method: Algorithm, facts: Facts, wish: str
) -> Mode:
    """Link the ranks of each host where that can be; collective.

    Args:
        channel: connects the ranks.
        device: this rank's, with its share.
        method: that is to run.
        facts: of the graph.
        wish: ``auto``, ``fused`` or ``rounds``.

    Raises:
        SetupError: ``fused`` is asked for and cannot be; on every rank.
    """
    if channel.size == 1:
        return Mode("alone", "one rank")
    if not method.distributed:
        return Mode("alone", f"{method.name} runs on one rank, the others wait")
    if wish == "rounds":
        return Mode("rounds", "asked for")
    mode = _linked(channel, device, facts)
    if wish == "fused" and mode.name == "rounds":
        raise everywhere(SetupError(f"mode fused cannot run: {mode.reason}; use --mode rounds"))
    return mode


def _linked(channel: Channel, device: Device, facts: Facts) -> Mode:
    if facts.has_negative:
        return Mode("rounds", "negative weights are watched by the hosts")
    if set(channel.gather(device.name)) != {"cuda"}:
        return Mode("rounds", "not every rank has a GPU")
    team = team_of(channel)
    if isinstance(team, str):
        return Mode("rounds", team)
    if team.hosts == channel.size:
        return Mode("rounds", "one rank a host")
    linked = device.link(team) if team.channel.size > 1 else None
    problems = channel.gather(linked if isinstance(linked, str) else None)
    problem = next(filter(None, problems), None)
    if problem is not None or isinstance(linked, str):
        device.unlink()
        on_all(channel, device.restore)
        return Mode("rounds", str(problem))
    if team.hosts == 1:
        return Mode("fused", "every pair of ranks has peer access", linked)
    reason = f"fused within {team.hosts} hosts, rounds between"
    return Mode("hierarchical", reason, linked, team if linked is not None else None)
