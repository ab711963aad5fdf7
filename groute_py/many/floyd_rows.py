"""Rows of the whole matrix, closed by blocked Floyd–Warshall on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.rows import CpuGraph, blocks_of, summaries_of
from groute_py.device.rows import RowBlock, beyond, refuse_narrow, surely_fits
from groute_py.device.summary import Summary, Wanted
from groute_py.graph.csr import Graph
from groute_py.many.floyd import close


class CpuFloyd:
    """See `groute_py.device.rows.RowSolver`; all rows are solved for, whichever are asked for.

    Args:
        graph: without negative weights.
        arcs: the same, as kernels take it, of type int64 or a float.
        predecessors: whether to find them; not for floats, whose sums are not rounded from the
            source outwards.
    """

    def __init__(self, graph: Graph, arcs: CpuGraph, *, predecessors: bool) -> None:
        self._graph, self._arcs, self._predecessors = graph, arcs, predecessors
        self.label = arcs.label

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        yield from blocks_of(self._arcs, sources, targets, self._closed(), self._predecessors)

    def summaries(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        yield from summaries_of(self._arcs, sources, self._closed(), wanted)

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
