"""The working arrays of a solve and its control block; worklists take the rest of the memory."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime

from groute_py.device.base import Counters
from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.runtime.ipc import exportable
from groute_py.device.cuda.runtime.memory_plan import (
    SPARE_BYTES,
    Shape,
    capacity,
    chunk_capacity,
    entries_that_fit,
    far_few,
    message_bytes,
    size_of,
    work_arrays,
)
from groute_py.device.cuda.runtime.pinned import empty_pinned
from groute_py.device.cuda.runtime.structs import WORK, control_type, offset_of, pointed


class SolveBuffers:
    """Worklists and outboxes (struct ``Work``), and the report of kernels (struct ``Control``)."""

    def __init__(self, graph: DeviceGraph, *, direct: bool, exported: bool) -> None:
        self._gpu, self._graph, self._direct = graph.gpu, graph, direct
        arcs, peers = graph.arc_count, graph.terms.ranks
        sizes = (graph.rows, graph.halo, arcs, peers, graph.type)
        entries = self._entries_that_fit(sizes)
        shapes = work_arrays(*sizes, entries)
        self.arrays: dict[str, Any] = {}
        if exported:
            self.arrays["distance"] = exportable(*shapes.pop("distance"))
        self.arrays |= {name: cp.empty(shape, dtype) for name, (shape, dtype) in shapes.items()}
        self.label = _shortened(entries, graph.rows)
        far, chunks = self.arrays["far"].shape[1], chunk_capacity(arcs)
        few = min(far_few(graph.share.own_count), far)
        lengths = {
            "capacity": entries,
            "far_capacity": far,
            "far_few": few,
            "chunk_capacity": chunks,
        }
        self.work = pointed(WORK, self.arrays, lengths)
        self._control_type = control_type(graph.type)
        self.control = cp.zeros(self._control_type.itemsize, np.uint8)
        dirty_count = offset_of(self._control_type, "dirty_count")
        self.dirty_count = self.control[dirty_count : dirty_count + 4]
        self._seen = empty_pinned(self.control.nbytes, np.uint8).view(self._control_type)
        ends = (self._seen.ctypes.data, self.control.data.ptr)
        self._copying = (*ends, self.control.nbytes, runtime.memcpyDeviceToHost)

    def read_control(self) -> Any:
        """The control block, once all work in the stream has ended."""
        runtime.memcpyAsync(*self._copying, self._gpu.stream.ptr)
        self._gpu.stream.synchronize()
        return self._seen[0]

    def write_control(self, field: str, value: Any) -> None:
        """Set a field of the control block, in the stream."""
        start = offset_of(self._control_type, field)
        self.control[start : start + value.nbytes] = cp.asarray(
            np.frombuffer(value.tobytes(), np.uint8)
        )

    def have_room_for(self, shapes: dict[str, Shape]) -> bool:
        """Return True if optional arrays are there; allocates them where memory is left."""
        if shapes.keys() <= self.arrays.keys():
            return True
        if self._gpu.room() < size_of(shapes) + SPARE_BYTES:
            return False
        try:
            with self._gpu.stream:
                self.arrays |= {name: cp.empty(*words) for name, words in shapes.items()}
        except cp.cuda.memory.OutOfMemoryError:
            return False
        return True

    def _entries_that_fit(self, sizes: tuple[int, int, int, int, np.dtype[Any]]) -> int:
        """The places of each worklist, by the free memory outside the pool of small pieces."""
        rows, halo, _, peers, distance_type = sizes
        apart = self._graph.reserved_bytes
        apart += message_bytes(halo, peers, distance_type) if self._direct else 0
        entries = entries_that_fit(*sizes, self._gpu.free_bytes - apart)
        if entries == capacity(rows):
            return entries
        cp.get_default_memory_pool().free_all_blocks()
        return entries_that_fit(*sizes, self._gpu.free_bytes - apart)


def _shortened(entries: int, own: int) -> str:
    """Describe worklists that could not have their full length."""
    if entries == capacity(own):
        return ""
    return f", short of memory: worklists of {entries:,} entries in place of {capacity(own):,}"


class SolveCounters:
    """Counts that the kernels of a solve report, since it began."""

    def __init__(self) -> None:
        self.counts = Counters()

    def begin(self) -> None:
        """Before a solve."""
        self.counts = Counters()

    def update(
        self,
        *,
        relaxations: int,
        steps: int,
        overflowed: bool = False,
        settled: int = 0,
        sent: list[int] | None = None,
        worklists: tuple[int, int] | None = None,
    ) -> None:
        """After a slice; all numbers are since the solve began, as in `Counters`."""
        slices = self.counts.slices + int(steps > self.counts.steps)
        self.counts = Counters(
            relaxations, steps, slices, settled, overflowed, sent or [], worklists
        )
