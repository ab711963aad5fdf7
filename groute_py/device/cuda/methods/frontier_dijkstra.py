"""Frontier Dijkstra on one GPU: the kernels of ``kernels/frontier_dijkstra/``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.in_edges import refuse_too_many
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Call, Kernels, resident_blocks
from groute_py.device.cuda.runtime.sort import sort_rows
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.device.cuda.sssp.method import OneGpuMethod, SolveParts
from groute_py.device.cuda.sssp.predecessors import NOBODY
from groute_py.kernels.choices import CRITERIA
from groute_py.kernels.source import FRONTIER, WIDE_BLOCK
from groute_py.kernels.structs import arguments, struct

MOST_ALONE, FEWEST_TOGETHER = 4096, 1024
"""One block goes on up to so many open vertices, which is ROOM in the kernel; the whole grid goes
on down to so many."""

SLICE_ROUNDS = 1 << 13
"""Some 30 ms, so that a signal is heard."""


class FrontierDijkstra(OneGpuMethod):
    """Settles many vertices in a round."""

    remedy = "use --algorithm delta-stepping, which takes less"

    def __init__(self, criterion: str) -> None:
        self._criterion = np.uint32(CRITERIA[criterion])

    def arrange(self, graph: DeviceGraph) -> None:
        self._kernels = Kernels(kernels_of(FRONTIER, graph.type, graph.terms.arcs), WIDE_BLOCK)
        alone, together = (
            self._kernels[f"take_rounds_{how}"].kernel for how in ("alone", "together")
        )
        assert resident_blocks(together, WIDE_BLOCK), "the grid barrier needs every block to run"
        takes = arguments(FRONTIER, "take_rounds_together", graph.type)
        self._taking_alone = Call(alone, 1, WIDE_BLOCK, takes)
        self._taking_together = Call(together, graph.gpu.processors, WIDE_BLOCK, takes)
        refuse_too_many(len(graph.share.heads))
        sort_rows(self._kernels, graph.arrays["offsets"], graph.arrays["arcs"], graph.type)
        own = graph.share.own_count
        shapes: dict[str, tuple[Any, Any]] = {
            "lightest": (own, graph.type),
            "closed": (own, np.uint32),
            "skip": (own, np.uint32),
            "open": ((2, max(own, 1)), np.uint32),
        }
        self._arrays = {name: cp.empty(*shape) for name, shape in shapes.items()}
        self._struct = pointed(struct(FRONTIER, "Frontier"), self._arrays, {})
        self._rounds_type = struct(FRONTIER, "Rounds", graph.type)
        self._rounds = cp.zeros(self._rounds_type.itemsize, np.uint8)
        lightest = self._arrays["lightest"]
        lightest.fill(graph.unreached)
        arcs = len(graph.share.heads)
        self._kernels.run("weigh_incoming", arcs // 8, graph.struct, lightest)

    def begin(self, parts: SolveParts, source: int | None) -> None:
        graph = parts.graph
        state = (graph.struct, self._struct, self._rounds)
        number = np.uint32(NOBODY if source is None else source)
        with graph.gpu.stream:
            self._kernels.run("begin_rounds", graph.share.own_count, *state, number)
        self._alone = True

    def relax(self, parts: SolveParts, limit: float) -> float:
        while True:
            with parts.graph.gpu.stream:
                self._take_rounds(parts, limit)
                state = self._rounds.get().view(self._rounds_type)[0]
            now = int(state["rounds"]) % 3
            count = int(state["tally"]["open_count"][now])
            parts.counters.update(
                relaxations=int(state["relaxations"]),
                steps=int(state["rounds"]),
                overflowed=bool(state["overflowed"]),
                settled=int(state["settled"]),
            )
            if count == 0:
                return np.inf
            if self._alone and count > MOST_ALONE:
                self._alone = False
            elif not self._alone and count < FEWEST_TOGETHER:
                self._alone = True
            else:
                return _floor(state, parts.graph.unreached)

    def _take_rounds(self, parts: SolveParts, limit: float) -> None:
        call = self._taking_alone if self._alone else self._taking_together
        call.launch(
            parts.graph.gpu.stream,
            share=parts.graph.struct,
            frontier=self._struct,
            distances=parts.buffers.arrays["distance"].data.ptr,
            control=parts.buffers.control.data.ptr,
            rounds=self._rounds.data.ptr,
            criterion=self._criterion,
            cutoff=parts.kernel.cutoff,
            limit=limit,
            max_rounds=SLICE_ROUNDS,
            few=FEWEST_TOGETHER,
        )


def _floor(state: Any, nothing: Any) -> float:
    """L, if the round was evaluated before the slice ended, else that of the round before."""
    least, rounds = state["tally"]["least"], int(state["rounds"])
    if least[rounds % 3] != nothing:
        return float(least[rounds % 3])
    return float(least[(rounds - 1) % 3]) if rounds else 0.0
