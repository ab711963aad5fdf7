"""Peer access between GPUs, the condition for an exchange inside the kernel."""

from __future__ import annotations

import platform

from cupy.cuda import runtime

from groute_py.comm.base import Channel
from groute_py.device.cuda.runtime.ipc import unmappable
from groute_py.kernels.source import MAX_PEERS
from groute_py.system.environment import hiding, why_hidden


def why_not(channel: Channel, gpu: int, first: int = 0) -> str | None:
    """Why the ranks cannot exchange inside the kernel, or None when they can; collective."""
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
    if pairs := _pairs(channel, _unreachable(gpu, buses), first):
        return f"no peer access between the GPUs of ranks {pairs}"
    if pairs := _pairs(channel, unmappable(channel), first):
        return f"CUDA IPC does not map GPU memory between ranks {pairs}"
    return None


def _pairs(channel: Channel, mine: list[int], first: int) -> str:
    """This rank and some others, and the same of all ranks, by their numbers; collective."""
    everyone = enumerate(channel.gather(mine))
    pairs = [(first + rank, first + peer) for rank, peers in everyone for peer in peers]
    return ", ".join(f"{rank} and {peer}" for rank, peer in pairs)


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
