"""Signals and alarms raise errors in the main thread, wherever it is, as soon as that does no harm.

Python runs handlers between the steps of the main thread, so what they raise can come when a lock
has just been taken and the ``with`` block that frees it has not begun. The lock then is held for
ever: the threads of a pool wait for it, and the pool waits for its threads. It can also come when a
thread has just been started and is not in its pool's list, or while another error is cleared up
after. A moment later the same signal is harmless; so there it is put off, which is to say, sent
again.

A flag that the phases poll would be simpler, but most of what takes long cannot poll: a sort of
NumPy, a reader of Parquet, an import, a write to a slow disk.
"""

from __future__ import annotations

import _thread
import gc
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from groute_py.errors import GrouteError, signalled

EDGES = frozenset(
    {"__enter__", "__exit__", "acquire", "release", "_acquire_restore", "_release_save"}
)
"""Functions that take and free locks; interrupted, they may have done half of it."""

STARTS = frozenset({"Thread.start", "ThreadPoolExecutor.submit"})
"""Functions that start threads, and then note that they did."""

SOON_S, MOST_TIMES = 0.001, 200
"""A signal that is put off comes again so soon; but it is put off no oftener than this, for such a
function may also be waiting for a lock: then it holds none, and an error does no harm."""

DROPPED_S = 0.05
"""After so long a handler's error that native code has dropped is raised again."""

OWN = {"click", "groute_py", "llvmlite", "numba", "numpy", *sys.stdlib_module_names} - {"sys"}
"""Packages whose modules hold nothing that must be closed; those of others, which `sys` lists, may
have open files."""

_heard: list[GrouteError] = []  # errors that handlers have raised
_done = False  # true once the command is done, so that deferred signals are dropped


def on_signal(number: signal.Signals, error_of: Callable[[], GrouteError]) -> None:
    """Let a signal raise the error that ``error_of`` gives, in the main thread."""
    times = 0

    def handler(number: int, frame: FrameType | None) -> None:
        nonlocal times
        if times < MOST_TIMES and (_is_at_edge(frame) or sys.exc_info()[0] is not None):
            times += 1
            # no alarm, which others set and cancel; no Thread, which takes locks to start
            _thread.start_new_thread(_send_again, (number,))
            return
        error = signalled(error_of())
        _heard.append(error)
        raise error

    signal.signal(number, handler)


def first_signal() -> GrouteError | None:
    """Return the first error that a signal has brought."""
    return _heard[0] if _heard else None


def raise_heard() -> None:
    """Raise the first error that a signal has brought, for an import may have passed over it."""
    if _heard:
        raise _heard[0]


def be_done() -> None:
    """End soon, and ignore signals, also deferred ones, because the command is done.

    Signals would come into the ends of Python and of MPI, which take a second at most, and end with
    a code of the system's a command whose answer is complete.
    """
    global _done
    _done = True
    ignore_signals()
    _keep_modules()


def ignore_signals() -> None:
    """Ignore all signals, because the process is ending.

    Open MPI's mpirun sends SIGTERM after an abort; that must not be reported as a second error.
    """
    signal.setitimer(signal.ITIMER_REAL, 0)
    handled = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2)
    for name in handled:
        signal.signal(name, signal.SIG_IGN)


def raise_dropped(dropped: sys.UnraisableHookArgs) -> None:
    """Raise a handler's dropped error again, a little later; to be `sys.unraisablehook`.

    Native code that calls Python, such as Numba's compiler, drops errors that are raised there.
    """
    error = dropped.exc_value
    if isinstance(error, GrouteError) and error.by_signal:
        on_signal(signal.SIGALRM, lambda: error)
        signal.setitimer(signal.ITIMER_REAL, DROPPED_S)
    elif not (_heard and isinstance(error, OSError)):  # Python's, of a signal now ignored
        sys.__unraisablehook__(dropped)


def _keep_modules() -> None:
    """Leave what our modules contain to the system, which frees a process's memory at once.

    Python would free functions and classes one by one: a third of the time that its end takes.
    """
    contents: list[Any] = [
        dict(vars(module))
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in OWN and isinstance(module, ModuleType)
    ]
    contents.append(contents)  # a cycle, which outlives this function
    gc.freeze()  # a last search for cycles takes 50 ms


def _is_at_edge(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name in EDGES or frame.f_code.co_qualname in STARTS:
            return True
        frame = frame.f_back
    return False


def _send_again(number: int) -> None:
    time.sleep(SOON_S)
    if not _done:
        signal.pthread_kill(threading.main_thread().ident or 0, number)
