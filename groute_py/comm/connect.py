"""Opens the channel from the launcher's variables; only this module decides whether to use MPI."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from groute_py.comm.base import Channel, SoloChannel
from groute_py.errors import InputError, SetupError, everywhere, quote
from groute_py.system.environment import end_job, place
from groute_py.system.settings import settings

if TYPE_CHECKING:
    from mpi4py import MPI


NOTICE = 32767
"""Tag of the message that names the rank that aborts; the largest tag that every MPI has."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
"""The signals by which a user, a launcher or a batch system ends a rank."""

NOTICE_S, POLL_S = 0.2, 2e-3
"""Seconds that a rank that ends all waits for its notices to leave, and between its looks. The
mpirun needs as long to forward what it has said: MPICH's may drop the rest after an abort."""


def connect(comm: MPI.Intracomm | None = None) -> Channel:
    """Open the channel of this run, for all ranks that the launcher started if ``comm`` is None."""
    if comm is None:
        if place().size == 1:
            return SoloChannel()
        comm = world()
    if not hasattr(comm, "allgather"):
        raise InputError(f"comm must be a communicator of mpi4py or None, not {quote(comm)}")
    if comm.size == 1:
        return SoloChannel()
    from groute_py.comm.mpi import MpiChannel

    for problem in comm.allgather(_wrong_setting()):
        if problem is not None:
            raise everywhere(problem)
    return MpiChannel(comm)


def _wrong_setting() -> InputError | None:
    """Later each rank would find it by itself, and end while others wait."""
    try:
        settings()
    except InputError as problem:
        return problem
    return None


def world() -> MPI.Intracomm:
    """All ranks that the launcher started."""
    try:
        with _mortal():
            from mpi4py import MPI
    except (ImportError, RuntimeError) as problem:
        what = str(problem).partition("\n")[0]  # behind it stands each name that was tried
        raise everywhere(
            SetupError(
                f"this job has several ranks, but no MPI library can be loaded ({what}); "
                "install one with `pip install 'groute-py[mpich]'` or load your site's module"
            )
        ) from problem
    here = place()
    if MPI.COMM_WORLD.size != here.size:
        library = MPI.Get_library_version().split("\n")[0].split(",")[0].strip()
        raise everywhere(
            SetupError(
                f"{here.launcher} started {here.size} ranks, but the MPI library in use "
                f"({library}) sees {MPI.COMM_WORLD.size}: mpirun and library do not belong "
                "together; start with `python -m groute_py.launch -n N -- …`, or use the mpirun "
                "of that library"
            )
        )
    return MPI.COMM_WORLD


@contextmanager
def _mortal() -> Iterator[None]:
    """While MPI starts, a signal ends this process at once, as it does those without a handler.

    No handler of Python runs within native code: a rank that waits there for a rank that the same
    signal has ended would wait for ever.

    MPICH sets a handler for SIGUSR1 while it starts, which goes on to the one before if that is a
    function, but drops the signal where it was `SIG_DFL`. So the one before is C's ``abort``: its
    mpirun ends the others at once if a rank dies by a signal, but not if it exits that early.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # others cannot change this, and hear no signal
        return
    handled = [name for name in SIGNALS if signal.getsignal(name) is not signal.SIG_IGN]
    before = {name: signal.signal(name, signal.SIG_DFL) for name in handled}
    if signal.SIGUSR1 in before:
        process = ctypes.CDLL(None)
        process.signal(int(signal.SIGUSR1), process.abort)
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, signal.SIG_DFL if handler is None else handler)


def abort_all(exit_code: int) -> None:
    """End every rank of the job at once; return where neither MPI nor its launcher can."""
    if not running():
        end_job(exit_code)
        return
    from mpi4py import MPI

    ranks = MPI.COMM_WORLD
    others = [peer for peer in range(ranks.size) if peer != ranks.rank]
    notices = [ranks.Isend(b"", peer, NOTICE) for peer in others]
    end = time.monotonic() + NOTICE_S
    while time.monotonic() < end:  # a first message may take several rounds to leave
        MPI.Request.Testall(notices)
        time.sleep(POLL_S)
    ranks.Abort(exit_code)


def peer_aborts(within_s: float) -> bool:
    """Wait so long for another rank to end all; it has said why, and mpirun may send us SIGTERM."""
    end = time.monotonic() + within_s
    while running():
        from mpi4py import MPI

        if MPI.COMM_WORLD.Iprobe(MPI.ANY_SOURCE, NOTICE):
            return True
        if time.monotonic() > end:
            return False
        time.sleep(POLL_S)
    time.sleep(within_s)
    return False


def is_whole() -> bool:
    """Return True if MPI has been started and sees all ranks that the launcher has."""
    if not running():
        return False
    from mpi4py import MPI

    return bool(MPI.COMM_WORLD.size == place().size)


def running() -> bool:
    """Return True if MPI has been started, and not ended."""
    if "mpi4py.MPI" not in sys.modules:
        return False
    from mpi4py import MPI

    return bool(MPI.Is_initialized() and not MPI.Is_finalized())
