"""Breadth-first search on one GPU: the kernels of ``kernels/breadth_first.cu``.

The first levels probe the depth of the graph. If they have not reached everything, the graph is
deep and its frontiers are thin, and the grid barrier of a level takes longer than its work. Then
near–far relaxation, whose blocks process many levels between two barriers, continues from the
frontier.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import driver

from groute_py.device.base import NO_PARENT, Counters, Windows
from groute_py.device.cuda.graph.transpose import incoming
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Call
from groute_py.device.cuda.runtime.structs import NUMBER, POINTER, SHARE, pointed
from groute_py.device.cuda.sssp.buffers import BLOCKS_PER_PROCESSOR, pieces
from groute_py.device.cuda.sssp.device import CudaDevice
from groute_py.device.cuda.sssp.predecessors import NOBODY
from groute_py.device.delta_control import threshold_after
from groute_py.kernels.source import BLOCK, BREADTH_FIRST, PART
from groute_py.partition.share import Share

SHALLOW = 32
"""Levels of the probe. Graphs in which they do not reach everything are deep."""

SMALL_GRAPH = 1 << 20
"""Vertices below which one block a multiprocessor is faster: the grid meets once a level."""

SLICE_LEVELS = 1 << 12
"""Some 20 ms, so that a signal is heard."""

SEARCH = np.dtype(
    [
        ("incoming", POINTER),
        ("tails", POINTER),
        ("unreachable", POINTER),
        ("seen", POINTER),
        ("frontier", POINTER, 2),
        ("parts", POINTER, 2),
        ("parent", POINTER),
    ],
    align=True,
)

PROGRESS = np.dtype(
    [
        ("arcs", np.uint64, 3),
        ("unexplored", np.uint64),
        ("looked", np.uint64),
        ("listed", NUMBER, 3),
        ("vertices", NUMBER, 3),
        ("level", NUMBER),
        ("bottom_up", NUMBER),
    ],
    align=True,
)

SEARCHING: dict[str, Any] = {
    "share": SHARE,
    "search": SEARCH,
    **dict.fromkeys(("hops", "control", "progress"), POINTER),
    "last_level": NUMBER,
}
"""What ``search_levels`` takes."""


class BreadthFirstCuda(CudaDevice):
    """A GPU that counts arcs; the weights, which are all 1, are not looked at."""

    def let_go(self) -> None:
        super().let_go()
        self._search: dict[str, Any] = {}

    def _compile(self) -> None:
        super()._compile()
        self._search_kernels = kernels_of(BREADTH_FIRST, self._type, self._terms.arcs)
        kernel = self._search_kernels["search_levels"].kernel
        blocks = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.ptr, BLOCK, 0)
        few = self._share.own_count < SMALL_GRAPH
        self._search_grid = self._processors * (1 if few else min(blocks, BLOCKS_PER_PROCESSOR))
        self._searching = Call(kernel, self._search_grid, BLOCK, SEARCHING)

    def _arrange(self, share: Share) -> None:
        words, parts = share.own_count // 32 + 1, share.own_count + len(share.heads) // PART
        self._search = self._incoming(share) | {
            "seen": cp.empty(words, np.uint32),
            "frontier": cp.empty((2, words), np.uint32),
            "parts": cp.empty((2, parts + 1), np.uint64),
            "parent": cp.empty(share.own_count, np.uint32),
        }
        self._search_at = pointed(SEARCH, self._search, {})
        self._progress = cp.zeros(PROGRESS.itemsize, np.uint8)

    def start(self, source: int | None, windows: Windows, cutoff: float, *, record: bool) -> None:
        super().start(source, windows, cutoff, record=False)
        self._begin()
        number = np.uint32(NOBODY if source is None else source)
        with self._stream:
            state = (self._share_at, self._search_at, self._progress)
            self._run_search("begin_search", self._share.own_count, *state, number)
        self._handed_over = False
        self._last_level = SHALLOW

    def relax(self, limit: float) -> float:
        if self._handed_over:
            return super().relax(limit)
        last = min(self._last_level, limit + 1, self._cutoff)
        with self._stream:
            self._searching.launch(
                self._stream,
                share=self._share_at,
                search=self._search_at,
                hops=self._arrays["distance"].data.ptr,
                control=self._control.data.ptr,
                progress=self._progress.data.ptr,
                last_level=last,
            )
            seen = self._progress.get().view(PROGRESS)[0]
        level = int(seen["level"])
        slices = self.counters.slices + int(level > self.counters.steps)
        self.counters = Counters(relaxations=int(seen["looked"]), steps=level, slices=slices)
        if seen["vertices"][level % 3] == 0 or level >= self._cutoff:
            return np.inf
        if level == self._last_level:
            if not seen["bottom_up"]:
                self._hand_over(level)
            self._last_level += SLICE_LEVELS
        return float(level)

    def start_claims(self, monotone: bool) -> bool:
        there = super().start_claims(monotone)
        if self._handed_over:
            return there
        with self._stream:  # the search has found them
            for part in pieces(self._share.own_count):
                found, distances = self._search["parent"][part], self._arrays["distance"][part]
                none = (found == NOBODY) | (distances == self._nothing)
                self._arrays["parent"][part] = cp.where(none, NO_PARENT, found.astype(np.int64))
        return True

    def _hand_over(self, level: int) -> None:
        self._handed_over = True
        threshold = threshold_after(self._type.type(level), self._delta, self._nothing)
        state = (self._search_at, self._work, self._control, self._progress)
        with self._stream:
            self._run_search("hand_over", self._search_grid * BLOCK, *state, threshold)

    def _run_search(self, name: str, threads: int, *arguments: Any) -> None:
        blocks = max((threads + BLOCK - 1) // BLOCK, 1)
        self._search_kernels[name]((blocks,), (BLOCK,), arguments)

    def _incoming(self, share: Share) -> dict[str, Any]:
        """The incoming arcs of every vertex, and a bit for each vertex that has none."""
        found = incoming(share, self._offset_type)
        bits = cp.zeros((share.own_count // 32 + 1) * 32, bool)
        bits[: share.own_count] = found.offsets[1:] == found.offsets[:-1]
        unreachable = cp.packbits(bits, bitorder="little").view(np.uint32)
        return {"incoming": found.offsets, "tails": found.tails, "unreachable": unreachable}
