"""Breadth-first search on one core: `groute_py.kernels.cpu.breadth_first`."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.device.base import NO_PARENT, Buckets
from groute_py.device.cpu.methods.base import AloneCpu
from groute_py.kernels.cpu import breadth_first, claim


class BreadthFirstCpu(AloneCpu):
    """Counts arcs; the weights, which are all 1, are not looked at."""

    def start(self, source: int | None, buckets: Buckets, cutoff: float, *, record: bool) -> None:
        super().start(source, buckets, cutoff, record=False)
        self._parents = np.full(self._share.own_count, NO_PARENT, dtype=np.int64)

    def step(self, limit: float) -> Any:
        state = (self._distances, self._parents, self._near, self._at)
        bounds = (limit, self._cutoff, self._nothing, self._slice)
        return breadth_first.search(*self._arcs[:2], *state, *bounds)

    def start_claims(self, monotone: bool) -> bool:
        """The search has found them; some of their heads may have been made unreached."""
        self._parents[self._distances == self._nothing] = NO_PARENT
        self._rising_left = self._onward = False
        self._claim_at = np.zeros(claim.CLAIM_CURSORS, dtype=np.int64)
        return True
