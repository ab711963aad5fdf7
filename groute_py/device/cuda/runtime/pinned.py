"""Arrays in page-locked host memory: those of `cupyx`, without its import, as slow as CuPy's."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from typing import Any
from weakref import finalize

import cupy as cp
import numpy as np
from cupy.cuda import runtime
from numpy.typing import DTypeLike, NDArray

from groute_py.device.cuda.runtime.short_memory import NO_MEMORY
from groute_py.system.environment import local_size
from groute_py.system.memory_limits import ANSWERS
from groute_py.system.memory_pool import reused_memory

PORTABLE = 1
"""CUDA's flag: page-locked for all GPUs."""

_locked: dict[int, int] = {}
"""Bytes of the memory of answers that is page-locked, by its address."""

os.register_at_fork(after_in_child=_locked.clear)  # a child's copy of the memory is not locked


def empty_pinned(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array that is not initialized."""
    shape, kind = (shape,) if isinstance(shape, int) else shape, np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    try:
        memory = cp.cuda.alloc_pinned_memory(size)
    except runtime.CUDARuntimeError as problem:
        if problem.status != NO_MEMORY:
            raise
        raise MemoryError(f"{size:,} bytes of page-locked host memory") from problem
    return np.ndarray(shape, kind, memory)


def zeros_pinned(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array of zeros."""
    array = empty_pinned(shape, dtype)
    array.fill(0)
    return array


def begin_copy(host: NDArray[Any], device: Any, stream: Any) -> None:
    """Copy an array on the GPU to one in page-locked memory, in the stream."""
    words = host.ctypes.data, device.data.ptr, host.nbytes, runtime.memcpyDeviceToHost
    runtime.memcpyAsync(*words, stream.ptr)


def lock_reused(array: NDArray[Any]) -> bool:
    """Page-lock the memory of an answer if an earlier one had it; return whether it is locked.

    It stays so until it is freed. A copy then takes the whole bandwidth of the link, and no thread.
    To lock memory takes longer than to copy it once. The ranks of a host share what may be locked.
    """
    if (memory := reused_memory(array)) is None:
        return False
    address, size = memory.ctypes.data, memory.nbytes
    if address in _locked:
        return True
    if sum(list(_locked.values())) + size > ANSWERS.most // local_size():
        return False
    # first, since Ctrl-C may come behind any line
    unlock = finalize(memory, _unlock, address, cp.cuda.Device().id, os.getpid())
    unlock.atexit = False
    try:
        runtime.hostRegister(address, size, PORTABLE)
    except runtime.CUDARuntimeError:  # no more can be locked
        unlock.detach()
        return False
    _locked[address] = size
    return True


def _unlock(address: int, gpu: int, process: int) -> None:
    """Unlock memory that is about to be freed, unless a fork has copied it."""
    _locked.pop(address, None)
    if os.getpid() == process:
        with suppress(runtime.CUDARuntimeError), cp.cuda.Device(gpu):
            runtime.hostUnregister(address)
