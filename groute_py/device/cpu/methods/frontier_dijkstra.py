"""Frontier Dijkstra on one core: `groute_py.kernels.cpu.frontier`."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.device.base import Buckets, Terms
from groute_py.device.cpu.methods.base import AloneCpu
from groute_py.kernels.choices import CRITERIA
from groute_py.kernels.cpu import frontier, rows
from groute_py.partition.share import Share


class FrontierCpu(AloneCpu):
    """A core that settles many vertices in a round.

    Args:
        criterion: a key of `CRITERIA`.
    """

    def __init__(self, criterion: str) -> None:
        super().__init__()
        self._criterion = criterion

    def copy(self) -> FrontierCpu:
        return FrontierCpu(self._criterion)

    def load(self, share: Share, terms: Terms) -> None:
        super().load(share, terms)
        offsets, heads, weights = self._arcs
        if not rows.ascend(share.offsets, weights):
            heads, weights = heads.copy(), weights.copy()
            rows.sort_rows(share.offsets, heads, weights)
            for array in (heads, weights):
                array.flags.writeable = False
            self._arcs = (offsets, heads, weights)
        self._lightest = np.full(share.own_count, self._nothing, dtype=terms.distance_type)
        frontier.lightest_incoming(*self._arcs[1:], self._lightest)

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        super().start(source, buckets, cutoff, record=False)
        self._skips = np.zeros(self._share.own_count, dtype=np.uint64)

    def step(self, limit: float) -> Any:
        state = (self._distances, self._flags, self._near, self._far, self._skips, self._lightest)
        bounds = (limit, self._cutoff, self._nothing, self._slice)
        floor = frontier.relax(*self._arcs, *state, self._at, CRITERIA[self._criterion], *bounds)
        self._settled = int((self._flags == frontier.CLOSED).sum())
        return floor

    def _count(self, *, worked: bool) -> None:
        super()._count(worked=worked)
        self.counters.settled = self._settled
