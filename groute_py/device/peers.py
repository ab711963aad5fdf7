"""Mapping of peers' memory through CUDA IPC: mailbox, inbox and distances of each rank of a host.

Only allocations by `cudaMalloc` itself are exported. A chunk of CuPy's pool lies inside a larger
allocation; an importer would get the base of that, and write to the wrong place.
"""

from __future__ import annotations

import platform
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime

from groute_py.comm.base import Channel
from groute_py.comm.team import Team
from groute_py.device.binding import why_hidden
from groute_py.device.layout import MAILBOX, MAX_PEERS, PEERS
from groute_py.device.mirrors import Mirrors
from groute_py.system.environment import hiding

NEXT_MAILBOX_AT = -(-MAILBOX.itemsize // 512) * 512
INBOX_AT = 2 * NEXT_MAILBOX_AT
"""Where the second mailbox and the inbox begin, behind the first: entries are loaded 16 bytes at a
time."""

FULL = "a GPU has no memory left for an exchange in the kernel"
"""The reason against fused mode if memory is short."""


def why_not(channel: Channel, gpu: int, first: int = 0) -> str | None:
    """Why the ranks cannot exchange inside the kernel, or None when they can; collective.

    Args:
        channel: between these ranks.
        gpu: CUDA's number of this rank's GPU.
        first: the first one's number in the job.
    """
    mine = (platform.node(), runtime.deviceGetPCIBusId(gpu))
    places = channel.gather(mine)
    if channel.size > MAX_PEERS:
        return f"{channel.size} ranks are more than the {MAX_PEERS} that a kernel can serve"
    if len({host for host, _ in places}) > 1:
        return "the ranks are on several hosts"
    if len(set(places)) < channel.size:
        return "ranks share a GPU"
    buses = [bus for _, bus in places]
    hidden = channel.gather((_hidden(buses), hiding()))
    for rank, (peers, setting) in enumerate(hidden):
        if peers:
            return why_hidden(first + rank, [first + peer for peer in peers], setting)
    blocked = channel.gather(_unreachable(gpu, buses))
    pairs = [
        f"{first + rank} and {first + peer}" for rank, peers in enumerate(blocked) for peer in peers
    ]
    return f"no peer access between the GPUs of ranks {', '.join(pairs)}" if pairs else None


def _hidden(buses: list[str]) -> list[int]:
    """The ranks whose GPU CUDA does not show to this process."""
    return [rank for rank, bus in enumerate(buses) if not _visible(bus)]


def _visible(bus: str) -> bool:
    try:
        runtime.deviceGetByPCIBusId(bus)
    except runtime.CUDARuntimeError:
        return False
    return True


def _unreachable(gpu: int, buses: list[str]) -> list[int]:
    """The ranks to whose GPUs this one has no peer access."""
    others = [runtime.deviceGetByPCIBusId(bus) for bus in buses]
    return [
        rank
        for rank, other in enumerate(others)
        if other != gpu and not runtime.deviceCanAccessPeer(gpu, other)
    ]


def exportable(shape: int, dtype: np.dtype[Any]) -> Any:
    """An array that peers can map: an allocation of its own, from `cudaMalloc` itself.

    Raises:
        cupy.cuda.runtime.CUDARuntimeError: there is no room for it.
    """
    memory = cp.cuda.Memory(max(shape, 1) * dtype.itemsize)
    return cp.ndarray(shape, dtype, cp.cuda.MemoryPointer(memory, 0))


def mapped(channel: Channel, address: int) -> list[int]:
    """The addresses, in this process, of memory that every rank exports; collective.

    Args:
        channel: between these ranks.
        address: of this rank's; see `exportable`.
    """
    handles = channel.gather(bytes(runtime.ipcGetMemHandle(address)))
    return [
        address if rank == channel.rank else runtime.ipcOpenMemHandle(handle)
        for rank, handle in enumerate(handles)
    ]


def unmap(channel: Channel, addresses: list[int]) -> None:
    """Unmap the addresses that `mapped` has returned, except this rank's own."""
    for rank, address in enumerate(addresses):
        if rank != channel.rank:
            runtime.ipcCloseMemHandle(address)


def linked(
    team: Team, mirrors: Mirrors, distances: Any, entry_bytes: int, capacity: int
) -> Link | str:
    """The link of a team, or the reason why there is none; the same on every rank; collective.

    Args:
        team: the peers.
        mirrors: how they number each other's vertices.
        distances: of this rank's, `exportable`, those of what it owns first.
        entry_bytes: of a worklist entry.
        capacity: entries of a ring, a power of two.
    """
    try:
        memory = runtime.malloc(INBOX_AT + team.channel.size * capacity * entry_bytes)
        runtime.memset(memory, 0, INBOX_AT)
        runtime.deviceSynchronize()
    except (runtime.CUDARuntimeError, MemoryError):
        memory = None  # the others are not to wait for it
    if all(team.channel.gather(memory is not None)):
        return Link(team, mirrors, distances, memory, entry_bytes, capacity)
    if memory is not None:
        runtime.free(memory)
    return FULL


_EXPORTED: dict[int, Any] = {}
"""Distances that peers may map, by their link's memory: a link that is never closed keeps both."""


class Link:
    """This rank's mailbox and inbox, and the mapped memory of its peers; collective.

    Args:
        team, mirrors, distances, entry_bytes, capacity: as for `linked`.
        memory: the address of two mailboxes, and an inbox with a ring for each rank of the team.

    Attributes:
        runs: launched so far.
    """

    def __init__(
        self,
        team: Team,
        mirrors: Mirrors,
        distances: Any,
        memory: Any,
        entry_bytes: int,
        capacity: int,
    ) -> None:
        channel = self._channel = team.channel
        self._me, self._count, self._capacity = channel.rank, channel.size, capacity
        self.first, self._mirrors = team.first, mirrors
        self._ring_bytes, self._entry_bytes = capacity * entry_bytes, entry_bytes
        self._shown_bytes = mirrors.owned[self._me] * distances.itemsize
        self._memory, self.runs = memory, 0
        self._mapped = mapped(channel, int(memory))
        self._distances = mapped(channel, distances.data.ptr)
        _EXPORTED[int(memory)] = distances
        self._structs = [self._struct(0, NEXT_MAILBOX_AT), self._struct(NEXT_MAILBOX_AT, 0)]

    def peers(self, limit: float, ahead: float, widest: float, bound: float) -> Any:
        """The struct ``Peers`` of kernels/peers.cuh for the next run, as one NumPy record."""
        struct = self._structs[self.runs % 2]
        struct["limit"], struct["ahead"], struct["widest"] = limit, ahead, widest
        struct["bound"] = bound
        return struct

    def _struct(self, mailbox: int, other: int) -> Any:
        """The struct for mailboxes at these offsets in bytes, of this run and of the next."""
        struct = np.zeros(1, PEERS)
        for rank in range(self._count):
            base = self._mapped[rank]
            struct["mailbox"][0, rank] = base + mailbox
            struct["outbox"][0, rank] = base + INBOX_AT + self._me * self._ring_bytes
            struct["shown"][0, rank] = self._distances[rank]
            struct["owned"][0, rank] = self._mirrors.owned[rank]
            struct["mirrors"][0, rank] = self._mirrors.at(self._me, rank)
        struct["next"], struct["inbox"] = self._memory + other, self._memory + INBOX_AT
        struct["me"], struct["count"] = self._me, self._count
        struct["capacity"], struct["first"] = self._capacity, self.first
        return struct

    def bytes_sent(self, exchange: Any) -> list[int]:
        """Bytes sent to each peer: entries, and the distances of each dense pull."""
        shown = int(exchange["shown"]) * self._shown_bytes
        entries = (exchange["sent"] + exchange["express_sent"]).tolist()[: self._count]
        return [
            count * self._entry_bytes + (shown if peer != self._me else 0)
            for peer, count in enumerate(entries)
        ]

    def close(self) -> None:
        """Unmap the peers' memory and free our own; collective, no kernel may be running."""
        unmap(self._channel, self._mapped)
        unmap(self._channel, self._distances)
        self._channel.gather(None)  # nobody frees what a peer still maps
        runtime.free(self._memory)
        del _EXPORTED[int(self._memory)]


def nobody() -> Any:
    """The struct ``Peers`` of a rank that has nobody to exchange with in the kernel."""
    struct = np.zeros(1, PEERS)
    struct["count"] = 1
    return struct
