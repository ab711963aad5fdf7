"""The link of a team: the mailbox, inbox and distances of each rank, mapped through CUDA IPC."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime

from groute_py.comm.team import Team
from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.ghosts import Ghosts
from groute_py.device.cuda.runtime.ipc import mapped, unmap
from groute_py.device.cuda.runtime.memory_plan import ring_that_fits
from groute_py.device.cuda.runtime.short_memory import FULL
from groute_py.device.cuda.runtime.structs import MAILBOX, PEERS

NEXT_MAILBOX_AT = -(-MAILBOX.itemsize // 512) * 512
INBOX_AT = 2 * NEXT_MAILBOX_AT
"""Offset at which the second mailbox and the inbox begin, behind the first: entries are loaded 16
bytes at a time."""


def connect(
    team: Team, ghosts: Ghosts, graph: DeviceGraph, distances: Any, most_pushed: int
) -> Link | str:
    """Link a team by rings that fit on all GPUs, or say why not; collective."""
    cp.get_default_memory_pool().free_all_blocks()  # peers map what lies outside of it
    rooms = team.channel.gather(graph.gpu.free_bytes)
    ring = ring_that_fits(most_pushed, len(rooms), graph.type, min(rooms))
    return linked(team, ghosts, distances, graph.entry_type.itemsize, ring) if ring else FULL


def linked(
    team: Team, ghosts: Ghosts, distances: Any, entry_bytes: int, capacity: int
) -> Link | str:
    """The link of a team, or the reason why there is none; the same on every rank; collective."""
    try:
        memory = runtime.malloc(INBOX_AT + team.channel.size * capacity * entry_bytes)
        runtime.memset(memory, 0, INBOX_AT)
        runtime.deviceSynchronize()
    except (runtime.CUDARuntimeError, MemoryError):
        memory = None  # the others are not to wait for it
    if all(team.channel.gather(memory is not None)):
        return Link(team, ghosts, distances, memory, entry_bytes, capacity)
    if memory is not None:
        runtime.free(memory)
    return FULL


_EXPORTED: dict[int, Any] = {}
"""Distances that peers may map, by their link's memory: a link that is never closed keeps both."""


class Link:
    """This rank's mailbox and inbox, and the mapped memory of its peers; collective."""

    def __init__(
        self,
        team: Team,
        ghosts: Ghosts,
        distances: Any,
        memory: Any,
        entry_bytes: int,
        capacity: int,
    ) -> None:
        channel = self._channel = team.channel
        self._me, self._capacity = channel.rank, capacity
        self.first, self.size, self._ghosts = team.first, channel.size, ghosts
        self._ring_bytes, self._entry_bytes = capacity * entry_bytes, entry_bytes
        self._pull_bytes = ghosts.owned[self._me] * distances.itemsize
        self._memory, self._runs = memory, 0
        self._mapped = mapped(channel, int(memory))
        self._distances = mapped(channel, distances.data.ptr)
        _EXPORTED[int(memory)] = distances
        self._structs = [self._struct(0, NEXT_MAILBOX_AT), self._struct(NEXT_MAILBOX_AT, 0)]

    def peers(self, limit: float, ahead: float, widest: float, bound: float) -> Any:
        """The struct ``Peers`` of kernels/layout/exchange.cuh for the next run, one record."""
        struct = self._structs[self._runs % 2]
        struct["limit"], struct["ahead"], struct["widest"] = limit, ahead, widest
        struct["bound"] = bound
        return struct

    def next_run(self) -> None:
        """A run has been launched: the next one uses the other mailboxes."""
        self._runs += 1

    def _struct(self, mailbox: int, other: int) -> Any:
        """The struct for mailboxes at these offsets in bytes, of this run and of the next."""
        struct = np.zeros(1, PEERS)
        for rank in range(self.size):
            base = self._mapped[rank]
            struct["mailbox"][0, rank] = base + mailbox
            struct["outbox"][0, rank] = base + INBOX_AT + self._me * self._ring_bytes
            struct["distances"][0, rank] = self._distances[rank]
            struct["owned"][0, rank] = self._ghosts.owned[rank]
            struct["mirrors"][0, rank] = self._ghosts.at(self._me, rank)
        struct["next"], struct["inbox"] = self._memory + other, self._memory + INBOX_AT
        struct["me"], struct["count"] = self._me, self.size
        struct["capacity"], struct["first"] = self._capacity, self.first
        return struct

    def bytes_sent(self, exchange: Any) -> list[int]:
        """Bytes sent to each peer: entries, and the distances of each dense pull."""
        pulled = int(exchange["dense_pulls"]) * self._pull_bytes
        entries = (exchange["sent"] + exchange["ll_sent"]).tolist()[: self.size]
        return [
            count * self._entry_bytes + (pulled if peer != self._me else 0)
            for peer, count in enumerate(entries)
        ]

    def close(self) -> None:
        """Unmap the peers' memory and free our own; collective, no kernel may be running."""
        unmap(self._channel, self._mapped)
        unmap(self._channel, self._distances)
        self._channel.gather(None)  # nobody frees what a peer still maps
        runtime.free(self._memory)
        del _EXPORTED[int(self._memory)]
