"""Failing together: an error on one rank becomes the same on all, so that all end in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from groute_py.comm.base import Channel
from groute_py.errors import GrouteError, everywhere

T = TypeVar("T")


def on_root(channel: Channel, action: Callable[[], T]) -> T:
    """Rank 0's result of ``action`` on every rank, or its error raised on every rank."""
    outcome = _attempt(action) if channel.rank == 0 else None
    return _unwrap(cast("T | GrouteError", channel.broadcast(outcome)))


def on_all(channel: Channel, action: Callable[[], T]) -> T:
    """This rank's result; if any rank failed, the first failure raised on every rank."""
    outcome = _attempt(action)
    failures = channel.gather(outcome if isinstance(outcome, GrouteError) else None)
    for failure in failures:
        if failure is not None:
            raise everywhere(failure)
    return _unwrap(outcome)


def _attempt(action: Callable[[], T]) -> T | GrouteError:
    try:
        return action()
    except GrouteError as error:
        if error.by_signal:
            raise
        return error


def _unwrap(outcome: T | GrouteError) -> T:
    if isinstance(outcome, GrouteError):
        raise everywhere(outcome)
    return outcome
