"""The bandwidth of copies between the GPUs of this host, and the latency of dependent loads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime

from groute_py.kernels.source import PEER_LATENCY, text_of

COPY_BYTES, COPIES = 64 << 20, 4
RING, STRIDE, LOADS = 256, 64, 4000
"""Numbers in the ring, how far apart (in 4 bytes), and how many are loaded."""


@dataclass(frozen=True)
class Way:
    """The way from one GPU to another, or to its own memory."""

    gigabytes_per_s: float  # of copies to it
    latency_us: float  # of a load from it


def ways(among: Sequence[int]) -> dict[tuple[int, int], Way]:
    """Measure from each of some GPUs (CUDA's numbers) to all that it can reach; 128 MB on each."""
    current = runtime.getDevice()
    rooms: dict[int, _Room] = {}
    try:
        for gpu in among:
            rooms[gpu] = _Room(gpu)
        return {
            (here, there): _way(rooms[here], rooms[there])
            for here in rooms
            for there in rooms
            if here == there or _reaches(here, there)
        }
    finally:
        for room in rooms.values():
            room.free()
        runtime.setDevice(current)


class _Room:
    """Memory on a GPU to copy from and to, with a ring in it, and a compiled kernel."""

    def __init__(self, gpu: int) -> None:
        runtime.setDevice(gpu)
        self.gpu = gpu
        self.source, self.sink = runtime.malloc(COPY_BYTES), runtime.malloc(COPY_BYTES)
        ring = np.zeros(RING * STRIDE, np.uint32)
        ring[::STRIDE] = np.roll(np.arange(RING) * STRIDE, -1)
        runtime.memcpy(self.source, ring.ctypes.data, ring.nbytes, runtime.memcpyHostToDevice)
        code = text_of(PEER_LATENCY)
        self.kernel = cp.RawModule(code=code, backend="nvrtc").get_function("peer_latency")

    def free(self) -> None:
        runtime.setDevice(self.gpu)
        runtime.free(self.source)
        runtime.free(self.sink)


def _reaches(here: int, there: int) -> bool:
    if not runtime.deviceCanAccessPeer(here, there):
        return False
    runtime.setDevice(here)
    with suppress(runtime.CUDARuntimeError):  # it is enabled already
        runtime.deviceEnablePeerAccess(there)
    return True


def _way(here: _Room, there: _Room) -> Way:
    runtime.setDevice(here.gpu)
    stream = cp.cuda.Stream(non_blocking=True)

    def copy() -> None:
        runtime.memcpyPeerAsync(
            there.sink, there.gpu, here.source, here.gpu, COPY_BYTES, stream.ptr
        )

    def load() -> None:
        arguments = (np.uint64(there.source), np.uint32(LOADS), np.uint64(here.sink))
        here.kernel((1,), (1,), arguments, stream=stream)

    copy_ms = min(_milliseconds(stream, copy) for _ in range(COPIES))
    load_ms = min(_milliseconds(stream, load) for _ in range(2))
    return Way(COPY_BYTES / copy_ms / 1e6, 1e3 * load_ms / LOADS)


def _milliseconds(stream: Any, work: Any) -> float:
    with stream:
        first, last = cp.cuda.Event(), cp.cuda.Event()
        first.record()
        work()
        last.record()
        last.synchronize()
        return float(cp.cuda.get_elapsed_time(first, last))
