"""Least-cost distances on a raster, on a GPU: the kernels of ``kernels/grid/``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.gpu import GpuContext
from groute_py.device.cuda.runtime.launch import Kernels, Repeated, resident_blocks
from groute_py.device.cuda.runtime.short_memory import within_memory
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.device.cuda.runtime.transfer import to_device, to_host
from groute_py.device.grid import GridProblem, check_directions, check_sources
from groute_py.kernels.cpu.grid import NO_DIRECTION
from groute_py.kernels.source import BLOCK, GRID
from groute_py.kernels.structs import struct

SIDE = 32
"""Cells of a tile's side."""

ROUNDS_AT_ONCE = 32
"""Rounds before the host looks whether they were the last."""


class RasterGrid:
    """A `groute_py.device.grid.Grid` on a GPU."""

    def __init__(self, problem: GridProblem) -> None:
        self._gpu = GpuContext(cp.cuda.Device().id)
        self._problem, kind = problem, problem.kind
        self._shape, self._count = problem.friction.shape, problem.friction.size
        self._gpu.use()
        self._kernels = Kernels(kernels_of(GRID, kind, 0), BLOCK)
        with self._room("the raster"):
            self._friction = to_device(problem.friction.reshape(-1), kind)
            self._distances = cp.full(self._count, np.inf, kind)
            self._sources = cp.asarray(problem.sources)
            own = self._friction[self._sources].get()
            check_sources(
                problem, np.flatnonzero(~((own >= problem.least_friction) & (own < np.inf)))
            )
            arrays = {"friction": self._friction, "distance": self._distances}
            names = "half_x", "half_y", "half_diagonal"
            halves = dict(zip(names, problem.halves.tolist(), strict=True))
            numbers = {"rows": self._shape[0], "columns": self._shape[1], **halves}
            numbers |= {"cutoff": problem.cutoff, "least": problem.least_friction}
            self._raster = pointed(struct(GRID, "Raster", kind), arrays, numbers)
            self._solve()
        if problem.cutoff < np.inf:
            self._run("forget_beyond", self._raster)

    def _solve(self) -> None:
        """Relax tiles until none is pending."""
        kind, (rows, columns) = self._problem.kind, (-(-n // SIDE) for n in self._shape)
        tiles, layout = rows * columns, struct(GRID, "Rounds", kind)
        arrays = {
            "key": cp.full(2 * tiles, np.inf, kind),
            "list": cp.empty(2 * tiles, np.uint32),
            "listed": cp.zeros(tiles, np.uint32),
        }
        pending = pointed(struct(GRID, "Tiles"), arrays, {"columns": columns, "count": tiles})
        state = np.zeros(1, layout)
        state["least"], state["width"] = np.inf, self._problem.bucket_width(SIDE)
        rounds = cp.asarray(state.view(np.uint8))
        count = len(self._sources)
        words = self._raster, pending, rounds
        self._kernels.run("seed_tiles", count, *words, self._sources, np.uint32(count))
        blocks = min(
            tiles,
            self._gpu.processors * resident_blocks(self._kernels["relax_tiles"].kernel, BLOCK),
        )

        def relax() -> None:
            for _ in range(ROUNDS_AT_ONCE):
                self._kernels["relax_tiles"]((blocks,), (BLOCK,), words)

        repeated = Repeated(relax)
        while True:
            repeated()
            if not rounds.get().view(layout)["count"].any():
                return

    def distances(self) -> Any:
        return self._distances.reshape(self._shape)

    def directions(self) -> Any:
        with self._room("directions"):
            codes, counts = cp.full(self._count, NO_DIRECTION, np.uint8), cp.empty(2, np.uint32)
        codes[self._sources] = 0

        def find(turn: int) -> list[int]:
            counts.fill(0)
            self._run("find_directions", self._raster, codes, counts, np.uint32(turn))
            doubts, left = counts.get().tolist()
            return [doubts, left]

        check_directions(find)
        self._codes = codes
        return codes.reshape(self._shape)

    def allocation(self) -> Any:
        with self._room("an allocation"):
            labels, left = cp.full(self._count, -1, np.int32), cp.ones(1, np.uint32)
        labels[self._sources] = cp.asarray((-2 - self._problem.numbers).astype(np.int32))
        self._run("label_cells", self._codes, labels, *map(np.uint32, self._shape))
        while left.get()[0]:
            left.fill(0)
            self._run("follow_labels", labels, np.uint32(self._count), left)
        return cp.subtract(-2, labels, out=labels).reshape(self._shape)  # -1 becomes -1

    def on_host(self, values: Any) -> NDArray[Any]:
        return to_host(values.reshape(-1)).reshape(self._shape)

    def _run(self, name: str, *words: Any) -> None:
        self._kernels.run(name, min(self._count, 1 << 30), *words)

    def _room(self, what: str) -> Any:
        remedy = "take a part of it, or device='cpu'"
        return within_memory(what, self._gpu.label, remedy)
