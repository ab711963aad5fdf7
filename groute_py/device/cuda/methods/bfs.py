"""Breadth-first search on one GPU: the kernels of ``kernels/bfs/bfs.cu``.

The first levels probe the depth of the graph. If they have not reached everything, the graph is
deep and its frontiers are thin, and the grid barrier of a level takes longer than its work. Then
near–far relaxation, whose blocks process many levels between two barriers, continues from the
frontier.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.base import NO_PARENT
from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.in_edges import incoming
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Call, Kernels, resident_blocks
from groute_py.device.cuda.runtime.short_memory import pieces
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.device.cuda.sssp.method import OneGpuMethod, SolveParts
from groute_py.device.cuda.sssp.predecessors import NOBODY
from groute_py.device.delta_control import threshold_after
from groute_py.kernels.source import BLOCK, BREADTH_FIRST, ROW_CHUNK
from groute_py.kernels.structs import arguments, struct

SHALLOW = 32
"""Levels of the probe. Graphs in which they do not reach everything are deep."""

SMALL_GRAPH = 1 << 20
"""Vertices below which one block a multiprocessor is faster: the grid meets once a level."""

SLICE_LEVELS = 1 << 12
"""Some 20 ms, so that a signal is heard."""

SEARCH, PROGRESS = (struct(BREADTH_FIRST, name) for name in ("Search", "Progress"))


class BreadthFirst(OneGpuMethod):
    """Counts arcs; the weights, which are all 1, are not looked at."""

    def arrange(self, graph: DeviceGraph) -> None:
        share = graph.share
        self._kernels = Kernels(kernels_of(BREADTH_FIRST, graph.type, graph.terms.arcs), BLOCK)
        kernel = self._kernels["search_levels"].kernel
        blocks = resident_blocks(kernel, BLOCK)
        self._grid = graph.gpu.processors * (1 if share.own_count < SMALL_GRAPH else blocks)
        self._searching = Call(
            kernel, self._grid, BLOCK, arguments(BREADTH_FIRST, "search_levels", graph.type)
        )
        words, chunks = share.own_count // 32 + 1, share.own_count + len(share.heads) // ROW_CHUNK
        self._arrays = _incoming(graph) | {
            "seen": cp.empty(words, np.uint32),
            "frontier": cp.empty((2, words), np.uint32),
            "chunks": cp.empty((2, chunks + 1), np.uint64),
            "parent": cp.empty(share.own_count, np.uint32),
        }
        self._struct = pointed(SEARCH, self._arrays, {})
        self._progress = cp.zeros(PROGRESS.itemsize, np.uint8)

    def begin(self, parts: SolveParts, source: int | None) -> None:
        graph, number = parts.graph, np.uint32(NOBODY if source is None else source)
        with graph.gpu.stream:
            state = (graph.struct, self._struct, self._progress)
            self._kernels.run("begin_search", graph.share.own_count, *state, number)
        self._handed_over = False
        self._last_level = SHALLOW

    def relax(self, parts: SolveParts, limit: float) -> float:
        if self._handed_over:
            return super().relax(parts, limit)
        cutoff = parts.kernel.cutoff
        last = min(self._last_level, limit + 1, cutoff)
        with parts.graph.gpu.stream as stream:
            self._searching.launch(
                stream,
                share=parts.graph.struct,
                search=self._struct,
                hops=parts.buffers.arrays["distance"].data.ptr,
                control=parts.buffers.control.data.ptr,
                progress=self._progress.data.ptr,
                last_level=last,
            )
            progress = self._progress.get().view(PROGRESS)[0]
        level = int(progress["level"])
        parts.counters.update(relaxations=int(progress["looked"]), steps=level)
        if progress["vertices"][level % 3] == 0 or level >= cutoff:
            return np.inf
        if level == self._last_level:
            if not progress["bottom_up"]:
                self._hand_over(parts, level)
            self._last_level += SLICE_LEVELS
        return float(level)

    def start_claims(self, parts: SolveParts, *, monotone: bool) -> bool:
        there = super().start_claims(parts, monotone=monotone)
        if self._handed_over:
            return there
        arrays, nothing = parts.buffers.arrays, parts.graph.unreached
        with parts.graph.gpu.stream:  # the search has found them
            for part in pieces(parts.graph.share.own_count):
                parents, distances = self._arrays["parent"][part], arrays["distance"][part]
                none = (parents == NOBODY) | (distances == nothing)
                arrays["parent"][part] = cp.where(none, NO_PARENT, parents.astype(np.int64))
        return True

    def _hand_over(self, parts: SolveParts, level: int) -> None:
        self._handed_over = True
        graph, buffers = parts.graph, parts.buffers
        threshold = threshold_after(graph.type.type(level), parts.kernel.delta, graph.unreached)
        state = (self._struct, buffers.work, buffers.control, self._progress)
        with graph.gpu.stream:
            self._kernels.run("hand_over", self._grid * BLOCK, *state, threshold)


def _incoming(graph: DeviceGraph) -> dict[str, Any]:
    """The incoming arcs of every vertex, and a bit for each vertex that has none."""
    rows, own = incoming(graph.share, graph.offset_type), graph.share.own_count
    bits = cp.zeros((own // 32 + 1) * 32, bool)
    bits[:own] = rows.offsets[1:] == rows.offsets[:-1]
    unreachable = cp.packbits(bits, bitorder="little").view(np.uint32)
    return {"incoming": rows.offsets, "tails": rows.tails, "unreachable": unreachable}
