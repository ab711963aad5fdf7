"""Breadth-first search on one core: `groute_py.kernels.cpu.breadth_first`."""

from __future__ import annotations

from typing import Any

from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.device.cpu.methods.base import SerialMethod
from groute_py.device.cpu.parts import SolveParts
from groute_py.kernels.cpu import breadth_first


class BreadthFirst(SerialMethod):
    """Counts arcs; the weights, which are all 1, are not looked at."""

    def begin(self, parts: SolveParts, source: int | None) -> None:
        parts.buffers.have_parents(parts.buffers.share.own_count)

    def step(self, buffers: SolveBuffers, limit: float) -> Any:
        state = (buffers.distances, buffers.parents, buffers.near, buffers.at)
        return breadth_first.search(buffers.arcs, *state, buffers.bounds(limit))

    def start_claims(self, parts: SolveParts, *, monotone: bool) -> bool:
        return parts.predecessors.start_known()
