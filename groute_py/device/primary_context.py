"""CUDA's context on a GPU, made in a thread of its own while MPI starts and CuPy is imported.

All take about as long. The driver works without Python's lock; CUDA's runtime, and so CuPy, then
takes its context. An error here appears there too, where it is reported.
"""

from __future__ import annotations

import ctypes
import sys
from importlib.util import find_spec
from threading import Thread

LIBRARY = "libcuda.so.1"
"""The driver's, as CuPy loads it."""

_begun: set[int] = set()
"""Ranks on this host whose contexts this process has begun to make."""


def begin_context(local_rank: int) -> Thread | None:
    """Begin to make the context of a rank's GPU; return the thread, which ends before the process.

    A driver must not be left half begun. None without CuPy, or once it is imported or this has
    begun.
    """
    if local_rank in _begun or "cupy" in sys.modules or find_spec("cupy") is None:
        return None
    _begun.add(local_rank)
    thread = Thread(target=_make_context, args=(local_rank,), name="cuda context")
    thread.start()
    return thread


def _make_context(local_rank: int) -> int:
    """Make it (CUDA driver API, "Primary Context Management"); return the error code, or 0."""
    try:
        driver = ctypes.CDLL(LIBRARY)
    except OSError:
        return 0
    count, device, context = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    if code := driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return int(code)
    if count.value == 0:
        return 0
    number = local_rank % count.value  # of fewer GPUs than ranks some are shared
    code = driver.cuDeviceGet(ctypes.byref(device), number)
    return int(code or driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
