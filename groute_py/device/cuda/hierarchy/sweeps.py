"""Rows and matrices out of a hierarchy on a GPU, as `groute_py.many` takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.graph.csr import unpacked_arcs
from groute_py.device.cuda.hierarchy.levels import CudaHierarchy, on_gpu
from groute_py.device.cuda.hierarchy.many_trees import SOURCES, ManyTrees
from groute_py.device.cuda.hierarchy.restrict import part_above
from groute_py.device.cuda.hierarchy.rounds import contract
from groute_py.device.cuda.multi_source.download import downloaded
from groute_py.device.cuda.multi_source.graph import CudaGraph
from groute_py.device.cuda.multi_source.summary import CudaSummaries, Pending
from groute_py.device.rows import NarrowError, RowBlock
from groute_py.device.summary import Summary, Wanted
from groute_py.errors import InputError
from groute_py.hierarchy import problems
from groute_py.hierarchy.hierarchy import Hierarchy

FILLED = 1 << 28
"""Distances that are worked on at once, if there are so many: levels are wide then."""

MEMORY_SHARE = 0.4
"""Of the free memory, for the distances of a batch; its rows take as much."""


class CudaSweeps:
    """See `groute_py.device.rows.RowSolver`: batches of sources, which share each look at an arc.

    Args:
        graph: on the GPU.
        hierarchy: of the graph; None to make it.
        predecessors: whether to find them.

    Raises:
        DenseError: the graph does not contract.
        InputError: 32 sources do not fit in memory.
        NarrowError: a shortcut or a distance of the core does not fit in the type.
    """

    def __init__(
        self, graph: CudaGraph, hierarchy: Hierarchy | None, *, predecessors: bool
    ) -> None:
        self._graph, self._predecessors = graph, predecessors
        self._stream = cp.cuda.Stream(non_blocking=True)
        graph.gpu.synchronize()
        with self._stream:
            self._levels = levels_of(graph, hierarchy)
            if predecessors:
                _ = graph.incoming
            self._packs = _packs(self._levels, graph.free_bytes)
        self.label = f"{graph.label}, {self._packs * SOURCES} sources a sweep"

    def blocks(self, sources: NDArray[np.int64]) -> Iterator[RowBlock]:
        find_parents = self._graph.find_parents if self._predecessors else None
        for first, some, rows in self._batches(sources):
            place = {source: number for number, source in enumerate(some.tolist())}

            def take(which: NDArray[np.int64], _: Any, out: Any, rows: Any = rows) -> None:
                out[...] = rows[[place[source] for source in which.tolist()]]  # noqa: B023

            for block in downloaded(self._graph, self._stream, some, take, find_parents):
                yield RowBlock(first + block.first, block.distances, block.predecessors)

    def summaries(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        with self._stream:
            asked = CudaSummaries(self._graph.type, self._graph.vertex_count, wanted)
        for first, some, rows in self._batches(sources):
            with self._stream:
                summary = Pending(asked, rows, some).result(first)
            yield summary

    def _batches(self, sources: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64], Any]]:
        """The place of the first, the sources, and their rows on the device, lent."""
        if not len(sources):
            return
        packs = min(self._packs, -(-len(sources) // SOURCES))
        step = packs * SOURCES
        with self._stream:
            trees = ManyTrees(self._levels, self._graph.processors, step)
            rows = cp.empty((min(step, len(sources)), self._graph.vertex_count), self._graph.type)
        for first in range(0, len(sources), step):
            some = sources[first : first + step]
            with self._stream:
                trees.solve(cp.asarray(some.astype(np.uint32)))
                trees.leave(len(some), self._levels.places, rows[: len(some)])
            yield first, some, rows[: len(some)]


def many_to_many(
    graph: CudaGraph, hierarchy: Hierarchy, sources: NDArray[np.int64], targets: NDArray[np.int64]
) -> NDArray[Any]:
    """Shape (sources, targets), of the graph's type, on the host: the distances between them.

    Args:
        graph: names the GPU and the type; its arcs are not looked at.
        hierarchy: of the graph.
        sources, targets: vertices; any may come more than once.

    Raises:
        NarrowError: a distance does not fit in the type.
        InputError: 32 sources do not fit in memory.
    """
    hierarchy = on_gpu(hierarchy)
    asked = cp.asarray(np.concatenate([sources, targets]))
    part = part_above(hierarchy, asked)
    levels = CudaHierarchy(part.hierarchy, graph.type)
    packs = min(_packs(levels, graph.free_bytes), max(-(-len(sources) // SOURCES), 1))
    step, columns = packs * SOURCES, part.places[len(sources) :]
    trees = ManyTrees(levels, graph.processors, step)
    matrix = np.empty((len(sources), len(targets)), graph.type)
    for first in range(0, len(sources), step):
        some = part.places[first : min(first + step, len(sources))]
        rows = cp.empty((len(some), len(targets)), graph.type)
        trees.solve(some)
        trees.leave(len(some), columns, rows)
        rows.get(out=matrix[first : first + len(some)])
    return matrix


def levels_of(graph: CudaGraph, hierarchy: Hierarchy | None) -> CudaHierarchy:
    """A hierarchy on the GPU, made anew if there is none.

    Raises:
        DenseError, NarrowError: as `CudaSweeps`.
    """
    try:
        if hierarchy is None:
            heads, weights = unpacked_arcs(graph.arcs, graph.type)
            hierarchy = contract(graph.offsets, heads, weights, graph.type)
        return CudaHierarchy(hierarchy, graph.type)
    except problems.NarrowError:
        raise NarrowError from None


def _packs(levels: CudaHierarchy, free: int) -> int:
    """Packs of a batch: enough to fill the GPU, as memory allows."""
    wanted = max(-(-FILLED // (SOURCES * max(levels.vertex_count, 1))), 1)
    most = int(MEMORY_SHARE * free) // max(ManyTrees.bytes_of(levels, 1), 1)
    if most < 1:
        raise InputError(
            f"{SOURCES} sources at once, the fewest that sweeps take, do not fit: they need "
            f"{2 * ManyTrees.bytes_of(levels, 1):,} bytes, and {free:,} are free"
        )
    return min(wanted, most)
