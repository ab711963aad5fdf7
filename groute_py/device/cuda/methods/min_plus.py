"""Bellman-Ford by min-plus products on one GPU: the kernels of ``kernels/min_plus/``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.graph.in_edges import incoming
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Call, Kernels, resident_blocks
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.device.cuda.sssp.method import OneGpuMethod, SolveParts
from groute_py.kernels.choices import refuse_dense, refuse_uneven
from groute_py.kernels.source import BLOCK, PULL, WIDE_BLOCK
from groute_py.kernels.structs import arguments, struct

SLICE_ROUNDS = 32
"""So that negative cycles are noticed soon; 32 rounds are some 100 us on small graphs."""

SPARSE = 8.0
"""Mean degree below which four lanes take a row together, and not a whole warp."""

INCOMING, SWEEP = (struct(PULL, name) for name in ("Incoming", "Sweep"))


class Storage:
    """Incoming arcs of a graph without a halo, as ``Incoming`` of kernels/layout/min_plus.cuh."""

    def __init__(self, graph: DeviceGraph) -> None:
        self.graph = graph
        self.kernels = Kernels(kernels_of(PULL, graph.type, graph.terms.arcs), BLOCK)
        rows = incoming(graph.share, graph.offset_type)
        arcs = graph.arrays["arcs"][rows.arcs]
        width = graph.type.itemsize
        fields = arcs.view(np.uint8).reshape(len(arcs), 2 * width)
        fields[:, width : width + 4] = rows.tails.view(np.uint8).reshape(len(arcs), 4)
        self.arrays: dict[str, Any] = {"offsets": rows.offsets, "arcs": arcs}
        self.point()

    def point(self, **numbers: float) -> None:
        """Make the struct of the arrays, with these numbers."""
        self.struct = pointed(INCOMING, self.arrays, numbers)

    def fill(self, kernel: str, array: Any) -> None:
        """Fill the method's own array from the rows."""
        state = (self.struct, array, np.uint32(self.graph.share.own_count))
        self.kernels[kernel]((self.graph.gpu.processors * 4,), (BLOCK,), state)

    def by_the_grid(self, name: str) -> Call:
        """Bind a kernel to as many blocks as run at once, and no more than are of use."""
        kernel = self.kernels[name].kernel
        grid = self.graph.gpu.processors * resident_blocks(kernel, BLOCK)
        return Call(kernel, grid, BLOCK, arguments(PULL, name, self.graph.type))


def in_csr(storage: Storage) -> Call:
    """Compressed sparse rows: the kernel that takes rounds there."""
    share = storage.graph.share
    call = storage.by_the_grid("pull_csr")
    call.keep(lanes=4 if len(share.heads) / share.own_count < SPARSE else 32)
    return call


def in_ell(storage: Storage) -> Call:
    """Equally many slots a vertex: the kernel that takes rounds there."""
    share = storage.graph.share
    width = int(cp.diff(storage.arrays["offsets"]).max())
    refuse_uneven(width, share.own_count, len(share.heads))
    slots = cp.empty(max(width * share.own_count, 1), storage.graph.entry_type)
    storage.arrays["slots"] = slots
    storage.point(width=width)
    storage.fill("fill_slots", slots)
    return storage.by_the_grid("pull_ell")


def in_matrix(storage: Storage) -> Call:
    """A matrix, as much of it in shared memory as fits: the kernel that takes rounds there."""
    graph, own, kernel = storage.graph, storage.graph.share.own_count, storage.kernels["pull_dense"]
    refuse_dense(own)
    storage.arrays["matrix"] = cp.full(own * own, graph.unreached, graph.type)
    storage.fill("fill_matrix", storage.arrays["matrix"])
    row = own * graph.type.itemsize
    rows = min((graph.gpu.shared_bytes - 1024) // row - 1, -(-own // graph.gpu.processors))
    shared = (rows + 1) * row
    kernel.max_dynamic_shared_size_bytes = shared
    storage.point(staged=rows)
    takes = arguments(PULL, "pull_dense", graph.type)
    return Call(kernel.kernel, graph.gpu.processors, WIDE_BLOCK, takes, shared)


STORAGES = {"csr": in_csr, "ell": in_ell, "dense": in_matrix}


class MinPlus(OneGpuMethod):
    """Every vertex takes the best of its incoming arcs, round by round."""

    remedy = "use --algorithm bellman-ford, which takes less"

    def __init__(self, storage: str) -> None:
        self._store, self.variant = STORAGES[storage], storage

    def arrange(self, graph: DeviceGraph) -> None:
        self._storage = Storage(graph)
        self._sweep = cp.zeros(SWEEP.itemsize, np.uint8)
        self._pulling = self._store(self._storage) if graph.share.own_count else None

    def begin(self, parts: SolveParts, source: int | None) -> None:
        sweep = np.zeros(1, SWEEP)
        sweep["changed"][0, 0] = source is not None
        with parts.graph.gpu.stream:
            self._sweep.set(sweep.view(np.uint8))

    def relax(self, parts: SolveParts, limit: float) -> float:
        with parts.graph.gpu.stream as stream:
            distances = parts.buffers.arrays["distance"]
            if self._pulling is not None:
                self._pulling.launch(
                    stream,
                    distances=distances.data.ptr,
                    control=parts.buffers.control.data.ptr,
                    sweep=self._sweep.data.ptr,
                    cutoff=parts.kernel.cutoff,
                    own=parts.graph.share.own_count,
                    max_rounds=SLICE_ROUNDS,
                    **{"in": self._storage.struct},
                )
            sweep = self._sweep.get().view(SWEEP)[0]
            rounds = int(sweep["rounds"])
            goes_on = bool(sweep["changed"][rounds % 3])
            parts.counters.update(
                relaxations=int(sweep["relaxations"]),
                steps=rounds,
                overflowed=bool(sweep["overflowed"]),
            )
            return float(distances.min()) if goes_on else np.inf
