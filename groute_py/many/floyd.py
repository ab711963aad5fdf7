"""All pairs on a dense matrix by blocked Floyd–Warshall, on the CPU.

For each block of middle vertices: close the block itself, then its rows, then let all other rows go
through it, first to the columns of the block. No two of these share a row, so threads work on them
at once. Venkataraman, Sahni and Mukhopadhyaya, "A blocked all-pairs shortest-paths algorithm"
(2003).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.rows import CpuGraph, blocks_of, summaries_of
from groute_py.device.rows import RowBlock, beyond, refuse_narrow, surely_fits
from groute_py.device.summary import Summary, Wanted
from groute_py.graph.csr import Graph
from groute_py.kernels.cpu import floyd
from groute_py.system.threads import core_count

BLOCK = 64  # middle vertices taken at once
ALONE = 256  # up to this many vertices threads cost more time than they save
Range = tuple[int, int]  # start and stop of consecutive vertices

Step = Callable[[Range, Range, Range], None]
"""Shorten the paths from some rows, by way of some middle vertices, to some columns."""


def close(distances: NDArray[np.float64]) -> None:
    """Turn a matrix of arcs into one of distances, in place."""

    def step(rows: Range, middle: Range, columns: Range) -> None:
        floyd.through(distances, rows, middle, columns)

    _sweep(len(distances), step)


def close_with_paths(distances: NDArray[np.float64], nobody: int) -> NDArray[np.int32]:
    """Close a matrix, and return the predecessors of j on a shortest path from i, int32, (n, n).

    ``nobody`` stands where there is none: on the diagonal, and where no path leads.
    """
    arcs = distances.copy()
    tails = np.arange(len(distances), dtype=np.int32)[:, np.newaxis]
    parents = np.where(np.isinf(distances), np.int32(nobody), tails)
    np.fill_diagonal(parents, nobody)

    def step(rows: Range, middle: Range, columns: Range) -> None:
        floyd.through_with_paths(distances, parents, rows, middle, columns)

    _sweep(len(distances), step)
    floyd.mend_trees(arcs, nobody, distances, parents)
    return parents


def _sweep(count: int, step: Step) -> None:
    threads = 1 if count <= ALONE else core_count()
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, count, BLOCK):
            block = start, min(start + BLOCK, count)
            step(block, block, block)
            step(block, block, (0, count))
            others = _parts((0, start), threads) + _parts((block[1], count), threads)
            list(pool.map(partial(_by_way_of, step, block, count), others))


def _by_way_of(step: Step, block: Range, count: int, rows: Range) -> None:
    step(rows, block, block)
    step(rows, block, (0, count))


def _parts(rows: Range, count: int) -> list[Range]:
    """Cut rows into at most ``count`` ranges, none of them empty."""
    cuts = np.linspace(*rows, count + 1).astype(int).tolist()
    return [part for part in pairwise(cuts) if part[0] < part[1]]


class CpuFloyd:
    """See `groute_py.device.rows.RowSolver`; all rows are solved for, whichever are asked for."""

    def __init__(self, graph: Graph, arcs: CpuGraph, *, predecessors: bool) -> None:
        self._graph, self._arcs, self._predecessors = graph, arcs, predecessors
        self.label = arcs.label

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        yield from blocks_of(self._arcs, sources, targets, self._closed(), self._predecessors)

    def summaries(self, sources: NDArray[np.int64], request: Wanted) -> Iterator[Summary]:
        yield from summaries_of(self._arcs, sources, self._closed(), request)

    def _closed(self) -> Callable[[int], NDArray[Any]]:
        """Close the matrix; what gives the row of a source."""
        far = beyond(self._arcs.type)
        matrix = self._matrix(far)
        close(matrix)
        self._check_range(matrix, far)
        nothing = unreached(self._arcs.type)

        def row_of(source: int) -> NDArray[Any]:
            row: NDArray[Any] = np.where(matrix[source] < far, matrix[source], nothing)
            return row

        return row_of

    def _matrix(self, far: Any) -> NDArray[Any]:
        graph, kind = self._graph, self._arcs.type
        matrix = np.full((graph.vertex_count, graph.vertex_count), far)
        tails = graph.tails()
        np.minimum.at(matrix, (tails, graph.heads), graph.weights.astype(kind, copy=False))
        np.fill_diagonal(matrix, 0)
        return matrix

    def _check_range(self, matrix: NDArray[Any], far: Any) -> None:
        weight = float(self._graph.weights.max(initial=0))
        if not surely_fits(len(matrix), weight, self._arcs.type):
            greatest = max(float(row[row < far].max()) for row in matrix)
            refuse_narrow(greatest, weight, self._arcs.type)


def close_between(
    matrix: NDArray[np.float64], height: NDArray[Any] | None, nobody: int | None = None
) -> NDArray[np.int32] | None:
    """Turn a matrix of arcs into one of distances, in place."""
    if height is not None:
        matrix += height[:, np.newaxis]
        matrix -= height
        np.maximum(matrix, 0, out=matrix)  # what is below is so by rounding
    np.fill_diagonal(matrix, 0)
    parents = None
    if nobody is None:
        close(matrix)
    else:
        parents = close_with_paths(matrix, nobody)
    if height is not None:
        matrix += height
        matrix -= height[:, np.newaxis]
    return parents
