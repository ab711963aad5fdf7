"""A rank's rows of a generated graph, made in the memory of its GPU.

Each rank counts all rows, which takes less time than to exchange counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import partial
from typing import Any

import cupy as cp
import numpy as np

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.cuda.graph.csr import starts_of
from groute_py.device.cuda.graph.share import MOST_THREADS
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.gpu import own_gpu, pooled_bytes
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.device.cuda.runtime.memory_plan import generated_bytes
from groute_py.device.cuda.runtime.short_memory import if_it_fits
from groute_py.device.cuda.runtime.sort import sort_keys
from groute_py.graph.drawn import RandomGraph
from groute_py.graph.facts import Weighed
from groute_py.kernels.source import BLOCK, GENERATE
from groute_py.kernels.structs import struct
from groute_py.partition.share import Partition, Rows
from groute_py.source.generated import OwnRows, RowCounts
from groute_py.system.clock import phase

KEY_BITS = 64


class GpuMaker:
    """Makes rows of a graph on the GPU of a rank."""

    def __init__(self, local_rank: int, graph: RandomGraph) -> None:
        self._local_rank, self._graph = local_rank, graph
        is_rmat = graph.scale is not None
        self._edges = graph.size.arcs >> is_rmat
        words: Any = np.zeros(1, struct(GENERATE, "RandomGraph"))
        words["edges"], words["seed"] = self._edges, graph.seed
        words["vertices"], words["scale"] = graph.size.vertices, graph.scale or 0
        words["is_rmat"] = is_rmat
        self._words = words
        self._offsets: Any = None

    def count(self, channel: Channel) -> RowCounts | None:
        with collective(channel):
            self._gpu = own_gpu(self._local_rank)
            with phase("compile"):
                self._kernels = Kernels(kernels_of(GENERATE, np.dtype(np.int32), 0), BLOCK)
            rows = if_it_fits(self._count)
            self._offsets = None if rows is None else rows.offsets
        return rows

    def make(self, channel: Channel, cut: Partition) -> OwnRows | None:
        low, high = (int(bound) for bound in cut.bounds[channel.rank : channel.rank + 2])
        with collective(channel):
            return if_it_fits(partial(self._make, low, high, channel.size))

    def _count(self) -> RowCounts:
        counts = cp.zeros(self._graph.size.vertices, np.int64)
        weights = np.zeros(1, struct(GENERATE, "Weights"))
        weights["least"] = ~np.uint32(0)
        totals = cp.asarray(weights.view(np.uint8))
        self._kernels.run("count_rows", _threads(self._edges), self._words, counts, totals)
        offsets = starts_of(counts, np.int64)
        (total,) = totals.get().view(weights.dtype)
        mean = int(total["sum"]) / self._edges
        return RowCounts(offsets, Weighed(int(total["least"]), int(total["greatest"]), mean))

    def _make(self, low: int, high: int, parts: int) -> OwnRows:
        self._gpu.use()
        offsets, self._offsets = self._offsets, None
        first, last = int(offsets[low]), int(offsets[high])
        arcs, outside = last - first, self._graph.size.vertices - (high - low)
        if generated_bytes(high - low, min(outside, arcs), arcs, parts) > self._room():
            raise MemoryError("the rows find no room")
        heads, weights = cp.empty(arcs, np.int32), cp.empty(arcs, np.int32)
        border = cp.zeros((high - low) // 32 + 1, np.uint32)
        cost = cp.zeros(3, np.uint64)  # struct Cut
        bits = max(self._graph.size.arcs - 1, 1).bit_length()
        for begin, end in self._halves(offsets, low, high, KEY_BITS - bits):
            some = slice(int(offsets[begin]) - first, int(offsets[end]) - first)
            keys = self._keys(begin, end, bits, some.stop - some.start)
            words = (np.uint64(len(keys)), *map(np.uint32, (begin, bits, low, high)))
            places = heads[some], weights[some], border, cost
            self._kernels.run("write_arcs", _threads(len(keys)), self._words, keys, *words, *places)
            del keys  # before others are made
        own = offsets if parts == 1 else offsets[low : high + 1] - first
        cut, tails, unsorted = map(int, cost.get())
        if unsorted:
            raise MemoryError("a sort has found no room")
        cp.get_default_memory_pool().free_all_blocks()  # other streams do not find it there
        return OwnRows(Rows(own, heads, weights), (arcs, cut, tails))

    def _keys(self, begin: int, end: int, bits: int, count: int) -> Any:
        """The sorted keys of the arcs that leave some vertices; see kernels/generate/arcs.cu."""
        keys, cursor = cp.empty(count, np.uint64), cp.zeros(1, np.uint64)
        words = map(np.uint32, (begin, end, bits))
        self._kernels.run("list_arcs", _threads(self._edges), self._words, *words, keys, cursor)
        sort_keys(keys)
        return keys

    @staticmethod
    def _halves(offsets: Any, low: int, high: int, bits: int) -> Iterator[tuple[int, int]]:
        """Yield rows with about half of all arcs each, whose numbers in the range have ``bits``."""

        def begin(row: int) -> int:
            return int(offsets[row])

        half = -(-(begin(high) - begin(low)) // 2)
        while low < high:
            stop = bisect_left(range(high), begin(low) + half, low + 1, key=begin)
            stop = min(stop, low + (1 << bits))
            yield low, stop
            low = stop

    def _room(self) -> int:
        return int(self._gpu.mem_info[0]) + pooled_bytes()


def _threads(count: int) -> int:
    return min(count, MOST_THREADS)
