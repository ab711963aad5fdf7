"""Breadth-first search on one core: `groute_py.kernels.cpu.serial`."""

from __future__ import annotations

from typing import Any

from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.methods.base import SerialMethod
from groute_py.kernels.cpu import serial


class BreadthFirst(SerialMethod):
    """Counts arcs; the weights, which are all 1, are not looked at."""

    least_team = 4  # as fast as 2.6 threads, which look at each arc for predecessors too

    def begin(self, b: SolveBuffers) -> None:
        b.have_parents(b.share.own_count)

    def step(self, b: SolveBuffers, limit: float) -> Any:
        state = (b.distances, b.parents, b.near, b.at)
        return serial.breadth_first(b.arcs, *state, b.bounds(limit))

    def start_claims(self, *, monotone: bool) -> bool:
        return self.predecessors.start_known()
