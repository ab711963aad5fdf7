"""Frontier Dijkstra on one core: `groute_py.kernels.cpu.frontier`."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.device.base import Terms
from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.methods.base import SerialMethod
from groute_py.kernels.choices import CRITERIA
from groute_py.kernels.cpu import frontier, rows
from groute_py.partition.share import Share


class FrontierDijkstra(SerialMethod):
    """A core that settles many vertices in a round."""

    def __init__(self, share: Share, terms: Terms, *, criterion: str) -> None:
        super().__init__(share, terms)
        self._criterion, buffers = CRITERIA[criterion], self.buffers
        _, heads, weights = buffers.arcs
        if not rows.ascend(share.offsets, weights):
            heads, weights = heads.copy(), weights.copy()
            rows.sort_rows(share.offsets, heads, weights)
            buffers.replace_arcs(heads, weights)
        self._lightest = np.full(share.own_count, buffers.unreached, dtype=buffers.type)
        frontier.lightest_incoming(*buffers.arcs[1:], self._lightest)

    def begin(self, b: SolveBuffers) -> None:
        self._skips = np.zeros(b.share.own_count, dtype=np.uint64)

    def relax(self, limit: float) -> float:
        floor = super().relax(limit)
        self.counters.settled = int((self.buffers.flags == frontier.CLOSED).sum())
        return floor

    def step(self, b: SolveBuffers, limit: float) -> Any:
        state = frontier.Frontier(b.flags, b.near, b.far, self._skips, self._lightest)
        return frontier.relax(b.arcs, b.distances, state, b.at, self._criterion, b.bounds(limit))
