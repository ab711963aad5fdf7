"""Signals and alarms raise errors in the main thread, wherever it is, as soon as that does no harm.

Python runs a handler between any two steps of the main thread, so what it raises can come when a
lock has just been taken and the ``with`` block that frees it has not begun. The lock then is held
for ever: threads of a pool wait for it, and the pool waits for its threads. A moment later the
same signal is harmless, so there it is put off.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from types import FrameType

from groute_py.errors import GrouteError, signalled

EDGES = frozenset({"__enter__", "__exit__", "acquire", "release"})
"""Functions that take and free locks; interrupted, they may have done half of it."""

SOON_S, LONGEST_S = 0.001, 1.0
"""So much later a signal that was put off is looked at again, and for so long at most it is put
off: one of these functions may be waiting for a lock, and then holds none."""

DROPPED_S = 0.05
"""After so long a handler's error that native code has dropped is raised again."""

_heard: list[GrouteError] = []
"""What handlers have raised."""


def on_signal(number: signal.Signals, error_of: Callable[[], GrouteError]) -> None:
    """Let a signal raise an error in the main thread; call it there."""

    def handler(number: int, frame: FrameType | None) -> None:
        error = signalled(error_of())
        _heard.append(error)
        _raise(error, frame, time.monotonic() + LONGEST_S)

    signal.signal(number, handler)


def first_heard() -> GrouteError | None:
    """The first error that a signal has brought."""
    return _heard[0] if _heard else None


def be_deaf() -> None:
    """The end has begun: the SIGTERM of Open MPI's mpirun after an abort is no second reason."""
    stop_alarm()
    heard = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2)
    for name in heard:
        signal.signal(name, signal.SIG_IGN)


def stop_alarm() -> None:
    """The alarm of a time limit would kill a process whose handlers Python has already undone."""
    signal.setitimer(signal.ITIMER_REAL, 0)


def raise_dropped(dropped: sys.UnraisableHookArgs) -> None:
    """Native code that calls Python, as Numba's compiler does, drops what is raised there.

    To be `sys.unraisablehook`.
    """
    error = dropped.exc_value
    if isinstance(error, GrouteError) and error.by_signal:
        _raise_later(error, DROPPED_S, time.monotonic() + LONGEST_S)
    else:
        sys.__unraisablehook__(dropped)


def _raise(error: GrouteError, frame: FrameType | None, latest: float) -> None:
    """Raise it where a handler has interrupted the main thread, or put it off."""
    harms = frame is not None and frame.f_code.co_name in EDGES
    if not harms or time.monotonic() > latest:
        raise error
    _raise_later(error, SOON_S, latest)


def _raise_later(error: GrouteError, after_s: float, latest: float) -> None:
    def again(number: int, frame: FrameType | None) -> None:
        _raise(error, frame, latest)

    signal.signal(signal.SIGALRM, again)
    signal.setitimer(signal.ITIMER_REAL, after_s)
