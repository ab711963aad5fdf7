"""Peers' memory: each rank's mailbox, inbox and distances, mapped by all others of its host through
CUDA IPC.

Only memory from `cudaMalloc` itself is exported: a chunk of CuPy's pool begins inside a larger
allocation, whose base is what an importer would get, and peers would write to the wrong place.
"""

from __future__ import annotations

import platform
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.comm.team import Team
from groute_py.device.binding import why_hidden
from groute_py.device.cuda_crossing import to_device
from groute_py.device.layout import MAX_PEERS, PEERS
from groute_py.environment import hiding
from groute_py.partition.share import Share

HOMES_AT_ONCE = 1 << 25
"""Vertices that ranks tell each other of at once: a message to all is below 2³¹ bytes."""

INBOX_AT = 512
"""Where the inbox begins behind the mailbox: entries are loaded 16 bytes at a time."""

FULL = "a GPU has no memory left for inboxes"
"""Why ranks that could exchange inside the kernel do not."""


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
    """The ranks whose GPU this one cannot reach."""
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


def linked(team: Team, share: Share, distances: Any, entry_bytes: int, capacity: int) -> Link | str:
    """The link of a team, or why there is none, the same on every rank; collective.

    Args:
        team: the peers.
        share: this rank's.
        distances: of its vertices and halo, `exportable`.
        entry_bytes: of a worklist entry.
        capacity: entries of a ring, a power of two.
    """
    homes, memory, asked = _exchanged(team, share), None, []
    try:
        memory = runtime.malloc(INBOX_AT + team.channel.size * capacity * entry_bytes)
        asked = [to_device(home, np.uint32) for home in homes]
    except (runtime.CUDARuntimeError, MemoryError):
        pass  # the others are not to wait for it
    if all(team.channel.gather(len(asked) == len(homes))):
        return Link(team, share, distances, memory, asked, entry_bytes, capacity)
    if memory is not None:
        runtime.free(memory)
    return FULL


def _exchanged(team: Team, share: Share) -> list[NDArray[np.int32]]:
    """Which of this rank's vertices each peer has in its halo."""
    starts, channel = share.halo_starts[team.first :], team.channel
    halos = [share.halo_home[starts[p] : starts[p + 1]] for p in range(channel.size)]
    rounds = max(-(-max(channel.gather(len(share.halo))) // HOMES_AT_ONCE), 1)
    parts = [slice(i * HOMES_AT_ONCE, (i + 1) * HOMES_AT_ONCE) for i in range(rounds)]
    pieces = [channel.exchange([home[part] for home in halos]) for part in parts]
    return [np.concatenate(column) for column in zip(*pieces, strict=True)]


_EXPORTED: dict[int, Any] = {}
"""Distances that peers may map, by their link's memory: a link that is never closed keeps both."""


class Link:
    """This rank's mailbox and inbox, and what is mapped of its peers; collective.

    Args:
        team, share, distances, entry_bytes, capacity: as for `linked`.
        memory: the address of a mailbox, and an inbox with a ring for each rank of the team.
        asked: which of this rank's vertices each peer has in its halo, on the device.
    """

    def __init__(
        self,
        team: Team,
        share: Share,
        distances: Any,
        memory: Any,
        asked: list[Any],
        entry_bytes: int,
        capacity: int,
    ) -> None:
        channel = self._channel = team.channel
        self._me, self._count, self._capacity = channel.rank, channel.size, capacity
        self.first = team.first
        self._ring_bytes, self._entry_bytes = capacity * entry_bytes, entry_bytes
        self._memory, self._asked = memory, asked
        self._mapped = self._map(int(memory))
        starts = share.halo_starts[self.first :][: self._count + 1]
        self._halo_bytes = np.diff(starts) * distances.itemsize
        begins = channel.gather(((share.own_count + starts) * distances.itemsize).tolist())
        mapped = self._map(distances.data.ptr)
        self._shown = {rank: mapped[rank] + begins[rank][self._me] for rank in mapped}
        self._bases = [*self._mapped.values(), *mapped.values()]
        _EXPORTED[int(memory)] = distances

    def _map(self, address: int) -> dict[int, int]:
        """Where memory that every rank exports lies for this one, but for its own."""
        handles = self._channel.gather(bytes(runtime.ipcGetMemHandle(address)))
        return {
            rank: runtime.ipcOpenMemHandle(handle)
            for rank, handle in enumerate(handles)
            if rank != self._me
        }

    @property
    def mailbox(self) -> int:
        """The address of this rank's own mailbox."""
        return int(self._memory)

    def peers(self, ahead: float, widest: float, bound: float) -> Any:
        """The struct ``Peers`` of kernels/peers.cuh, as one NumPy record."""
        struct = np.zeros(1, PEERS)
        for rank in range(self._count):
            base = self._mapped.get(rank, self._memory)
            struct["mailbox"][0, rank] = base
            struct["outbox"][0, rank] = base + INBOX_AT + self._me * self._ring_bytes
            struct["shown"][0, rank] = self._shown.get(rank, 0)
            struct["asked"][0, rank] = self._asked[rank].data.ptr
            struct["asked_count"][0, rank] = len(self._asked[rank])
        struct["inbox"] = self._memory + INBOX_AT
        struct["ahead"], struct["widest"], struct["bound"] = ahead, widest, bound
        struct["me"], struct["count"] = self._me, self._count
        struct["capacity"], struct["first"] = self._capacity, self.first
        return struct

    def bytes_sent(self, exchange: Any) -> NDArray[np.uint64]:
        """To each peer, shape (MAX_PEERS,): entries, and distances shown, each time."""
        sent = np.array(exchange["sent"] * np.uint64(self._entry_bytes))
        sent[: self._count] += (exchange["shown"] * self._halo_bytes).astype(np.uint64)
        return sent

    def close(self) -> None:
        """Unmap the peers' memory and free our own; collective, no kernel may be running."""
        for address in self._bases:
            runtime.ipcCloseMemHandle(address)
        self._channel.gather(None)  # nobody frees what a peer still maps
        runtime.free(self._memory)
        del _EXPORTED[int(self._memory)]


def nobody() -> Any:
    """The struct ``Peers`` of a rank that has nobody to exchange with in the kernel."""
    struct = np.zeros(1, PEERS)
    struct["count"] = 1
    return struct
