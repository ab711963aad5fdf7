"""The ``seconds`` of an answer: where the time since the start of the process went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groute_py.system.clock import current

if TYPE_CHECKING:
    from groute_py.comm.base import Channel


def begin(name: str) -> None:
    """Be in phase ``name`` of the command's clock from now on."""
    if (clock := current()) is not None:
        clock.enter(name)


def own_seconds() -> dict[str, float]:
    """Seconds by phase of this rank up to now, with ``total``."""
    return {} if (clock := current()) is None else clock.seconds()


def seconds_of(channel: Channel) -> dict[str, float]:
    """Seconds by phase up to now, each of the slowest rank, with ``total``. Collective."""
    return slowest(channel.gather(own_seconds()))


def slowest(ranks: list[dict[str, float]]) -> dict[str, float]:
    """The greatest seconds of all ranks, by phase in the order of their begin.

    >>> slowest([{"read": 3.0, "total": 3.0}, {"read": 1.0, "wait": 1.5, "total": 2.5}])
    {'read': 3.0, 'wait': 1.5, 'total': 3.0}
    """
    phases = list(dict.fromkeys(phase for seconds in ranks for phase in seconds))
    phases.sort(key=lambda phase: phase == "total")
    return {phase: max(seconds.get(phase, 0.0) for seconds in ranks) for phase in phases}
