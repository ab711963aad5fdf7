"""All pairs by Floyd–Warshall over the GPUs of several ranks, each with some strips of rows.

Strips are assigned in turn. In each pass one is closed by its owner, all ranks take it from there
through CUDA IPC, and let their own strips go through its vertices
(``kernels/multi_source/floyd.cu``). The owner of the next one lets that go first, closes it and
offers it while all are still at work on the rest, so that between passes nobody waits. The ranks
meet once a pass, on their hosts.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.device.cuda.multi_source.download import PIECE_BYTES, FindParents, Take
from groute_py.device.cuda.multi_source.floyd.steps import TILE, MatrixRows
from groute_py.device.cuda.multi_source.graph import CudaGraph
from groute_py.device.cuda.runtime.ipc import Shared
from groute_py.device.cuda.runtime.short_memory import if_it_fits
from groute_py.errors import InputError

SIDES = 2
"""Closed strips that a rank offers, or has taken, at once: this pass's and the next one's."""


def strip_rows(vertex_count: int, ranks: int) -> int:
    """Rows of a strip: some eight for each rank, of whole tiles, at most 1,024 rows each."""
    tiles = -(-vertex_count // TILE)
    return TILE * min(max(tiles // (8 * ranks), 1), 8)


def owner_of(vertices: NDArray[np.int64], vertex_count: int, ranks: int) -> NDArray[np.int64]:
    """The rank that has the row of each vertex."""
    owner: NDArray[np.int64] = vertices // strip_rows(vertex_count, ranks) % ranks
    return owner


class CudaRankFloyd(MatrixRows):
    """The rows of this rank; collective."""

    def __init__(
        self, graph: CudaGraph, channel: Channel, greatest_weight: float, *, predecessors: bool
    ) -> None:
        super().__init__(graph, greatest_weight, predecessors=predecessors)
        self._channel = channel
        if predecessors:
            _ = graph.incoming
        self._taking = cp.cuda.Stream(non_blocking=True)
        self._height = strip_rows(graph.vertex_count, channel.size)
        self._firsts = list(range(0, self._steps.pitch, self._height))
        self._allocate()
        self.label = f"{graph.label} and its peers, {len(self._own)} strips of the matrix on each"

    def _closed(self, *, with_trees: bool) -> tuple[Take, FindParents | None]:
        channel, steps = self._channel, self._steps
        offers = Offers(channel, self._height * steps.row_bytes)
        self._graph.gpu.synchronize()
        with steps.stream:
            for number, rows in self._own.items():
                steps.begin(rows, self._firsts[number])
        self._sweep(offers)
        self._graph.gpu.synchronize()
        offers.close()
        self._refuse_narrow(self._greatest)
        return self._take, self._graph.find_parents if with_trees else None

    def _greatest(self) -> float:
        with self._steps.stream:
            own = (self._steps.greatest(rows) for rows in self._own.values())
            return max(self._channel.gather(max(own, default=0.0)))

    def _allocate(self) -> None:
        steps, kind = self._steps, self._graph.type
        mine = range(self._channel.rank, len(self._firsts), self._channel.size)
        needed = (len(mine) + 2 * SIDES + 1) * self._height * steps.row_bytes + 4 * PIECE_BYTES
        if needed > self._graph.free_bytes:
            raise InputError(
                f"this rank's part of the matrix of {self._graph.vertex_count:,} vertices needs "
                f"{needed:,} bytes, and {self._graph.free_bytes:,} are free on "
                f"{self._graph.label}; use more ranks or --algorithm batch"
            )
        self._own = {
            number: cp.empty(
                (min(self._height, steps.pitch - self._firsts[number]), steps.pitch), kind
            )
            for number in mine
        }
        shape = self._height, steps.pitch
        self._taken = [cp.empty(shape, kind) for _ in range(SIDES)]
        self._used = [cp.cuda.Event(disable_timing=True) for _ in range(SIDES)]
        self._came = cp.cuda.Event(disable_timing=True)
        self._offered = cp.cuda.Event(disable_timing=True)

    def _sweep(self, offers: Offers) -> None:
        if 0 in self._own:
            self._close(0, offers)
            self._offered.synchronize()
        for number, first in enumerate(self._firsts):
            self._channel.gather(None)  # it is offered, and the one before has been taken by all
            onward = self._taken_from(number, offers)
            following = number + 1
            if following in self._own:
                self._through(following, onward, first)
                self._close(following, offers)
            for mine in self._own:
                if mine not in (number, following):
                    self._through(mine, onward, first)
            self._used[number % SIDES].record(self._steps.stream)
            if following in self._own:
                self._offered.synchronize()
            self._came.synchronize()

    def _close(self, number: int, offers: Offers) -> None:
        rows = self._own[number]
        with self._steps.stream as stream:
            self._steps.close(rows, self._firsts[number])
            _copy(offers.of(self._channel.rank, number % SIDES), rows.data.ptr, rows.nbytes, stream)
            self._offered.record()

    def _taken_from(self, number: int, offers: Offers) -> Any:
        """The closed strip on this GPU; the work that comes next waits for it."""
        if number in self._own:
            return self._own[number]
        side, rows = number % SIDES, min(self._height, self._steps.pitch - self._firsts[number])
        onward = self._taken[side][:rows]
        owner = number % self._channel.size
        self._taking.wait_event(self._used[side])
        _copy(onward.data.ptr, offers.of(owner, side), onward.nbytes, self._taking)
        self._came.record(self._taking)
        self._steps.stream.wait_event(self._came)
        return onward

    def _through(self, number: int, onward: Any, first: int) -> None:
        with self._steps.stream:
            self._steps.through(self._own[number], onward, first)

    def _take(self, wanted: NDArray[np.int64], _: Any, rows: Any) -> None:
        """Fill rows of this rank's strips; see `downloaded`."""
        staged = cp.empty((len(rows), self._steps.pitch), self._graph.type)
        for place, source in enumerate(wanted.tolist()):
            number = source // self._height
            staged[place] = self._own[number][source - self._firsts[number]]
        self._steps.leave(staged, cp.arange(len(rows), dtype=np.uint32), rows)


class Offers:
    """Memory of each rank that its peers read, ``size`` bytes for each of `SIDES`; collective."""

    def __init__(self, channel: Channel, size: int) -> None:
        shared = if_it_fits(lambda: Shared(channel, SIDES * size, np.dtype(np.uint8)))
        if not all(channel.gather(shared is not None)):
            raise MemoryError(f"{SIDES * size:,} bytes for strips that other ranks read")
        assert shared is not None
        self._shared, self._size, self._addresses = shared, size, shared.map()

    def of(self, rank: int, side: int) -> int:
        """The address of what a rank offers."""
        return self._addresses[rank] + side * self._size

    def close(self) -> None:
        """Unmap and free; collective. No kernel or copy may be running."""
        self._shared.close()


def _copy(target: int, source: int, size: int, stream: Any) -> None:
    runtime.memcpyAsync(target, source, size, runtime.memcpyDefault, stream.ptr)
