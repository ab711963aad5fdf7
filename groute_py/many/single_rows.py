"""Rows by the engine's own solve on a GPU, one source after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.solo import SoloChannel
from groute_py.device.rows import RowBlock
from groute_py.device.summary import Summary, Wanted
from groute_py.engine.device_result import DeviceResult
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.graph.csr import Graph
from groute_py.source.whole import Whole


class SingleRows:
    """See `groute_py.device.rows.RowSolver`: all of the GPU works on each source.

    Args:
        graph: without negative weights.
        predecessors: whether to find them.
    """

    def __init__(self, graph: Graph, *, predecessors: bool) -> None:
        self._graph = graph
        self._options = Options(device="cuda", predecessors=predecessors)
        self.label = "cuda: one source at a time"

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        if targets is not None:
            yield from self._columns(sources, targets)
            return
        with self._opened(self._options) as solver:
            for position, source in enumerate(sources.tolist()):
                result = solver.sssp(source)
                assert result is not None
                tree = result.predecessors
                parents = None if tree is None else tree[np.newaxis].astype(np.int32)
                yield RowBlock(position, result.distances[np.newaxis], parents)

    def _columns(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> Iterator[RowBlock]:
        """Of each row those of the targets, gathered on the GPU."""
        from groute_py.device.cuda.multi_source.columns import TargetColumns

        columns = TargetColumns(targets)
        with self._opened(replace(self._options, download=False)) as solver:
            for position, source in enumerate(sources.tolist()):
                result = solver.sssp(source)
                assert isinstance(result, DeviceResult)
                tree = result.predecessors_device
                parents = None if tree is None else columns.of(tree[np.newaxis]).get()
                yield RowBlock(
                    position,
                    columns.of(result.distances_device[np.newaxis]).get(),
                    None if parents is None else parents.astype(np.int32),
                )

    def summaries(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        from groute_py.device.cuda.multi_source.summary import ArraySummaries

        asked = ArraySummaries(wanted)
        staying = replace(self._options, predecessors=False, download=False)
        with self._opened(staying) as solver:
            for position, source in enumerate(sources.tolist()):
                result = solver.sssp(source)
                assert isinstance(result, DeviceResult)
                yield asked.of(position, result.distances_device, source)

    def _opened(self, options: Options) -> SourceSolver:
        return SourceSolver(Whole(self._graph), SoloChannel(), options)
