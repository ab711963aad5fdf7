"""From one source to a few targets on one core, with memory that is kept from search to search."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.rows import CpuGraph
from groute_py.device.cpu.search_side import side_of, walked
from groute_py.device.overflow import leads_beyond
from groute_py.device.rows import NarrowError
from groute_py.errors import too_late
from groute_py.kernels.cpu import target_search as kernel
from groute_py.kernels.cpu.search_side import begin

SLICE = np.uint64(1 << 20)
"""Arcs between two looks at the clock, some ten milliseconds."""


class TargetSearch:
    """Searches in one graph, one after another.

    Args:
        graph: without negative weights.
    """

    def __init__(self, graph: CpuGraph) -> None:
        self._graph = graph
        count, self._nothing = graph.vertex_count, unreached(graph.type)
        self._side = side_of(count, self._nothing, kernel.COUNTS)
        self._distances, *_, self._counts = self._side
        self._wanted, self._targets = np.zeros(count, np.uint8), np.empty(0, np.int64)

    def run(self, source: int, targets: NDArray[np.int64], deadline: float) -> NDArray[Any]:
        """The distances of the targets, shape (t,), `unreached` where no path leads.

        Args:
            source: a vertex.
            targets: vertices, shape (t,), in any order; one may stand there more than once.
            deadline: `time.monotonic` at which to give up.

        Raises:
            NarrowError: a sum does not fit, and a target was not reached.
            TimeLimitError: the deadline has passed.
        """
        self._begin(source, targets)
        rest = self._wanted, self._nothing, SLICE
        while not kernel.search(*self._graph.arcs, *self._side, *rest):
            if time.monotonic() > deadline:
                raise too_late()
        found: NDArray[Any] = self._distances[targets]
        missing = found == self._nothing
        if self._counts[kernel.OVERFLOWED] and missing.any():
            reached = self._distances != self._nothing
            offsets, heads, _ = self._graph.arcs
            if leads_beyond(offsets, heads, reached, reached):
                raise NarrowError
        return found

    def path(self, target: int) -> NDArray[np.int64]:
        """The vertices of a shortest path of the last search, both ends included.

        Args:
            target: one of its targets; the array is empty if no path leads there.
        """
        if self._distances[target] == self._nothing:
            return np.empty(0, np.int64)
        return np.array(walked(self._side, target)[::-1], np.int64)

    def _begin(self, source: int, targets: NDArray[np.int64]) -> None:
        """Reset what the last search has left, and begin another."""
        begin(self._side, source, self._nothing)
        self._wanted[self._targets] = 0
        self._targets = targets
        self._wanted[targets] = 1
        self._counts[kernel.LEFT] = len(np.unique(targets))
