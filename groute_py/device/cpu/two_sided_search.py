"""From one source to one target on one core, from both ends."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.cpu.rows import CpuGraph
from groute_py.device.cpu.search_side import side_of, walked
from groute_py.errors import too_late
from groute_py.kernels.cpu import two_sided_search as kernel
from groute_py.kernels.cpu.search_side import begin

SLICE = 1 << 18
"""Arcs between two looks at the clock, a few milliseconds."""


class TwoSidedSearch:
    """Searches in one graph, one after another.

    Args:
        graph: with integer weights, none negative, of which the longest path fits in its type.
    """

    def __init__(self, graph: CpuGraph) -> None:
        self._arcs, self._nothing = (graph.arcs, graph.incoming), unreached(graph.type)
        self._sides = [side_of(graph.vertex_count, self._nothing) for _ in range(2)]
        self._meeting = np.zeros(3, np.int64)

    def run(self, source: int, targets: NDArray[np.int64], deadline: float) -> NDArray[Any]:
        """The distances of the targets, shape (t,), `unreached` where no path leads.

        Args:
            source: a vertex.
            targets: one vertex, perhaps more than once.
            deadline: `time.monotonic` at which to give up.

        Raises:
            TimeLimitError: the deadline has passed.
        """
        for side, end in zip(self._sides, (source, int(targets[0])), strict=True):
            begin(side, end, self._nothing)
        self._meeting[:] = 0 if source == targets[0] else self._nothing, source, 0
        rest = self._meeting, self._nothing, SLICE
        while not kernel.search(*self._arcs, *self._sides, *rest):
            if time.monotonic() > deadline:
                raise too_late()
        return np.full(len(targets), self._meeting[kernel.LENGTH], self._nothing.dtype)

    def path(self, target: int) -> NDArray[np.int64]:
        """The vertices of a shortest path of the last search, both ends included.

        Args:
            target: that of the search; the array is empty if no path leads there.
        """
        if self._meeting[kernel.LENGTH] == self._nothing:
            return np.empty(0, np.int64)
        middle = int(self._meeting[kernel.MIDDLE])
        to_source, to_target = (walked(side, middle) for side in self._sides)
        return np.array([*to_source[::-1], *to_target[1:]], np.int64)
