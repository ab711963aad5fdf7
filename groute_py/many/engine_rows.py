"""Rows by the engine's own solve on the CPU, a source for each core."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.solo import SoloChannel
from groute_py.device.rows import RowBlock
from groute_py.engine.options import Options
from groute_py.engine.session import Session
from groute_py.engine.supply.whole import Whole
from groute_py.graph.csr import Graph
from groute_py.result import Result

BLOCK_BYTES = 16 << 20
"""Rows that are solved before they are handed on."""


class EngineRows:
    """See `groute_py.device.rows.RowSolver`: a session for each core, with the whole graph."""

    def __init__(self, graph: Graph, *, predecessors: bool) -> None:
        self._graph = graph
        self._options = Options(device="cpu", predecessors=predecessors)
        self._threads = len(os.sched_getaffinity(0))
        self.label = f"cpu: near-far, {self._threads} threads"

    def blocks(self, sources: NDArray[np.int64]) -> Iterator[RowBlock]:
        free: SimpleQueue[Session] = SimpleQueue()
        for _ in range(min(self._threads, len(sources))):
            free.put(Session(Whole(self._graph), SoloChannel(), self._options))

        def solve(source: int) -> Result:
            session = free.get()
            try:
                result = session.solve(source)
            finally:
                free.put(session)
            assert result is not None
            return result

        step = max(BLOCK_BYTES // (8 * self._graph.vertex_count), self._threads)
        with ThreadPoolExecutor(self._threads) as pool:
            for first in range(0, len(sources), step):
                results = list(pool.map(solve, sources[first : first + step].tolist()))
                trees = [r.predecessors for r in results if r.predecessors is not None]
                parents = np.stack(trees).astype(np.int32) if trees else None
                yield RowBlock(first, np.stack([r.distances for r in results]), parents)
