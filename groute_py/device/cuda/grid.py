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
from groute_py.device.grid import ROUNDS_AT_ONCE, GridProblem
from groute_py.kernels.cpu.grid import NO_DIRECTION
from groute_py.kernels.source import BLOCK, GRID
from groute_py.kernels.structs import struct

SIDE = 32
"""Cells of a tile's side."""


class RasterGrid:
    """A `groute_py.device.grid.Grid` on a GPU; without a local rank on the current one."""

    def __init__(self, problem: GridProblem, local_rank: int | None) -> None:
        self._gpu = GpuContext(cp.cuda.Device().id if local_rank is None else local_rank)
        self._problem, kind = problem, problem.kind
        self._gpu.use()
        self._kernels = Kernels(kernels_of(GRID, kind, 0), BLOCK)
        rows, columns = problem.friction.shape
        first, last, _ = problem.own.indices(rows)
        self._own = np.uint32(first * columns), np.uint32(last * columns)
        with self._room("the raster"):
            self._friction = to_device(problem.friction.reshape(-1), kind)
            self.distances = cp.full((rows, columns), np.inf, kind)
            self._sources = cp.asarray(problem.sources)
            arrays = {"friction": self._friction, "distance": self.distances}
            names = "half_x", "half_y", "half_diagonal"
            numbers = {"rows": rows, "columns": columns}
            numbers |= dict(zip(names, problem.halves.tolist(), strict=True))
            numbers |= {"cutoff": problem.cutoff, "least": problem.least_friction}
            self._raster = pointed(struct(GRID, "Raster", kind), arrays, numbers)
            self._set_up_rounds(-(-rows // SIDE), -(-columns // SIDE))

    def _set_up_rounds(self, rows: int, columns: int) -> None:
        """Make room for tiles that are pending."""
        kind, tiles = self._problem.kind, rows * columns
        self._tiles = {
            "key": cp.full(2 * tiles, np.inf, kind),
            "list": cp.empty(2 * tiles, np.uint32),
            "listed": cp.zeros(tiles, np.uint32),
        }
        numbers = {"columns": columns, "count": tiles}
        pending = pointed(struct(GRID, "Tiles"), self._tiles, numbers)
        self._layout = struct(GRID, "Rounds", kind)
        state = np.zeros(1, self._layout)
        state["round"], state["least"] = 1, np.inf
        state["width"] = self._problem.bucket_width(SIDE)
        self._rounds = cp.asarray(state.view(np.uint8))
        self._words = self._raster, pending, self._rounds
        kernel, words = self._kernels["relax_tiles"], self._words
        blocks = min(tiles, self._gpu.processors * resident_blocks(kernel.kernel, BLOCK))

        def relax() -> None:
            for _ in range(ROUNDS_AT_ONCE):
                kernel((blocks,), (BLOCK,), words)

        self._relax = Repeated(relax)

    def blocked(self) -> NDArray[np.int64]:
        friction = self._friction[self._sources].get()
        return np.flatnonzero(~((friction >= self._problem.least_friction) & (friction < np.inf)))

    def lower(self, cells: NDArray[np.int64], values: NDArray[Any]) -> None:
        words = cp.asarray(cells), cp.asarray(values), np.uint32(len(cells))
        self._kernels.run("lower_cells", len(cells), *self._words, *words)

    def relax(self) -> bool:
        self._relax()
        return bool(self._rounds.get().view(self._layout)["count"].any())

    def forget_beyond(self) -> None:
        if self._problem.cutoff < np.inf:
            self._run("forget_beyond", self._raster)

    def find_directions(self, turn: int) -> tuple[int, int]:
        if turn == 0:
            with self._room("directions"):
                self.codes = cp.full(self.distances.shape, NO_DIRECTION, np.uint8)
                self._counts = cp.empty(2, np.uint32)
            self.codes.reshape(-1)[self._sources] = 0
        self._counts.fill(0)
        words = self.codes, self._counts, np.uint32(turn)
        self._run("find_directions", self._raster, *words, *self._own)
        doubts, left = self._counts.get().tolist()
        return doubts, left

    def allocation(self, cells: NDArray[np.int64], numbers: NDArray[np.int32]) -> Any:
        with self._room("an allocation"):
            labels, left = cp.full(self.codes.size, -1, np.int32), cp.ones(1, np.uint32)
            labels[cp.asarray(cells)] = cp.asarray(-2 - numbers)
        columns = np.uint32(self.codes.shape[1])
        self._run("label_cells", self.codes, labels, columns, *self._own)
        while left.get()[0]:
            left.fill(0)
            self._run("follow_labels", labels, np.uint32(self.codes.size), left)
        return cp.subtract(-2, labels, out=labels).reshape(self.codes.shape)  # -1 becomes -1

    def put_row(self, values: Any, row: int, new: NDArray[Any]) -> None:
        values[row].set(new)

    def on_host(self, values: Any) -> NDArray[Any]:
        return to_host(values.reshape(-1)).reshape(values.shape)

    def _run(self, name: str, *words: Any) -> None:
        self._kernels.run(name, min(self.distances.size, 1 << 30), *words)

    def _room(self, what: str) -> Any:
        remedy = "take a part of it, more GPUs (mpirun), or device='cpu'"
        return within_memory(what, self._gpu.label, remedy)
