"""Rows by the engine's own solve on the CPU, a source for each core."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import SoloChannel
from groute_py.device.cpu.rows import by_threads
from groute_py.device.rows import RowBlock
from groute_py.device.summary import Summary, Wanted, summarize
from groute_py.engine.options import Options
from groute_py.engine.solver import SourceSolver
from groute_py.graph.csr import Graph
from groute_py.results.result import Result
from groute_py.source.whole import GraphSupply
from groute_py.system.threads import core_count, lent, limited_to


class EngineRows:
    """See `groute_py.device.rows.RowSolver`: a solver for each core, with the whole graph."""

    def __init__(self, graph: Graph, *, predecessors: bool, cutoff: float = math.inf) -> None:
        self._graph, self.cutoff = graph, cutoff
        self._options = Options(device="cpu", predecessors=predecessors, cutoff=cutoff)
        self._threads = core_count()
        self._free: SimpleQueue[SourceSolver] = SimpleQueue()
        self._opened = 0
        self.label = f"cpu: near-far, {self._threads} threads"

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        columns = slice(None) if targets is None else targets

        def work(_: int, source: int) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
            result = self._solve(source)
            tree = result.predecessors
            return result.distances[columns], None if tree is None else tree[columns]

        self._open(len(sources))
        for first, rows in by_threads(self._threads, self._row_bytes, sources, work):
            trees = [tree for _, tree in rows if tree is not None]
            parents = np.stack(trees).astype(np.int32) if trees else None
            yield RowBlock(first, np.stack([distances for distances, _ in rows]), parents)

    def summaries(self, sources: NDArray[np.int64], request: Wanted) -> Iterator[Summary]:
        def work(position: int, source: int) -> Summary:
            return summarize(position, self._solve(source).distances, source, request)

        self._open(len(sources))
        for _, results in by_threads(self._threads, self._row_bytes, sources, work):
            yield from results

    @property
    def _row_bytes(self) -> int:
        return 8 * self._graph.vertex_count

    def _open(self, sources: int) -> None:
        """Make a solver for each thread that has something to do."""
        while self._opened < min(self._threads, sources):
            with limited_to(1):
                supply = GraphSupply(self._graph)
                self._free.put(SourceSolver(supply, SoloChannel(), self._options))
            self._opened += 1

    def _solve(self, source: int) -> Result:
        with lent(self._free) as solver, limited_to(1):
            result = solver.sssp(source)
        assert result is not None
        return result


class SingleRows:
    """See `groute_py.device.rows.RowSolver`: all of the GPU works on each source."""

    def __init__(self, graph: Graph, *, predecessors: bool, cutoff: float = math.inf) -> None:
        self._graph, self.cutoff = graph, cutoff
        self._options = Options(device="cuda", predecessors=predecessors, cutoff=cutoff)
        self.label = "cuda: one source at a time"

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        if targets is not None:
            yield from self._columns(sources, targets)
            return
        for number, result in self._answers(sources, self._options):
            tree = result.predecessors
            parents = None if tree is None else tree[np.newaxis].astype(np.int32)
            yield RowBlock(number, result.distances[np.newaxis], parents)

    def _columns(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> Iterator[RowBlock]:
        """Yield the targets' columns of each row, gathered on the GPU."""
        from groute_py.device.cuda.multi_source.download import TargetColumns

        columns = TargetColumns(targets)
        for number, result in self._answers(sources, replace(self._options, download=False)):
            tree = result.predecessors_device
            parents = None if tree is None else columns.of(tree[np.newaxis]).get().astype(np.int32)
            distances = columns.of(result.distances_device[np.newaxis]).get()
            yield RowBlock(number, distances, parents)

    def summaries(self, sources: NDArray[np.int64], request: Wanted) -> Iterator[Summary]:
        from groute_py.device.cuda.multi_source.summary import ArraySummaries

        reducer = ArraySummaries(request)
        on_gpu = replace(self._options, predecessors=False, download=False)
        for number, result in self._answers(sources, on_gpu):
            yield reducer.of(number, result.distances_device, int(sources[number]))

    def _answers(self, sources: NDArray[np.int64], options: Options) -> Iterator[tuple[int, Any]]:
        """Yield the number of each source, and its answer; a `DeviceResult` without download."""
        with SourceSolver(GraphSupply(self._graph), SoloChannel(), options) as solver:
            for number, source in enumerate(sources.tolist()):
                yield number, solver.sssp(source)
