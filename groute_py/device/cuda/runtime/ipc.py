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
