"""The two tasks the loop runs on a device."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer
from groute_py.device.base import Device

EXACT = 2.0**53
"""From here on integers lie between two floats, and one may have been rounded down."""


class Relaxing:
    """Improving distances.

    Args:
        device: that does it.
        targets: this rank's, in local numbers; None where all vertices are wanted.
        width: of its steps towards them, where the device has no window.
    """

    def __init__(
        self,
        device: Device,
        targets: NDArray[np.int64] | None = None,
        width: float = math.inf,
    ) -> None:
        self._device, self._targets, self._width = device, targets, width
        self._done = False
        self.memory = device.memory
        self.outgoing = device.outgoing

    def merge(self, message: Buffer) -> None:
        self._done = False
        self._device.merge(message)

    def work(self, limit: float) -> float:
        """A slice; none where the last one left nothing and nothing has come since."""
        floor = math.inf if self._done else self._device.relax(limit)
        self._done = math.isinf(floor)
        return floor

    def relaxations(self) -> int:
        return self._device.counters.relaxations

    def window(self) -> float:
        return min(self._device.window(), self._width)

    def goal(self) -> float:
        """No less than the farthest target so far, infinite while one is unreached."""
        if self._targets is None:
            return math.inf
        found = self.farthest()
        return float(found) if found < EXACT else math.nextafter(found, math.inf)

    def farthest(self) -> float:
        """The distance of this rank's farthest target, exactly; infinite while one is unreached."""
        assert self._targets is not None
        return self._device.farthest(self._targets) if len(self._targets) else -math.inf


class Claiming:
    """Claiming predecessors; a claim has no distance, so every limit allows it."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.memory = device.memory
        self.merge = device.merge_claims
        self.outgoing = device.outgoing_claims

    def work(self, limit: float) -> float:
        return 0.0 if self._device.claim() else math.inf

    def relaxations(self) -> int:
        return 0

    def window(self) -> float:
        return math.inf

    def goal(self) -> float:
        return math.inf
