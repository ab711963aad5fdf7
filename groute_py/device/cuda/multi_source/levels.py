"""Breadth-first searches from many sources at once on one GPU, on graphs of few levels.

A group of 32 sources has a bit or a lane each; see kernels/multi_source/levels.cu.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.graph.csr import lengths, places_in, starts_of
from groute_py.device.cuda.multi_source.graph import free_bytes
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.gpu import label_of, own_gpu
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.device.cuda.runtime.sort import ascending, sort_bytes
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.device.cuda.runtime.transfer import to_device, to_host
from groute_py.device.rows import MOST_LEVELS, NarrowError
from groute_py.device.summary import Summary, Wanted, summary_of_levels
from groute_py.graph.csr import Graph
from groute_py.graph.facts import Size
from groute_py.graph.tails import offsets_of
from groute_py.kernels.source import BLOCK, LEVELS
from groute_py.kernels.structs import struct

GROUP = 32
"""Sources of a group."""

LAUNCHES, MORE_LAUNCHES = 6, 2
"""Levels that are launched before the host looks whether there are more, first and later."""

BATCH_BYTES = 2 << 30
"""Memory of a batch: more groups at once save launches, which large graphs do not notice."""

MOST_GROUPS = 1 << 12
"""Groups of a batch at the most: a grid has a row of blocks for each."""

PIECE_ARCS = 2048
"""Longer rows are cut into pieces, each of which a warp takes."""

FEWER_ARCS = (PIECE_ARCS, 16, 8, 4, 2, 1, 0)
"""Rows of each class have more arcs, and at most as many as those of the class before."""

PATH_BYTES, MASK_BYTES, PIECE_BYTES = 16, 4, GROUP * 16 + 4


def graph_bytes(size: Size) -> int:
    """Return the most bytes of a `LevelGraph`, while it is made."""
    vertex = 9 * 4 + 8
    return 12 * size.arcs + vertex * size.vertices + sort_bytes(size.vertices, 4)


def group_bytes(size: Size, *, with_paths: bool) -> int:
    """Return the most bytes of a group of a `LevelSearch`."""
    vertex = MASK_BYTES * (MOST_LEVELS + 2) + GROUP * PATH_BYTES * with_paths
    return vertex * size.vertices + PIECE_BYTES * (4 * size.arcs // PIECE_ARCS)


class LevelGraph:
    """The arcs of a graph in both directions, on the GPU of ``local_rank``.

    Vertices have numbers by falling degree; those without arcs have none. ``names`` (uint32) has
    the vertex of each number, and ``first_arcs`` the place of its first arc in the graph.
    """

    def __init__(self, graph: Graph, local_rank: int) -> None:
        gpu = own_gpu(local_rank)
        self.label, self.vertex_count = f"cuda: {label_of(gpu)}", graph.vertex_count
        self.kernels = Kernels(kernels_of(LEVELS, np.dtype(np.int32), 0), BLOCK)
        run, arcs = self.kernels.run, np.uint32(graph.arc_count)
        offsets = to_device(graph.offsets, np.uint32)
        heads = to_device(graph.heads, np.int32).view(np.uint32)
        out_degrees, in_degrees = lengths(offsets), cp.zeros(self.vertex_count, np.uint32)
        run("count_in_arcs", graph.arc_count, heads, arcs, in_degrees)
        degrees = cp.maximum(out_degrees, in_degrees)
        order = ascending(~degrees)
        falling = to_host(degrees[order]).astype(np.int64)
        count = int(np.count_nonzero(falling))
        self.names = order[:count].astype(np.uint32)
        self.first_arcs = offsets[:-1][self.names]
        numbers = places_in(order, np.uint32)
        self._numbers, self._leads_on = to_host(numbers), np.diff(graph.offsets) > 0
        out_offsets, in_offsets = (
            starts_of(d[self.names], np.uint32) for d in (out_degrees, in_degrees)
        )
        new_heads, tails = cp.empty(len(heads), np.uint32), cp.empty(len(heads), np.uint32)
        rows, threads = np.uint32(count), 32 * count
        ends = offsets, heads, self.names, numbers
        run("renumber_rows", threads, *ends, out_offsets, new_heads, rows)
        run("turn_rows", threads, out_offsets, new_heads, in_offsets.copy(), tails, rows)
        self.size = Size(count, graph.arc_count)
        self._arrays = {"in_offsets": in_offsets, "tails": tails}
        self._arrays |= {"out_offsets": out_offsets, "heads": new_heads}
        self._plan(falling)

    def _plan(self, falling: NDArray[np.int64]) -> None:
        """Give rows to warps, by their degrees, which fall."""
        self.rows = np.searchsorted(-falling, -np.array(FEWER_ARCS))
        pieces = -(-falling[: self.rows[0]] // PIECE_ARCS)
        rows_of_warp = 1 << np.arange(len(FEWER_ARCS) - 1)
        warps = -(-np.diff(self.rows) // rows_of_warp)
        starts, self.pieces = offsets_of(pieces), int(pieces.sum())
        self._arrays["first_pieces"] = to_device(starts, np.uint32)
        self._arrays["piece_rows"] = to_device(np.repeat(np.arange(len(pieces)), pieces), np.uint32)
        numbers: dict[str, Any] = {
            "vertices": self.size.vertices,
            "pieces": self.pieces,
            "piece_arcs": PIECE_ARCS,
        }
        numbers |= {"long_rows": len(pieces), "rows": self.rows}
        numbers |= {"warps": self.pieces + offsets_of(warps)}
        self.struct: Any = pointed(struct(LEVELS, "LevelGraph"), self._arrays, numbers)
        self.blocks = -(-32 * (self.pieces + int(warps.sum())) // BLOCK)

    def order(self, sources: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of the sources that arcs leave, by the numbers of these.

        Sources of similar degree share a group, since they reach the same vertices at one level.
        """
        places = np.flatnonzero(self._leads_on[sources])
        return places[np.argsort(self._numbers[sources[places]], kind="stable")]

    def numbers(self, sources: NDArray[np.int64]) -> Any:
        """The numbers of some sources, uint32, on the device."""
        return cp.asarray(self._numbers[sources])


