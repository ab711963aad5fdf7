"""Transfers of large arrays between pageable host memory and a GPU.

A plain copy of pageable memory goes through one thread of the CUDA driver, at 3 to 5 GB/s. Here
each of several threads fills one small page-locked buffer while its other one is transferred. The
buffers are kept for the life of the process, because page-locking memory takes ten times as long as
copying it over PCIe. The memory of an answer is page-locked when a second one has it, and copied to
at once. A piece may be converted to another type or layout in the buffer, so that only
the bytes that kernels need are transferred, and CuPy has no kernels to compile for that.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import cycle
from threading import Lock
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime
from numpy.typing import NDArray

from groute_py.device.cuda.runtime.pinned import begin_copy, empty_pinned, lock_reused
from groute_py.errors import InputError
from groute_py.graph.arrays import on_device
from groute_py.system.memory_limits import ANSWERS
from groute_py.system.threads import thread_count

PIECE_BYTES = 4 << 20
"""Bytes of a buffer; measured, see docs/what-we-learned.md#transfers-and-files."""

FEW_COPIERS, MOST_COPIERS = 4, 12
"""Threads in the first `FEW_TRANSFERS` of a process, and later: more copy faster, but to page-lock
their buffers takes longer than a single solve gains."""

FEW_TRANSFERS = 8
"""Transfers that loading a graph and bringing one answer take."""

SMALL_BYTES = 4 << 20
"""Up to here one copy by CUDA is as fast."""

Fill = Callable[[slice, NDArray[Any]], None]
"""Writes a part of an array to host memory for it."""

Put = Callable[[NDArray[Any], NDArray[Any]], None]
"""Writes to the first array what the second one, of the same shape, has."""


def to_device(values: Any, dtype: Any) -> Any:
    """An array on the current GPU, of a type that holds all values; a copy only if it must be."""
    dtype = np.dtype(dtype)
    if on_device(values):
        if values.device.id != (here := cp.cuda.Device().id):
            place = f"an array lies on GPU {values.device.id}, and GPU {here} is to solve"
            raise InputError(f"{place}; copy it there, or change CUDA_VISIBLE_DEVICES")
        return values.astype(dtype, copy=False)

    are_words = {values.dtype.kind, dtype.kind} <= {"i", "u"} and values.dtype.isnative
    if are_words and values.itemsize == dtype.itemsize:
        values = values.view(dtype)  # copied faster than converted

    def convert(part: slice, place: NDArray[Any]) -> None:
        np.copyto(place, values[part], casting="unsafe")

    return filled_on_device(len(values), dtype, convert)


def filled_on_device(count: int, dtype: np.dtype[Any], fill: Fill) -> Any:
    """An array on the current GPU that the host fills part by part, by several threads."""
    if count * dtype.itemsize <= SMALL_BYTES:
        small = np.empty(count, dtype)
        fill(slice(0, count), small)
        return cp.asarray(small)
    array = cp.empty(count, dtype)
    step = PIECE_BYTES // dtype.itemsize

    def take(copier: Copier, first: int) -> None:
        part = slice(first, min(first + step, count))
        copier.send(fill, part, array[part])

    _share_out(range(0, count, step), take)
    return array


def to_host(values: Any) -> NDArray[Any]:
    """A copy in pageable host memory of an array on the current GPU, shape (k,)."""
    values = values if values.flags.c_contiguous else values.copy()  # as a user may have put it
    array = ANSWERS.empty(values.shape, values.dtype)
    if values.nbytes <= SMALL_BYTES and not lock_reused(array):
        values.get(out=array)
    else:
        put_on_host(array, values, np.copyto)
    return array


def converted_on_host(values: Any, dtype: np.dtype[Any], put: Put) -> NDArray[Any]:
    """A copy of another type, made of page-locked pieces of the values, by several threads."""
    array = ANSWERS.empty(len(values), dtype)
    if values.nbytes <= SMALL_BYTES:
        put(array, values.get())
    else:
        put_on_host(array, values, put)
    return array


