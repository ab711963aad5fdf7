"""The two tasks that the loop runs on a device: relaxing, and assigning predecessors."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer
from groute_py.device.base import Device

EXACT = 2.0**53
"""From here on float64 does not hold every integer, and one may have been rounded down."""


def counts_of(device: Device) -> dict[str, int]:
    """Return the counters of a device since the solve began, by their names in a trace."""
    counters = device.counters
    lists = dict(zip(("near", "far"), counters.worklists or (), strict=False))
    return lists | {"relaxations": counters.relaxations, "bytes sent": sum(counters.sent)}


class Relaxing:
    """Improves distances.

    Args:
        targets: that this rank owns, in local numbers; None if all vertices are wanted.
        width: of its steps towards targets, if the device has no bucket.
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
        """Relax a slice, unless the last one left no work and no message has come since."""
        floor = math.inf if self._done else self._device.relax(limit)
        self._done = math.isinf(floor)
        return floor

    def relaxations(self) -> int:
        return self._device.counters.relaxations

    def counts(self) -> dict[str, int]:
        return counts_of(self._device)

    def bucket_width(self) -> float:
        return min(self._device.bucket_width(), self._width)

    def goal(self) -> float:
        """Return an upper bound of the farthest target's distance; infinite if one is unreached."""
        if self._targets is None:
            return math.inf
        distance = self.farthest()
        return float(distance) if distance < EXACT else math.nextafter(distance, math.inf)

    def farthest(self) -> float:
        """Return the exact distance of this rank's farthest target; infinite if unreached."""
        assert self._targets is not None
        return self._device.farthest(self._targets) if len(self._targets) else -math.inf


class Claiming:
    """Assigns predecessors; a claim has no distance, so no limit applies."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.memory = device.memory
        self.merge = device.merge_claims
        self.outgoing = device.outgoing_claims

    def work(self, limit: float) -> float:
        return 0.0 if self._device.claim() else math.inf

    def relaxations(self) -> int:
        return 0

    def counts(self) -> dict[str, int]:
        return counts_of(self._device)

    def bucket_width(self) -> float:
        return math.inf

    def goal(self) -> float:
        return math.inf
