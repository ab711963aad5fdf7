"""From one source to a few targets on one core, with memory that is kept from search to search."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.rows import CpuGraph
from groute_py.device.overflow import leads_beyond
from groute_py.device.rows import NarrowError
from groute_py.errors import TimeLimitError
from groute_py.kernels.cpu import target_search as kernel

SLICE = np.uint64(1 << 20)
"""Arcs between two looks at the clock, some ten milliseconds."""

VERTEX_BYTES = 8 + 4 * 4 + 1
"""Of a search, for each vertex."""


def search_bytes(vertex_count: int) -> int:
    """Bytes of a search, beside the graph."""
    return VERTEX_BYTES * vertex_count


class TargetSearch:
    """Searches in one graph, one after another.

    Args:
        graph: without negative weights.
    """

    def __init__(self, graph: CpuGraph) -> None:
        self._graph = graph
        count, self._nothing = graph.vertex_count, unreached(graph.type)
        self._distances = np.full(count, self._nothing)
        self._before, self._places, self._heap, self._touched = np.zeros((4, count), np.uint32)
        self._wanted = np.zeros(count, np.uint8)
        self._counts = np.zeros(kernel.COUNTS, np.int64)
        self._source, self._targets = 0, np.empty(0, np.int64)

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
        while not kernel.search(*self._graph.arcs, *self._state, self._nothing, SLICE):
            if time.monotonic() > deadline:
                raise TimeLimitError("the time limit passed before all targets were reached")
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
        vertices = [target]
        while vertices[-1] != self._source:
            vertices.append(int(self._before[vertices[-1]]))
        return np.array(vertices[::-1], np.int64)

    @property
    def _state(self) -> tuple[NDArray[Any], ...]:
        return (
            *(self._distances, self._before, self._places, self._heap, self._touched),
            *(self._wanted, self._counts),
        )

    def _begin(self, source: int, targets: NDArray[np.int64]) -> None:
        """Reset what the last search has left, and begin another."""
        kernel.reset(self._distances, self._places, self._touched, self._counts, self._nothing)
        self._wanted[self._targets] = 0
        self._targets, self._source = targets, source
        self._wanted[targets] = 1
        self._distances[source], self._places[source] = 0, 1
        self._heap[0] = self._touched[0] = source
        self._counts[kernel.OPEN] = self._counts[kernel.TOUCHED] = 1
        self._counts[kernel.LEFT] = len(np.unique(targets))
