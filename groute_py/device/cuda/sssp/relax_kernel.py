"""The persistent kernel of a solve: its arguments, and how a launch begins or goes on."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.runtime.launch import Call, resident_blocks
from groute_py.device.cuda.runtime.structs import PEERS
from groute_py.device.cuda.sssp.buffers import SolveBuffers
from groute_py.kernels.source import BLOCK, GO_ON, NEW_RUN, NEW_SOLVE, SOLVE
from groute_py.kernels.structs import arguments

DEPTH = 32
"""Levels a block goes down by itself in a step, which then ends for all."""


class RelaxKernel:
    """Launches the kernel ``relax``, with bounds in the distance type."""

    source: int
    delta: Any
    cutoff: Any
    first: Any

    def __init__(self, graph: DeviceGraph, buffers: SolveBuffers) -> None:
        self._graph, self._buffers = graph, buffers
        kernel = graph.kernels["relax"].kernel
        grid = graph.gpu.processors * resident_blocks(kernel, BLOCK)
        self._call = Call(kernel, grid, BLOCK, arguments(SOLVE, "relax", graph.type))
        self.peers, self._in_runs = no_peers(), False
        self._begins = NEW_SOLVE

    def prepare(self, source: int, delta: Any, cutoff: Any, first: Any) -> None:
        """The arguments of a solve, which begins with the next launch."""
        self.source, self.delta, self.cutoff, self.first = source, delta, cutoff, first
        self._begins = NEW_SOLVE

    def narrow(self, delta: Any) -> None:
        """Go on with a smaller Δ."""
        self.delta = delta

    def exchange_with(self, peers: Any) -> None:
        """The peers of the launches to come, each of which is a run of the whole team."""
        self.peers, self._in_runs = peers, True

    def launch(self, limit: float, steps: int, depth: int | None = None) -> None:
        """Relax within ``limit``, in the current stream, ``depth`` (or `DEPTH`) levels a block."""
        self._call.launch(
            self._graph.gpu.stream,
            share=self._graph.struct,
            work=self._buffers.work,
            peers=self.peers,
            control=self._buffers.control.data.ptr,
            delta=self.delta,
            cutoff=self.cutoff,
            limit=limit,
            max_steps=steps,
            depth=DEPTH if depth is None else depth,
            begins=self._begins,
            source=self.source,
            first=self.first,
        )
        self._begins = GO_ON

    def launch_run(self) -> None:
        """Relax until the team is quiet, in the current stream; the next launch is a new run."""
        self.launch(np.inf, 1)
        self._begins = NEW_RUN

    def begin(self) -> None:
        """Begin the solve, if that is still to be done, before something else than relaxing."""
        if self._begins != NEW_SOLVE:
            return
        with self._graph.gpu.stream:
            self.launch(np.inf, 0)
        if self._in_runs:
            self._begins = NEW_RUN


def no_peers() -> Any:
    """The struct ``Peers`` of a rank that has no peers to exchange with in the kernel."""
    struct = np.zeros(1, PEERS)
    struct["count"] = 1
    return struct
