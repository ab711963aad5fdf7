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

import fcntl
import os
import platform
import secrets
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from groute_py.comm.base import Channel

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


MEET_S, TRY_S = 10.0, 2.0
"""Seconds for which ranks look for each other in all, and by one address."""

SECRET_BYTES = 16
HELLO = struct.Struct(f"!{SECRET_BYTES}sI")
"""A rank's first message: the secret and its number. The answer is the secret."""

GET_ADDRESS = 0x8915
"""Linux's ioctl for the IPv4 address of an interface."""


def wires(channel: Channel) -> dict[int, socket.socket]:
    """Connect every rank with rank 0; collective. The result has the reached peers by rank.

    A cluster may forbid such connections, and peers may not reach all addresses of a host. So rank
    0 broadcasts all its addresses, and a rank tries one after another. Both sides show a secret
    that was broadcast by MPI, because a docker bridge has the same address on every host, and ports
    are scanned. A rank that cannot connect has no wire, which is not an error.
    """
    server = _server(channel.size) if channel.rank == 0 else None
    port = server.getsockname()[1] if server is not None else 0
    mine = (secrets.token_bytes(SECRET_BYTES), platform.node(), port, tuple(_addresses()))
    secret, host, port, addresses = channel.broadcast(mine)
    if port == 0:
        return {}
    if server is not None:
        with server:
            return _accepted(server, secret, channel.size - 1)
    near = ("127.0.0.1",) if host == platform.node() else ()
    wire = _reached((*near, host, *addresses), port, HELLO.pack(secret, channel.rank))
    return {} if wire is None else {0: wire}


def _server(backlog: int) -> socket.socket | None:
    """A socket that listens on all addresses, or None where that is forbidden."""
    try:
        return socket.create_server(("", 0), backlog=backlog)
    except OSError:
        return None


def _accepted(server: socket.socket, secret: bytes, count: int) -> dict[int, socket.socket]:
    wires: dict[int, socket.socket] = {}
    deadline = time.monotonic() + MEET_S
    while len(wires) < count and (left_s := deadline - time.monotonic()) > 0:
        server.settimeout(left_s)
        with suppress(OSError):
            wire, _ = server.accept()
            rank = _introduced(wire, secret)
            if rank is None:
                wire.close()
            else:
                wires[rank] = wire
    return wires


def _introduced(wire: socket.socket, secret: bytes) -> int | None:
    """The rank at the other end, or None for a stranger."""
    wire.settimeout(TRY_S)
    try:
        shown, rank = HELLO.unpack(wire.recv(HELLO.size, socket.MSG_WAITALL))
        if not secrets.compare_digest(shown, secret):
            return None
        wire.sendall(secret)
    except (OSError, struct.error):
        return None
    return int(rank)


def _reached(addresses: tuple[str, ...], port: int, hello: bytes) -> socket.socket | None:
    """A wire to rank 0 by the first address that leads there."""
    deadline = time.monotonic() + MEET_S - TRY_S
    for address in addresses:
        if time.monotonic() > deadline:
            break
        with suppress(OSError):
            wire = socket.create_connection((address, port), timeout=TRY_S)
            with suppress(OSError):
                wire.sendall(hello)
                if wire.recv(SECRET_BYTES, socket.MSG_WAITALL) == hello[:SECRET_BYTES]:
                    return wire
            wire.close()
    return None


def _addresses() -> Iterator[str]:
    """The IPv4 addresses of this host's interfaces, the loopback's left out."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode())
            with suppress(OSError):  # an interface without such an address
                answer = fcntl.ioctl(any_socket, GET_ADDRESS, request)
                address = socket.inet_ntoa(answer[20:24])
                if not address.startswith("127."):
                    yield address
