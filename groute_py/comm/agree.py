"""Collective errors: an error on one rank is raised on all ranks, so that all end in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from groute_py.comm.base import Channel
from groute_py.errors import GrouteError, InputError, RunError, everywhere, quote

T = TypeVar("T")


@contextmanager
def collective(channel: Channel) -> Iterator[None]:
    """Run the block on every rank; raise the first error of any rank on all.

    The ranks communicate once, at the end of the block. An error other than `GrouteError` is raised
    unchanged on its rank, and as `RunError` elsewhere.

    >>> from groute_py.comm.base import SoloChannel
    >>> with collective(SoloChannel()):
    ...     half = 4 // 2
    >>> half
    2
    """
    error: Exception | None = None
    try:
        yield
    except GrouteError as failure:
        if failure.by_signal:
            raise
        error = failure
    except Exception as failure:  # noqa: BLE001 - whatever it is, the other ranks must not wait
        error = failure
    if channel.size == 1:
        if error is not None:
            raise _everywhere(error)
        return
    failures = channel.gather(None if error is None else _for_others(error, channel))
    first = next((rank for rank, failure in enumerate(failures) if failure is not None), None)
    if first is not None and first != channel.rank:
        raise everywhere(cast("GrouteError", failures[first]))
    if error is not None:
        raise _everywhere(error)


def on_root(channel: Channel, action: Callable[[], T]) -> T:
    """Run ``action`` on rank 0; return its result or raise its error on all (see `collective`)."""
    result: Any = None
    if channel.rank == 0:
        try:
            result = action()
        except GrouteError as error:
            if error.by_signal:
                raise
            result = error
        except Exception as error:  # noqa: BLE001 - whatever it is, the other ranks must not wait
            result = error
    if channel.size > 1:
        sent = _for_others(result, channel) if isinstance(result, Exception) else result
        shared = channel.broadcast(sent)
        result = shared if channel.rank > 0 else result
    if isinstance(result, Exception):
        raise _everywhere(result)
    return cast("T", result)


def at_root(channel: Channel, action: Callable[[], T]) -> T | None:
    """Run ``action`` on rank 0, where its result stays; raise its error on every rank."""
    with collective(channel):
        return action() if channel.rank == 0 else None


def refuse_difference(channel: Channel, call: dict[str, Any]) -> None:
    """Raise `InputError` on every rank if ranks were called with different arguments.

    Otherwise the ranks would deadlock, or return an answer to other arguments. The first of
    ``call`` names the function or method, which determines the names of the others.
    """
    if channel.size == 1:
        return
    first, *others = channel.gather(call)
    for rank, theirs in enumerate(others, 1):
        for name, value in first.items():
            if theirs.get(name) != value:
                raise everywhere(
                    InputError(
                        f"rank {rank} was called with {name} {quote(theirs.get(name))}, rank 0 "
                        f"with {quote(value)}; every rank must call with the same"
                    )
                )


def all_leave(error: BaseException | None, channel: Channel) -> bool:
    """Return True if all ranks leave a block as this one does, and may close what they share.

    A rank that fails alone ends the job.
    """
    is_everywhere = isinstance(error, GrouteError) and error.on_all_ranks
    return error is None or channel.size == 1 or is_everywhere


def _for_others(error: Exception, channel: Channel) -> GrouteError:
    """An error as other ranks get it: those other than `GrouteError` may not be picklable."""
    if isinstance(error, GrouteError):
        return error
    return RunError(f"rank {channel.rank} failed: {type(error).__name__}: {error}")


def _everywhere(error: Exception) -> Exception:
    return everywhere(error) if isinstance(error, GrouteError) else error