def put_on_host(array: NDArray[Any], values: Any, put: Put) -> None:
    """Put an array on the current GPU into one in host memory; both have the shape (k,)."""
    if put is np.copyto and values.dtype == array.dtype and lock_reused(array):
        stream = cp.cuda.get_current_stream()
        try:
            begin_copy(array, values, stream)
        finally:  # Ctrl-C must not free what is copied to
            stream.synchronize()
        return
    step = PIECE_BYTES // values.itemsize

    def take(copier: Copier, first: int) -> None:
        copier.fetch(values[first : first + step], array[first : first + step], put)

    _share_out(range(0, len(values), step), take)


class Copier:
    """A thread's own stream, and two page-locked buffers that take turns."""

    def __init__(self, gpu: int) -> None:
        self._gpu = cp.cuda.Device(gpu)
        self._stream = cp.cuda.Stream(non_blocking=True)
        self._stagings = cycle([Staging(), Staging()])

    def use(self) -> None:
        """Make this thread work on the copier's GPU."""
        self._gpu.use()

    def send(self, fill: Fill, part: slice, place: Any) -> None:
        """Fill a buffer with a part, and begin its copy to the device."""
        staging = next(self._stagings)
        staging.arrive()
        staged = staging.buffer[: place.nbytes].view(place.dtype)
        fill(part, staged)
        self._copy(staging, place.data.ptr, staged.ctypes.data, place.nbytes)

    def fetch(self, piece: Any, place: NDArray[Any], put: Put) -> None:
        """Begin a copy to the host; it ends when its buffer is wanted again."""
        staging = next(self._stagings)
        staging.arrive()
        staged = staging.buffer[: piece.nbytes].view(piece.dtype)
        self._copy(staging, staged.ctypes.data, piece.data.ptr, piece.nbytes)
        staging.arriving = partial(put, place, staged)

    def finish(self) -> None:
        """End all copies."""
        for _ in range(2):
            next(self._stagings).arrive()

    def _copy(self, staging: Staging, to: int, source: int, nbytes: int) -> None:
        runtime.memcpyAsync(to, source, nbytes, runtime.memcpyDefault, self._stream.ptr)
        staging.done.record(self._stream)


class Staging:
    """A page-locked buffer, and the destination of its contents."""

    def __init__(self) -> None:
        self.buffer = empty_pinned(PIECE_BYTES, np.uint8)
        self.done = cp.cuda.Event(disable_timing=True)
        self.arriving: Callable[[], None] | None = None

    def arrive(self) -> None:
        """Finish the copy in flight, if any."""
        self.done.synchronize()
        if self.arriving is not None:
            self.arriving()
        self.arriving = None


_IN_USE = Lock()


class Copiers:
    """The copiers of a GPU (CUDA's number); there are more once a process has copied often."""

    def __init__(self, gpu: int) -> None:
        self._gpu, self._transfers, self._all = gpu, 0, list[Copier]()

    def for_pieces(self, count: int) -> list[Copier]:
        """At most one for each piece of the next transfer."""
        self._transfers += 1
        most = FEW_COPIERS if self._transfers <= FEW_TRANSFERS else MOST_COPIERS
        wanted = min(thread_count(), most, count)
        self._all += [Copier(self._gpu) for _ in range(wanted - len(self._all))]
        return self._all[:wanted]


@cache
def _copiers_of(gpu: int) -> Copiers:
    return Copiers(gpu)


def _share_out(firsts: range, take: Callable[[Copier, int], None]) -> None:
    """Let copiers take the pieces in turn; all copies have ended afterwards.

    Earlier work of the current stream comes first: it may still write the values, or read what lay
    in the same memory.
    """
    cp.cuda.get_current_stream().synchronize()

    def work(copier: Copier, mine: range) -> None:
        copier.use()
        for first in mine:
            take(copier, first)
        copier.finish()

    with _IN_USE:
        copiers = _copiers_of(cp.cuda.Device().id).for_pieces(len(firsts))
        parts = [firsts[number :: len(copiers)] for number in range(len(copiers))]
        with ThreadPoolExecutor(len(copiers)) as pool:
            list(pool.map(work, copiers, parts))
