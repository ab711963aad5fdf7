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
from groute_py.engine.solver import Solver
from groute_py.engine.supply.whole import Whole
from groute_py.graph.csr import Graph


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

    def blocks(self, sources: NDArray[np.int64]) -> Iterator[RowBlock]:
        with self._opened(self._options) as solver:
            for position, source in enumerate(sources.tolist()):
                result = solver.sssp(source)
                assert result is not None
                tree = result.predecessors
                parents = None if tree is None else tree[np.newaxis].astype(np.int32)
                yield RowBlock(position, result.distances[np.newaxis], parents)

    def summaries(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        from groute_py.device.cuda.multi_source.summary import ArraySummaries

        asked = ArraySummaries(wanted)
        staying = replace(self._options, predecessors=False, download=False)
        with self._opened(staying) as solver:
            for position, source in enumerate(sources.tolist()):
                result = solver.sssp(source)
                assert isinstance(result, DeviceResult)
                yield asked.of(position, result.distances_device, source)

    def _opened(self, options: Options) -> Solver:
        return Solver(Whole(self._graph), SoloChannel(), options)
