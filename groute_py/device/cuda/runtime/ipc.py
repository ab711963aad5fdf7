"""Device memory that other processes map, by CUDA IPC.

Only allocations by `cudaMalloc` itself are exported. A chunk of CuPy's pool lies inside a larger
allocation; an importer would get the base of that, and write to the wrong place.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.cuda.runtime.short_memory import if_it_fits


def exportable(shape: int, dtype: np.dtype[Any]) -> Any:
    """An array that peers can map: an allocation of its own, from `cudaMalloc` itself."""
    memory = cp.cuda.Memory(max(shape, 1) * dtype.itemsize)
    return cp.ndarray(shape, dtype, cp.cuda.MemoryPointer(memory, 0))


def unmappable(channel: Channel) -> list[int]:
    """The ranks whose memory this process cannot map; collective.

    Containers that share no IPC or process numbers cannot, though GPUs have peer access.
    """
    memory = if_it_fits(lambda: runtime.malloc(1))
    handle: bytes | None = b""
    if memory is not None:
        handle = if_it_fits(lambda: bytes(runtime.ipcGetMemHandle(memory)))
    handles = channel.gather(handle)
    others = [rank for rank in range(len(handles)) if rank != channel.rank]
    result = [rank for rank in others if not _can_map(handles[rank])]
    channel.gather(None)  # nobody frees what a peer still maps
    if memory is not None:
        runtime.free(memory)
    return result


def _can_map(handle: bytes | None) -> bool:
    """Return True if a handle can be mapped, or none is there (no export, or a full GPU)."""
    try:
        if handle:
            runtime.ipcCloseMemHandle(runtime.ipcOpenMemHandle(handle))
    except runtime.CUDARuntimeError:
        return False
    return handle is not None


def mapped(channel: Channel, address: int) -> list[int]:
    """The addresses, in this process, of memory that every rank exports; collective."""
    with collective(channel):
        handle = bytes(runtime.ipcGetMemHandle(address))
    handles = channel.gather(handle)
    with collective(channel):
        return [
            address if rank == channel.rank else runtime.ipcOpenMemHandle(handle)
            for rank, handle in enumerate(handles)
        ]


def unmap(channel: Channel, addresses: list[int]) -> None:
    """Unmap the addresses that `mapped` has returned, except this rank's own."""
    for rank, address in enumerate(addresses):
        if rank != channel.rank:
            runtime.ipcCloseMemHandle(address)


class Shared:
    """An array of each rank that all ranks of a team map; of one rank alone, an ordinary one.

    One that is never closed keeps its memory, which peers may still map.
    """

    def __init__(self, team: Channel, length: int, dtype: np.dtype[Any]) -> None:
        self._team, self._addresses = team, list[int]()
        if team.size > 1:
            cp.get_default_memory_pool().free_all_blocks()  # its memory lies outside
        self.array = (exportable if team.size > 1 else cp.empty)(length, dtype)

    def map(self) -> list[int]:
        """Return the addresses of the ranks' arrays in this process; collective."""
        if self._team.size == 1:
            return [self.array.data.ptr]
        self._addresses = mapped(self._team, self.array.data.ptr)
        _MAPPED.add(self)
        return self._addresses

    def close(self) -> None:
        """Let the memory be freed, when no kernel reads it any more; collective."""
        if self._addresses:
            unmap(self._team, self._addresses)
            self._team.gather(None)  # nobody frees what a peer still maps
            self._addresses = []
            _MAPPED.discard(self)


_MAPPED: set[Shared] = set()
