"""The two tasks the loop runs on a device."""

from __future__ import annotations

import math

from groute_py.device.base import Device


class Relaxing:
    """Improving distances."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.memory = device.memory
        self.merge = device.merge
        self.work = device.relax
        self.outgoing = device.outgoing
        self.window = device.window

    def relaxations(self) -> int:
        return self._device.counters.relaxations


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
