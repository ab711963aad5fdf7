"""Summaries of rows of distances on one GPU without weights, where a graph has few levels."""

from __future__ import annotations

from collections.abc import Iterator

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.multi_source.levels import LevelGraph, LevelSearch
from groute_py.device.rows import MOST_LEVELS
from groute_py.device.summary import Summary, Wanted, summary_of_levels
from groute_py.graph.csr import Graph

SUMMARIZED_AT_ONCE = 1 << 12
"""Sources among which those of similar degree are searched from together."""


class CudaLevelSummaries:
    """A graph on the GPU of ``local_rank``; each arc of it counts 1."""

    def __init__(self, graph: Graph, local_rank: int, limit: int | None) -> None:
        self._levels, self._limit = LevelGraph(graph, local_rank), limit
        self.label = self._levels.label

    def summaries(self, sources: NDArray[np.int64], request: Wanted) -> Iterator[Summary]:
        """Yield summaries in order; `NarrowError` if there are too many levels."""
        search = LevelSearch(self._levels, len(sources), self._limit, with_paths=False)
        self.label = search.label
        for first in range(0, len(sources), SUMMARIZED_AT_ONCE):
            some = sources[first : first + SUMMARIZED_AT_ONCE]
            yield summary_of_levels(first, *self._counts(search, some), request)

    def _counts(
        self, search: LevelSearch, sources: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the vertices at each distance, and find the first of the farthest."""
        counts, farthest = np.zeros((len(sources), MOST_LEVELS), np.int64), sources.copy()
        counts[:, 0] = 1
        own = self._levels.order(sources)
        for first in range(0, len(own), search.width):
            some = own[first : first + search.width]
            last = search.find_levels(self._levels.numbers(sources[some]))
            members = cp.zeros((last + 1, search.width), np.uint32)
            names = cp.full(search.width, 0xFFFFFFFF, np.uint32)
            for level in range(last + 1):
                search.launch("tally_level", level, self._levels.names, members[level], names)
            counts[some, : last + 1] = members.get()[:, : len(some)].T
            farthest[some] = names.get()[: len(some)]
        return counts, farthest
