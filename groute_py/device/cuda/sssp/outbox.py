"""Messages of a GPU in rounds, to and from owners: in device memory, or through the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime

from groute_py.comm.base import Buffer, host_memory, parts_of
from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.runtime.pinned import empty_pinned, zeros_pinned
from groute_py.device.cuda.runtime.short_memory import pieces
from groute_py.device.cuda.sssp.buffers import SolveBuffers
from groute_py.kernels.source import BLOCK

MERGED_AT_ONCE = 1 << 20
"""Entries of a message that is on the host: they come to the device in pieces of this length."""


class Outbox:
    """Makes messages of what a slice has found for other ranks, and takes theirs apart."""

    def __init__(self, graph: DeviceGraph, buffers: SolveBuffers, *, direct: bool) -> None:
        self._graph, self._buffers, self._direct = graph, buffers, direct
        self._stream = graph.gpu.stream
        self._counts = zeros_pinned(graph.terms.ranks, np.uint32)

    def memory(self, size: int) -> Buffer:
        return self._room(size) if self._direct else host_memory(size)

    def columns(self, message: Buffer, *types: np.dtype[Any]) -> Iterator[tuple[int, list[Any]]]:
        """Yield parts of a message on the device: entries, and columns aligned by their types."""
        count = len(message) // sum(dtype.itemsize for dtype in types)
        whole = message if count > MERGED_AT_ONCE else cp.asarray(message)
        for part in pieces(count, MERGED_AT_ONCE):
            columns, start = [], 0
            for dtype in types:
                stop = start + count * dtype.itemsize
                columns.append(cp.asarray(whole[start:stop].view(dtype)[part]))
                start = stop
            yield part.stop - part.start, columns

    def fill(self, *, with_parents: bool) -> None:
        """Sort the improvements of a slice by owner, in the current stream."""
        halo = self._graph.halo
        if halo == 0:
            return
        buffers, gpu = self._buffers, self._graph.gpu
        buffers.arrays["box_count"].fill(0)
        state = (self._graph.struct, buffers.work, buffers.control)
        threads = min(halo, 8 * BLOCK * gpu.processors)
        self._graph.kernels.run("fill_outboxes", threads, *state, np.uint32(with_parents))
        buffers.dirty_count.fill(0)
        buffers.arrays["box_count"].get(out=self._counts, blocking=False)

    def emptied(self, *, with_parents: bool) -> list[tuple[int, Buffer]]:
        """The outboxes that the last slice filled, as messages."""
        if self._graph.halo == 0:
            return []
        names = ["box_parent"] * with_parents + ["box_distance", "box_vertex"]
        boxes = [self._buffers.arrays[name] for name in names]
        messages: list[tuple[int, Buffer]] = []
        with self._stream:
            for peer in np.flatnonzero(self._counts):
                count, first = int(self._counts[peer]), int(self._graph.share.halo_starts[peer])
                filled = [box[first : first + count] for box in boxes]
                for part in parts_of(count, sum(box.itemsize for box in boxes)):
                    columns = [column[part] for column in filled]
                    messages.append((int(peer), self.message(columns)))
        self._counts[:] = 0
        return messages

    def message(self, columns: list[Any]) -> Any:
        """One message of all columns, which lie on the device."""
        message, start = self._room(sum(column.nbytes for column in columns)), 0
        for column in columns:
            words = (column.data.ptr, column.nbytes, runtime.memcpyDefault, self._stream.ptr)
            runtime.memcpyAsync(_address(message) + start, *words)
            start += column.nbytes
        self._stream.synchronize()
        return message

    def _room(self, size: int) -> Any:
        """Room for a message where MPI takes it: on the device, or page-locked on the host."""
        room = self._room_here(size) if self._direct else None
        return empty_pinned(size, np.uint8) if room is None else room

    def _room_here(self, size: int) -> Any | None:
        """On the device, if there is some: what sends device memory sends the host's as well."""
        try:
            with self._stream:
                room = cp.empty(size, np.uint8)
        except cp.cuda.memory.OutOfMemoryError:
            return None
        self._stream.synchronize()  # whoever had this memory before is done with it
        return room


def _address(message: Any) -> int:
    """Return the address of a message in host or device memory."""
    return int(message.ctypes.data if isinstance(message, np.ndarray) else message.data.ptr)
