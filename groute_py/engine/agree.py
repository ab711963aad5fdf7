"""Collective errors: an error on one rank is raised on all ranks, so that all end in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from groute_py.comm.base import Channel
from groute_py.errors import GrouteError, InputError, RunError, everywhere, quote

T = TypeVar("T")


def on_root(channel: Channel, action: Callable[[], T]) -> T:
    """Run ``action`` on rank 0; return its result, or raise its error, on every rank.

    An error other than `GrouteError` is raised unchanged on rank 0, and as `RunError` elsewhere.
    """
    outcome = _attempt(action) if channel.rank == 0 else None
    shared = channel.broadcast(_told(outcome, channel))
    return _unwrap(cast("T | Exception", shared if channel.rank > 0 else outcome))


def on_all(channel: Channel, action: Callable[[], T]) -> T:
    """Run ``action`` on every rank; return this rank's result, or raise the first error on all.

    An error other than `GrouteError` is raised unchanged on its rank, and as `RunError` elsewhere.
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

    Otherwise the ranks would deadlock, or return an answer to other arguments.

    Args:
        channel: connects the ranks.
        asked: comparable arguments by name; the same names on every rank.
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
    """The outcome for other ranks: errors other than `GrouteError` may not be picklable."""
    if isinstance(outcome, Exception) and not isinstance(outcome, GrouteError):
        return RunError(f"rank {channel.rank} failed: {type(outcome).__name__}: {outcome}")
    return outcome


def _unwrap(outcome: T | Exception) -> T:
    if isinstance(outcome, GrouteError):
        raise everywhere(outcome)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
