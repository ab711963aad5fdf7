"""Device memory that other processes map, by CUDA IPC.

Only allocations by `cudaMalloc` itself are exported. A chunk of CuPy's pool lies inside a larger
allocation; an importer would get the base of that, and write to the wrong place.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime

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
