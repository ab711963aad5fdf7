"""Relaxing as the loop sees it: a device with nothing left is not asked again."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from groute_py.comm.base import host_memory
from groute_py.device.base import Device
from groute_py.engine.loop import Relaxing


class Counted:
    """A device that counts its slices; each leaves one floor of a list."""

    memory = staticmethod(host_memory)

    def __init__(self, floors: list[float]) -> None:
        self.floors, self.slices, self.merged = floors, 0, 0

    def relax(self, limit: float) -> float:
        self.slices += 1
        return self.floors.pop(0)

    def merge(self, message: Any) -> None:
        self.merged += 1

    def outgoing(self) -> list[Any]:
        return []


def test_nothing_left_is_not_looked_for() -> None:
    device = Counted([3.0, math.inf, 8.0, math.inf])
    task = Relaxing(cast("Device", device))
    assert [task.work(math.inf) for _ in range(4)] == [3.0, math.inf, math.inf, math.inf]
    assert device.slices == 2
    task.merge(np.zeros(0, np.uint8))
    assert [task.work(math.inf) for _ in range(3)] == [8.0, math.inf, math.inf]
    assert (device.slices, device.merged) == (4, 1)
