"""All pairs on one GPU by blocked Floyd–Warshall; ``kernels/multi_source/floyd.cu`` says how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.multi_source.download import FindParents, Take, downloaded
from groute_py.device.cuda.multi_source.floyd.steps import Steps
from groute_py.device.cuda.multi_source.floyd.trees import Stages
from groute_py.device.cuda.multi_source.graph import CudaGraph
from groute_py.device.cuda.multi_source.summary import summarized
from groute_py.device.rows import RowBlock, refuse_narrow, surely_fits
from groute_py.device.summary import Summary, Wanted


class CudaFloyd:
    """A `RowSolver` that solves for all rows, with the whole matrix on the GPU."""

    def __init__(self, graph: CudaGraph, greatest_weight: float, *, predecessors: bool) -> None:
        self._graph, self._predecessors = graph, predecessors
        self._greatest_weight = greatest_weight
        self._steps = Steps(graph, cp.cuda.Stream(non_blocking=True))
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

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        take, find_parents = self._closed(noting=self._by_stages)
        if self._predecessors and find_parents is None:
            find_parents = self._graph.find_parents
        stream = self._steps.stream
        yield from downloaded(self._graph, stream, sources, targets, take, find_parents)

    def summaries(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        take, _ = self._closed(noting=False)
        yield from summarized(self._graph, self._steps.stream, sources, take, wanted)

    def _closed(self, *, noting: bool) -> tuple[Take, FindParents | None]:
        """Close the matrix; returns what takes rows of it and, if stages are noted, finds trees."""
        steps, find_parents = self._steps, None
        self._graph.gpu.synchronize()
        with steps.stream:
            matrix = cp.empty((steps.pitch, steps.pitch), self._graph.type)
            stages = Stages(steps) if noting else None
            steps.begin(matrix, 0)
            steps.close(matrix, 0, None if stages is None else stages.noted)
            if not surely_fits(self._graph.vertex_count, self._greatest_weight, self._graph.type):
                refuse_narrow(steps.greatest(matrix), self._greatest_weight, self._graph.type)
            if stages is not None:
                stages.find_middles(matrix)
                find_parents = stages.find_parents

        def take(_: NDArray[np.int64], which: Any, rows: Any) -> None:
            steps.leave(matrix, which, rows)

        return take, find_parents
