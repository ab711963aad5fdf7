"""Failure detection by heartbeats over TCP connections to rank 0, beside MPI.

MPI waits for ever for a rank that is stopped or whose host is lost, and launchers notice only ranks
that have ended. So a thread of each rank sends rank 0 a byte every `BEAT_S`, which rank 0 answers.
Rank 0 watches all others; the others watch rank 0.

Ending a healthy job is worse than ending a broken one late, so there are three exceptions:

* A silent rank of this host with a running thread is not reported: native code is holding Python's
  lock. The state of a process on another host is unknown; it may be silent for longer.
* A watcher that was itself stopped and continued, like a suspended job, does not report anybody.
* A broken connection is reported only after `GONE_S`, because the launcher usually ends the job
  first, with a better reason.
"""

from __future__ import annotations

import os
import platform
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from groute_py.comm.base import Channel
from groute_py.comm.wires import wires

BEAT_S = 1.0
AWAY_S = 3 * BEAT_S
"""A watcher that has not polled for this long was itself stopped."""

GONE_S = 3.0
"""A rank is called gone so long after its connection broke; mostly the launcher is faster."""

FAR = 5
"""A rank on another host may be silent this many times longer."""

BEAT, FAREWELL = b"b", b"f"

Lost = Callable[[str], None]


@dataclass
class Peer:
    """A rank that is watched."""

    rank: int
    host: str
    process: int
    last_seen: float  # `time.monotonic` of its last sign of life
    broken: bool = False  # its connection ended without a farewell

    def problem(self, now: float, silence_s: float) -> str | None:
        """A message if the rank is lost, else None."""
        who = f"rank {self.rank} (process {self.process} on {self.host})"
        quiet_s = now - self.last_seen
        if self.broken:
            return f"{who} is gone: it ended, or its host is lost" if quiet_s > GONE_S else None
        near = self.host == platform.node()
        if quiet_s <= silence_s * (1 if near else FAR):
            return None
        states = _states(self.process) if near else set()
        if states & {"R", "D"}:
            return None
        what = "is stopped" if states & {"T", "t"} else "has given no sign of life"
        return f"{who} {what} for {quiet_s:.0f} s"


@contextmanager
def heartbeat(channel: Channel, silence_s: float, lost: Lost) -> Iterator[list[int]]:
    """Watch the other ranks during the block; collective. Yields unwatched ranks on rank 0."""
    if channel.size == 1 or silence_s <= 0:
        yield []
        return
    places = channel.gather((platform.node(), os.getpid()))
    reached, now = wires(channel), time.monotonic()
    lines = {wire: Peer(rank, *places[rank], last_seen=now) for rank, wire in reached.items()}
    watch = Watch(lines, answers=channel.rank == 0)
    threading.Thread(target=watch.run, args=(silence_s, lost), daemon=True).start()
    try:
        yield sorted({*range(1, channel.size)} - {*reached}) if channel.rank == 0 else []
    finally:
        watch.end()


class Watch:
    """The connections of one rank and the state of its peers."""

    def __init__(self, lines: dict[socket.socket, Peer], *, answers: bool) -> None:
        self._lines, self._answers = lines, answers
        self._ended = threading.Event()
        self._selector = selectors.DefaultSelector()
        for line in lines:
            line.setblocking(False)
            self._selector.register(line, selectors.EVENT_READ)

    def run(self, silence_s: float, lost: Lost) -> None:
        """Send and receive beats until the end, or until a rank is lost."""
        beaten, last_look = 0.0, time.monotonic()
        while not self._ended.is_set():
            now = time.monotonic()
            if now - last_look > AWAY_S:
                self._excuse(now)
            last_look = now
            if not self._answers and now - beaten >= BEAT_S:
                beaten = now
                self._send_to_all(BEAT)
            for key, _ in self._selector.select(BEAT_S / 4):
                assert isinstance(key.fileobj, socket.socket)
                self._receive(key.fileobj)
            problems = (peer.problem(now, silence_s) for peer in self._lines.values())
            problem = next((p for p in problems if p), None)
            if problem and not self._ended.is_set():
                lost(problem)
                break
        self._selector.close()
        for line in self._lines:
            line.close()

    def end(self) -> None:
        """Send a farewell, so that the end of this rank is not reported as a loss."""
        self._send_to_all(FAREWELL)
        self._ended.set()

    def _excuse(self, now: float) -> None:
        for peer in self._lines.values():
            peer.last_seen = max(peer.last_seen, now)

    def _receive(self, line: socket.socket) -> None:
        peer = self._lines[line]
        try:
            received = line.recv(1 << 12)
        except OSError:
            received = b""
        peer.last_seen = float("inf") if FAREWELL in received else time.monotonic()
        if not received or FAREWELL in received:
            self._selector.unregister(line)
            peer.broken = not received
        elif self._answers:
            self._send(line, BEAT)

    def _send_to_all(self, what: bytes) -> None:
        for line in self._lines:
            self._send(line, what)

    def _send(self, line: socket.socket, what: bytes) -> None:
        with suppress(OSError):  # full or broken: what is heard of it tells
            line.send(what)


def _states(process: int) -> set[str]:
    """States of the threads of a process of this host; empty where none can be seen.

    R runs, S sleeps, D waits for a disk, T is stopped, t is held by a debugger.
    """
    states = set()
    with suppress(OSError):  # it ends just now
        for task in Path(f"/proc/{process}/task").iterdir():
            states.add((task / "stat").read_text().rpartition(")")[2].split()[0])
    return states
