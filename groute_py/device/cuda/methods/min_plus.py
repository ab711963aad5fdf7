"""Bellman-Ford by min-plus products on one GPU: the kernels of ``kernels/pull.cu``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import driver, runtime

from groute_py.device.base import Counters, Windows
from groute_py.device.cuda.graph.transpose import incoming
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Call
from groute_py.device.cuda.runtime.structs import NUMBER, POINTER, pointed
from groute_py.device.cuda.sssp.buffers import BLOCKS_PER_PROCESSOR
from groute_py.device.cuda.sssp.device import CudaDevice
from groute_py.errors import InputError
from groute_py.kernels.choices import SLOTS_AN_ARC, WIDEST_MATRIX, too_dense, too_uneven
from groute_py.kernels.source import BLOCK, PULL, WIDE_BLOCK
from groute_py.partition.share import Share

SLICE_ROUNDS = 32
"""So that negative cycles are noticed soon; 32 rounds are some 100 us on small graphs."""

SPARSE = 8.0
"""Mean degree below which four lanes take a row together, and not a whole warp."""

INCOMING = np.dtype(
    [
        ("offsets", POINTER),
        ("arcs", POINTER),
        ("slots", POINTER),
        ("matrix", POINTER),
        ("width", NUMBER),
        ("staged", NUMBER),
    ],
    align=True,
)

SWEEP = np.dtype(
    [
        ("relaxations", np.uint64),
        ("rounds", np.uint64),
        ("changed", NUMBER, 3),
        ("overflowed", NUMBER),
    ],
    align=True,
)


def pulling(distance_type: np.dtype[Any]) -> dict[str, Any]:
    """The arguments that all persistent kernels have in common."""
    return {
        "incoming": INCOMING,
        **dict.fromkeys(("distances", "control", "sweep"), POINTER),
        "cutoff": distance_type,
        "own": NUMBER,
        "max_rounds": NUMBER,
    }


class PullCuda(CudaDevice, ABC):
    """A GPU on which every vertex takes the best of its incoming arcs, round by round."""

    remedy = "use --algorithm bellman-ford, which takes less"

    def let_go(self) -> None:
        super().let_go()
        self._incoming: dict[str, Any] = {}

    def _compile(self) -> None:
        super()._compile()
        self._pull_kernels = kernels_of(PULL, self._type, self._terms.arcs)

    def _arrange(self, share: Share) -> None:
        found = incoming(share, self._offset_type)
        arcs = self._graph["arcs"][found.arcs]
        width = self._type.itemsize
        fields = arcs.view(np.uint8).reshape(len(arcs), 2 * width)
        fields[:, width : width + 4] = found.tails.view(np.uint8).reshape(len(arcs), 4)
        self._incoming = {"offsets": found.offsets, "arcs": arcs}
        self._incoming_at = pointed(INCOMING, self._incoming, {})
        self._sweep = cp.zeros(SWEEP.itemsize, np.uint8)
        self._pulling = self.store() if share.own_count else None

    @abstractmethod
    def store(self) -> Call:
        """Put the incoming arcs, which are in rows, into the method's own storage.

        Returns the kernel that takes rounds there, with what others do not take kept.
        """

    def start(self, source: int | None, windows: Windows, cutoff: float, *, record: bool) -> None:
        super().start(source, windows, cutoff, record=False)
        self._begin()
        begun = np.zeros(1, SWEEP)
        begun["changed"][0, 0] = source is not None
        with self._stream:
            self._sweep.set(begun.view(np.uint8))

    def relax(self, limit: float) -> float:
        with self._stream:
            distances = self._arrays["distance"]
            if self._pulling is not None:
                self._pulling.launch(
                    self._stream,
                    incoming=self._incoming_at,
                    distances=distances.data.ptr,
                    control=self._control.data.ptr,
                    sweep=self._sweep.data.ptr,
                    cutoff=self._cutoff,
                    own=self._share.own_count,
                    max_rounds=SLICE_ROUNDS,
                )
            seen = self._sweep.get().view(SWEEP)[0]
            done = int(seen["rounds"])
            left = bool(seen["changed"][done % 3])
            self.counters = Counters(
                relaxations=int(seen["relaxations"]),
                steps=done,
                slices=self.counters.slices + int(done > self.counters.steps),
                overflowed=bool(seen["overflowed"]),
            )
            return float(distances.min()) if left else np.inf

    def by_the_grid(self, name: str, **besides: Any) -> Call:
        """A kernel by as many blocks as run at once, and no more than are of use.

        Args:
            name: of the kernel.
            besides: the type of what others do not take, by name.
        """
        kernel = self._pull_kernels[name].kernel
        fit = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.ptr, BLOCK, 0)
        grid = self._processors * min(fit, BLOCKS_PER_PROCESSOR)
        return Call(kernel, grid, BLOCK, pulling(self._type) | besides)


class CsrCuda(PullCuda):
    """In compressed sparse rows."""

    def store(self) -> Call:
        degree = len(self._share.heads) / self._share.own_count
        call = self.by_the_grid("pull_csr", lanes=NUMBER)
        call.keep(lanes=4 if degree < SPARSE else 32)
        return call


class EllCuda(PullCuda):
    """In equally many slots a vertex."""

    def store(self) -> Call:
        own = self._share.own_count
        width = int(cp.diff(self._incoming["offsets"]).max())
        if too_uneven(width, own, len(self._share.heads)):
            raise InputError(
                f"a vertex has {width:,} incoming arcs: ELL storage would have more than "
                f"{SLOTS_AN_ARC} slots an arc; use --algorithm csr-bellman-ford"
            )
        self._incoming["slots"] = cp.empty(max(width * own, 1), self._arc_type())
        self._incoming_at = pointed(INCOMING, self._incoming, {"width": width})
        slots, grid = self._incoming["slots"], self._processors * 4
        state = (self._incoming_at, slots, np.uint32(own))
        self._pull_kernels["fill_slots"]((grid,), (BLOCK,), state)
        return self.by_the_grid("pull_ell")


class DenseCuda(PullCuda):
    """In a matrix, as much of it in shared memory as fits."""

    def store(self) -> Call:
        own, kernel = self._share.own_count, self._pull_kernels["pull_dense"]
        if too_dense(own):
            raise InputError(
                f"a matrix of {own:,} vertices is too large (at most {WIDEST_MATRIX:,}); use "
                "--algorithm csr-bellman-ford"
            )
        self._incoming["matrix"] = cp.full(own * own, self._nothing, self._type)
        matrix, grid = self._incoming["matrix"], self._processors * 4
        state = (self._incoming_at, matrix, np.uint32(own))
        self._pull_kernels["fill_matrix"]((grid,), (BLOCK,), state)
        room = runtime.getDeviceProperties(self._gpu.id)["sharedMemPerBlockOptin"]
        row = own * self._type.itemsize
        rows = min((room - 1024) // row - 1, -(-own // self._processors))
        shared = (rows + 1) * row
        kernel.max_dynamic_shared_size_bytes = shared
        self._incoming_at = pointed(INCOMING, self._incoming, {"staged": rows})
        return Call(kernel.kernel, self._processors, WIDE_BLOCK, pulling(self._type), shared)
