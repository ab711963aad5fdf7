"""Failing together: an error on one rank becomes one on all, so that all end in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from groute_py.comm.base import Channel
from groute_py.errors import GrouteError, InputError, RunError, everywhere, quote

T = TypeVar("T")


def on_root(channel: Channel, action: Callable[[], T]) -> T:
    """Rank 0's result of ``action`` on every rank, or its error raised on every rank.

    An error that is none of ours is raised on rank 0 as it is, elsewhere as `RunError`.
    """
    outcome = _attempt(action) if channel.rank == 0 else None
    shared = channel.broadcast(_told(outcome, channel))
    return _unwrap(cast("T | Exception", shared if channel.rank > 0 else outcome))


def on_all(channel: Channel, action: Callable[[], T]) -> T:
    """This rank's result; if any rank failed, the first failure raised on every rank.

    An error that is none of ours is raised as it is where it happened, elsewhere as `RunError`.
    """
    outcome = _attempt(action)
    told = _told(outcome, channel)
    failures = channel.gather(told if isinstance(told, GrouteError) else None)
    first = next((rank for rank, failure in enumerate(failures) if failure is not None), None)
    if first is not None and first != channel.rank:
        raise everywhere(cast("GrouteError", failures[first]))
    return _unwrap(outcome)


def refuse_difference(channel: Channel, asked: dict[str, Any]) -> None:
    """Raise `InputError` on every rank if ranks were called with different arguments.

    They would wait for each other, or give an answer that nobody has asked for.

    Args:
        channel: connects the ranks.
        asked: arguments by name, which can be compared; the same names on every rank.
    """
    first, *others = channel.gather(asked)
    for rank, theirs in enumerate(others, 1):
        for name, value in first.items():
            if theirs[name] != value:
                raise everywhere(
                    InputError(
                        f"rank {rank} was called with {name} {quote(theirs[name])}, rank 0 with "
                        f"{quote(value)}; every rank must call with the same"
                    )
                )


def _attempt(action: Callable[[], T]) -> T | Exception:
    try:
        return action()
    except GrouteError as error:
        if error.by_signal:
            raise
        return error
    except Exception as error:  # noqa: BLE001 - whatever it is, the other ranks must not wait
        return error


def _told(outcome: T | Exception, channel: Channel) -> T | GrouteError:
    """What other ranks hear of it: an error of another kind may not survive the journey."""
    if isinstance(outcome, Exception) and not isinstance(outcome, GrouteError):
        return RunError(f"rank {channel.rank} failed: {type(outcome).__name__}: {outcome}")
    return outcome


def _unwrap(outcome: T | Exception) -> T:
    if isinstance(outcome, GrouteError):
        raise everywhere(outcome)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