class LevelSearch:
    """Searches from up to ``width`` sources at once, as ``sources`` and the memory allow."""

    def __init__(
        self, graph: LevelGraph, sources: int, limit: int | None, *, with_paths: bool
    ) -> None:
        self._graph = graph
        each = max(group_bytes(graph.size, with_paths=with_paths), 1)
        fitting = max(min(free_bytes(limit), BATCH_BYTES) // each, 1)
        groups = max(min(-(-sources // GROUP), fitting, MOST_GROUPS), 1)
        self.width, vertices = GROUP * groups, graph.size.vertices
        pieces, long_rows = groups * graph.pieces, int(graph.rows[0])
        self._masks = cp.empty((MOST_LEVELS + 1) * groups * vertices, np.uint32)
        self._seen = cp.empty(groups * vertices, np.uint32)
        self._live = cp.empty((MOST_LEVELS + 2) * groups, np.uint32)
        paths = groups * GROUP * vertices if with_paths else 0
        self._arrays = {
            "paths": cp.empty((paths, 2), np.float64),
            "masks": self._masks,
            "seen": self._seen,
            "live": self._live,
            "arrivals": cp.zeros(groups * long_rows, np.uint32),
            "piece_masks": cp.empty(pieces, np.uint32),
            "piece_sums": cp.empty((pieces * GROUP if with_paths else 0, 2), np.uint64),
        }
        if not with_paths:
            del self._arrays["paths"]
        self._kernel = "count_level" if with_paths else "reach_level"
        self._groups, self._batch = 0, None
        self.label = f"{graph.label}, {self.width} sources at once"

    def find_levels(self, sources: Any, *words: Any) -> int:
        """Find the masks of all levels for at most ``width`` sources; return the last level.

        ``sources`` are numbers on the device, and ``words`` more arguments of the kernel. Raises
        `NarrowError` if a distance comes to `MOST_LEVELS`.
        """
        self._groups = -(-len(sources) // GROUP)
        self._batch = pointed(struct(LEVELS, "LevelBatch"), self._arrays, {"groups": self._groups})
        self._live.fill(0)
        self._seen[: self._groups * self._graph.size.vertices].fill(0)
        for level in range(2):
            self._level(level).fill(0)
        begin = self._graph.kernels["begin_levels"]
        begin((len(sources),), (BLOCK,), (self._graph.struct, self._batch, sources))
        last, launches = 1, LAUNCHES
        while True:
            levels = range(last + 1, min(last + launches, MOST_LEVELS) + 1)
            for level in levels:
                self._level(level).fill(0)
                self.launch(self._kernel, level, *words)
            live = self._live[: (MOST_LEVELS + 2) * self._groups].get()
            (there,) = np.nonzero(live.reshape(-1, self._groups).any(axis=1))
            last, launches = int(there[-1]), MORE_LAUNCHES
            if last < levels[-1]:
                return last
            if last == MOST_LEVELS:
                raise NarrowError

    def launch(self, kernel: str, level: int, *words: Any) -> None:
        """Launch a kernel that pulls, for all groups of the batch."""
        arguments = self._graph.struct, self._batch, np.uint32(level), *words
        grid = self._graph.blocks, self._groups
        self._graph.kernels[kernel](grid, (BLOCK,), arguments)

    def _level(self, level: int) -> Any:
        size = self._groups * self._graph.size.vertices
        return self._masks[level * size : (level + 1) * size]


SUMMARIZED_AT_ONCE = 1 << 12
"""Sources among which those of similar degree are searched from together."""


class CudaLevelSummaries:
    """A graph on the GPU of ``local_rank``; each arc of it counts 1."""

    def __init__(self, graph: Graph, local_rank: int, limit: int | None) -> None:
        self._levels, self._limit = LevelGraph(graph, local_rank), limit
        self.label = self._levels.label

    def summaries(self, sources: NDArray[np.int64], request: Wanted) -> Iterator[Summary]:
        """Yield summaries in order; `NarrowError` if there are too many levels."""
        search = LevelSearch(self._levels, len(sources), self._limit, with_paths=False)
        self.label = search.label
        for first in range(0, len(sources), SUMMARIZED_AT_ONCE):
            some = sources[first : first + SUMMARIZED_AT_ONCE]
            yield summary_of_levels(first, *self._counts(search, some), request)

    def _counts(
        self, search: LevelSearch, sources: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the vertices at each distance, and find the first of the farthest."""
        counts, farthest = np.zeros((len(sources), MOST_LEVELS), np.int64), sources.copy()
        counts[:, 0] = 1
        own = self._levels.order(sources)
        for first in range(0, len(own), search.width):
            some = own[first : first + search.width]
            last = search.find_levels(self._levels.numbers(sources[some]))
            members = cp.zeros((last + 1, search.width), np.uint32)
            names = cp.full(search.width, 0xFFFFFFFF, np.uint32)
            for level in range(last + 1):
                search.launch("tally_level", level, self._levels.names, members[level], names)
            counts[some, : last + 1] = members.get()[:, : len(some)].T
            farthest[some] = names.get()[: len(some)]
        return counts, farthest
