"""Rows and matrices out of a hierarchy on a GPU, as `groute_py.many` takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.graph.csr import unpacked_arcs
from groute_py.device.cuda.hierarchy.levels import CudaHierarchy, core_distances, on_gpu
from groute_py.device.cuda.hierarchy.many_trees import SOURCES, SWEEP_BLOCK, ManyTrees
from groute_py.device.cuda.hierarchy.memory_plan import levels_bytes_in, rows_bytes_in
from groute_py.device.cuda.hierarchy.restrict import part_above
from groute_py.device.cuda.hierarchy.rounds import contract
from groute_py.device.cuda.multi_source.download import Download, downloaded, in_turn
from groute_py.device.cuda.multi_source.graph import CudaGraph
from groute_py.device.cuda.multi_source.summary import CudaSummaries, Pending
from groute_py.device.rows import NarrowError, RowBlock
from groute_py.device.summary import Summary, Wanted, joined
from groute_py.errors import InputError
from groute_py.graph.hierarchy import problems
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.system.clock import span

FILLED, SUMMARIZED = 1 << 28, 1 << 31
"""Distances that are worked on at once, if there are so many: levels are wide then. More where
trees are summarized, for which no rows are made."""

MOST_PACKS = 1024
"""Packs of a batch: a grid has a row of blocks for each source, and at most 65,535 rows."""

MEMORY_SHARE = 0.4
"""Share of the free memory for the distances of a batch; its rows take as much."""


class CudaSweeps:
    """A `RowSolver` of batches of sources that share each look at an arc of the hierarchy.

    Without ``hierarchy`` it makes one. `DenseError` if the graph does not contract, `NarrowError`
    if a shortcut or a distance of the core does not fit.
    """

    def __init__(
        self, graph: CudaGraph, hierarchy: Hierarchy | None, *, predecessors: bool
    ) -> None:
        self._graph, self._predecessors = graph, predecessors
        self._stream = cp.cuda.Stream(non_blocking=True)
        graph.gpu.synchronize()
        if hierarchy is not None:
            if hierarchy.type.itemsize > graph.type.itemsize:
                raise NarrowError
            _refuse_large(rows_bytes_in(hierarchy, graph.type), graph)
        with self._stream:
            self._hierarchy = on_gpu(hierarchy) if hierarchy is not None else contracted(graph)
            if hierarchy is None:
                _refuse_large(levels_bytes_in(self._hierarchy, graph.type), graph)
            # of every part too, and takes longer than sweeps from a thousand sources
            self._core = core_distances(self._hierarchy, graph.type)
            if predecessors:
                _ = graph.incoming
        self._levels: CudaHierarchy | None = None
        self.label = f"{graph.label}, many sources a sweep"

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        if targets is not None and not self._predecessors:
            yield from self._between(sources, targets)
            return
        find_parents = self._graph.find_parents if self._predecessors else None
        for first, some, rows in self._batches(sources):
            place = {source: number for number, source in enumerate(some.tolist())}

            def take(which: NDArray[np.int64], _: Any, out: Any, rows: Any = rows) -> None:
                out[...] = rows[[place[source] for source in which.tolist()]]  # noqa: B023

            for block in downloaded(self._graph, self._stream, some, targets, take, find_parents):
                yield RowBlock(first + block.first, block.distances, block.predecessors)

    def summaries(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        by_vertex = wanted.reciprocals or wanted.histogram or wanted.heights is not None
        summaries = self._of_rows if by_vertex else self._of_trees
        yield from summaries(sources, wanted)

    def _of_rows(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        with self._stream:
            asked = CudaSummaries(self._graph.type, self._graph.vertex_count, wanted)
        for first, some, rows in self._batches(sources):
            with self._stream:
                summary = Pending(asked, rows, some).result(first)
            yield summary

    def _of_trees(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        """Yield summaries in the order of the places, a batch behind the solves."""
        before: Callable[[], Summary] | None = None
        with self._stream:
            vertices, levels = cp.asarray(sources.astype(np.uint32)), self._whole
            vertex_at = cp.asarray(self._hierarchy.vertices).astype(np.uint32)
        for first, some, trees in self._in_batches(vertices, levels, SUMMARIZED):
            with self._stream:
                numbers = trees.partials(some, vertex_at), trees.overflow.copy()
            if before is not None:
                yield before()
            before = partial(self._joined, first, trees, *numbers, wanted)
        if before is not None:
            yield before()

    def _joined(
        self, first: int, trees: ManyTrees, partials: Any, overflow: Any, wanted: Wanted
    ) -> Summary:
        """Wait for a batch; `NarrowError` if a distance did not fit."""
        with self._stream:
            if int(overflow[0]):
                raise NarrowError
            table = trees.as_partials(partials.get())
        return joined(first, table, None, with_sums=wanted.sums)

    @property
    def _whole(self) -> CudaHierarchy:
        """The levels of the whole hierarchy; in the stream when first used."""
        if self._levels is None:
            self._levels = CudaHierarchy(self._hierarchy, self._graph.type, self._core)
        return self._levels

    def _batches(self, sources: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64], Any]]:
        """The place of the first, the sources, and their rows on the device, lent."""
        with self._stream:
            vertices, levels = cp.asarray(sources.astype(np.uint32)), self._whole
        for first, rows, overflow in self._rows(vertices, levels, levels.places):
            with self._stream:
                if int(overflow[0]):
                    raise NarrowError
            yield first, sources[first : first + len(rows)], rows

    def _between(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> Iterator[RowBlock]:
        """Rows with the targets' columns, by the part of the hierarchy that they need."""
        with self._stream, span("select"):
            ends = cp.asarray(np.concatenate([sources, targets]))
            part = part_above(self._hierarchy, ends)
            levels = CudaHierarchy(part.hierarchy, self._graph.type, self._core)
        own, columns = part.places[: len(sources)], part.places[len(sources) :]
        rows = self._rows(own, levels, columns)
        pieces = ((first, [some], overflow) for first, some, overflow in rows)
        downloads = Download(self._stream), Download(self._stream)
        yield from in_turn(self._stream, pieces, downloads)

    def _rows(
        self, sources: Any, levels: CudaHierarchy, columns: Any
    ) -> Iterator[tuple[int, Any, Any]]:
        """Yield the number of the first source, rows, and an overflow flag, lent, on the device.

        They may still be under way, and are right only if the flag is 0. The sources are vertices
        of the hierarchy; the columns are the places whose distances make a row.
        """
        rows: Any = None
        for first, some, trees in self._in_batches(sources, levels, FILLED):
            count = len(some)
            with self._stream:
                if rows is None:
                    rows = cp.empty((count, len(columns)), self._graph.type)
                trees.solve(some)
                trees.leave(count, columns, rows[:count])
            yield first, rows[:count], trees.overflow

    def _in_batches(
        self, sources: Any, levels: CudaHierarchy, filled: int
    ) -> Iterator[tuple[int, Any, ManyTrees]]:
        """Yield the number of a batch's first source, all of them, and what solves for them.

        The first batch is the largest.
        """
        if not len(sources):
            return
        packs = min(_packs(levels, self._graph, filled), -(-len(sources) // SOURCES))
        step = packs * SOURCES
        with self._stream:
            trees = ManyTrees(levels, self._graph.processors, step)
        for first in range(0, len(sources), step):
            yield first, sources[first : first + step], trees


def contracted(graph: CudaGraph) -> Hierarchy:
    """Return the hierarchy of a graph on the GPU, or raise `DenseError` or `NarrowError`."""
    heads, weights = unpacked_arcs(graph.arcs, graph.type)
    try:
        return contract(graph.offsets, heads, weights, graph.type)
    except problems.NarrowError:
        raise NarrowError from None


def _refuse_large(takes: int, graph: CudaGraph) -> None:
    """Raise `MemoryError` for a hierarchy that takes more bytes than are free beside the graph."""
    if takes > (free := graph.free_bytes):
        raise MemoryError(
            f"the hierarchy takes {takes:,} bytes of {graph.label}, and {max(free, 0):,} are free"
        )


def _packs(levels: CudaHierarchy, graph: CudaGraph, filled: int) -> int:
    """Packs of a batch: enough for so many distances, as memory allows."""
    enough = max(-(-filled // (SOURCES * max(levels.vertex_count, 1))), 1)
    each, free = ManyTrees.bytes_of(levels, 1), graph.free_bytes
    most = int(MEMORY_SHARE * free) // max(each, 1)
    if most < 1:
        raise InputError(
            f"{SOURCES} sources at once, the fewest that sweeps take, do not fit on {graph.label}: "
            f"they need {2 * each:,} bytes, and {free:,} are free"
        )
    return min(enough, most, MOST_PACKS, graph.processors * SWEEP_BLOCK // 32)  # a warp each
