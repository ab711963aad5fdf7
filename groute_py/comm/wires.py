"""TCP connections ("wires") from each rank to rank 0, beside MPI, for heartbeats.

A cluster may forbid such connections, and peers may not reach all addresses of a host. So rank 0
broadcasts all its addresses, and a rank tries one after another. Both sides show a secret that was
broadcast by MPI, because a docker bridge has the same address on every host, and ports are scanned.
A rank that cannot connect has no wire, which is not an error.
"""

from __future__ import annotations

import fcntl
import platform
import secrets
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress

from groute_py.comm.base import Channel

MEET_S, TRY_S = 10.0, 2.0
"""Seconds for which ranks look for each other in all, and by one address."""

SECRET_BYTES = 16
HELLO = struct.Struct(f"!{SECRET_BYTES}sI")
"""A rank's first message: the secret and its number. The answer is the secret."""

GET_ADDRESS = 0x8915
"""Linux's ioctl for the IPv4 address of an interface."""


def wires(channel: Channel) -> dict[int, socket.socket]:
    """Connect every rank with rank 0; collective. The result has the reached peers by rank."""
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
