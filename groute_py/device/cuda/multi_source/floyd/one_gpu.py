"""All pairs on one GPU by blocked Floyd–Warshall; ``kernels/multi_source/floyd.cu`` says how."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.multi_source.download import FindParents, Take
from groute_py.device.cuda.multi_source.floyd.steps import SQUARE, TILE, MatrixRows, Steps
from groute_py.device.cuda.multi_source.graph import BLOCK, CudaGraph


class CudaFloyd(MatrixRows):
    """All rows, with the whole matrix on the GPU."""

    def __init__(self, graph: CudaGraph, greatest_weight: float, *, predecessors: bool) -> None:
        super().__init__(graph, greatest_weight, predecessors=predecessors)
        self._by_stages = predecessors and Stages.pay(graph, self._steps)
        if predecessors and not self._by_stages:
            _ = graph.incoming
        self.label = f"{graph.label}, whole matrix"

    @staticmethod
    def fits(graph: CudaGraph, *, predecessors: bool) -> bool:
        """Return True if there is room for it, with what finds predecessors if they are wanted."""
        steps = Steps(graph, None)
        by_arcs = predecessors and not Stages.pay(graph, steps)
        beside = graph.incoming_bytes if by_arcs else 0
        return steps.matrix_bytes + beside <= graph.free_bytes

    def _closed(self, *, with_trees: bool) -> tuple[Take, FindParents | None]:
        steps = self._steps
        find_parents = self._graph.find_parents if with_trees else None
        self._graph.gpu.synchronize()
        with steps.stream:
            matrix = cp.empty((steps.pitch, steps.pitch), self._graph.type)
            stages = Stages(steps) if with_trees and self._by_stages else None
            steps.begin(matrix, 0)
            steps.close(matrix, 0, None if stages is None else stages.noted)
            self._refuse_narrow(lambda: steps.greatest(matrix))
            if stages is not None:
                stages.find_middles(matrix)
                find_parents = stages.find_parents

        def take(_: NDArray[np.int64], which: Any, rows: Any) -> None:
            steps.leave(matrix, which, rows)

        return take, find_parents


STAGES_DEGREE = 48
"""Arcs a vertex from which this is faster than a look at all arcs for each row: measured is 35 with
40,000 vertices, 70 with 5,760."""

COLUMNS = 512
"""Turned at once, so that they stay in L2."""


class Stages:
    """Stages in which distances fell (``noted``, for `Steps.close`), and the trees that follow."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self.noted = cp.zeros((steps.pitch, steps.pitch), np.uint16)
        self._middles = cp.empty(self.noted.shape, np.uint8)

    @staticmethod
    def pay(graph: CudaGraph, steps: Steps) -> bool:
        """Return True if the graph has enough arcs, and memory is free beside the matrix."""
        beside = 3 * steps.pitch**2 + COLUMNS * steps.row_bytes + TILE * steps.pitch
        dense = graph.arc_count > STAGES_DEGREE * graph.vertex_count
        return dense and steps.matrix_bytes + beside <= graph.free_bytes

    def find_middles(self, matrix: Any) -> None:
        """Find, in a closed matrix, a vertex between the ends of each pair that is not an arc."""
        steps, pitch = self._steps, np.uint64(self._steps.pitch)
        inner = cp.empty((steps.pitch, TILE), np.uint8)
        arrays = matrix, pitch, self.noted, inner
        steps.run("floyd_inner", (steps.tiles,), SQUARE, arrays)
        for first in range(0, steps.pitch, COLUMNS):
            transposed = cp.ascontiguousarray(matrix[:, first : first + COLUMNS].T)
            columns = transposed, np.uint32(first), np.uint32(len(transposed))
            rows = (steps.graph.vertex_count,)
            steps.run("floyd_middles", rows, SQUARE, (*arrays, *columns, self._middles))

    def find_parents(self, sources: Any, rows: Any, parents: Any) -> None:
        """See `CudaGraph.find_parents`; the rows are those that `find_middles` has seen."""
        steps = self._steps
        numbers = (
            np.uint64(steps.pitch),
            sources,
            rows,
            parents,
            np.uint32(steps.graph.vertex_count),
        )
        steps.run("floyd_parents", (len(sources),), BLOCK, (self.noted, self._middles, *numbers))
