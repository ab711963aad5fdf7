"""The steps of blocked Floyd–Warshall on rows of a matrix: ``kernels/multi_source/floyd.cu``."""

from __future__ import annotations

from typing import Any, Protocol

import cupy as cp
import numpy as np

from groute_py.device.cuda.multi_source.download import PIECE_BYTES
from groute_py.device.cuda.multi_source.graph import BLOCK

TILE, SQUARE = 128, 256
"""Side of a tile, and the threads that work on one."""

NONE_SPARED = 0xFFFFFFFF
"""More than there are row tiles."""


class MatrixGraph(Protocol):
    """A graph on the GPU whose matrix can be closed by `ALL_PAIRS`, such as a `CudaGraph`."""

    @property
    def vertex_count(self) -> int: ...
    @property
    def type(self) -> np.dtype[Any]: ...
    @property
    def offsets(self) -> Any: ...
    @property
    def arcs(self) -> Any: ...
    @property
    def kernels(self) -> dict[str, Any]: ...


class Steps:
    """Steps on rows of the matrix: whole tiles, so that no kernel looks for the edge."""

    def __init__(self, graph: MatrixGraph, stream: Any) -> None:
        self.graph, self.stream = graph, stream
        self.tiles = max(-(-graph.vertex_count // TILE), 1)
        self.pitch = self.tiles * TILE
        self.row_bytes = self.pitch * graph.type.itemsize

    @property
    def matrix_bytes(self) -> int:
        """Bytes of the whole matrix on a GPU, with the buffers of rows for the host."""
        return (self.pitch + TILE) * self.row_bytes + 6 * PIECE_BYTES + 8 * self.row_bytes

    def begin(self, matrix: Any, first: int) -> None:
        """Fill rows, those of the vertices from ``first`` on, with arcs."""
        graph = self.graph
        numbers = np.uint32(first), np.uint32(graph.vertex_count)
        self.run(
            "floyd_begin",
            (len(matrix),),
            BLOCK,
            (matrix, np.uint64(self.pitch), graph.offsets, graph.arcs, *numbers),
        )

    def close(self, rows: Any, first: int, stages: Any = None) -> None:
        """Let rows go through their own vertices; ``stages`` (uint16) get last changes, from 1."""
        panel = cp.empty((len(rows), TILE), self.graph.type)
        narrow = np.uint64(TILE)
        for top in range(0, len(rows), TILE):
            at = first + top
            panel[...] = rows[:, at : at + TILE]
            own = slice(top, top + TILE)
            pivot, closed = rows[own], panel[own]
            self.run(
                "floyd_close",
                (1,),
                SQUARE,
                (pivot[:, at:], np.uint64(self.pitch), closed, narrow),
            )
            noting_own: tuple[Any, ...] = ()
            noting: tuple[Any, ...] = ()
            if stages is not None:
                stage = np.uint32(at // TILE + 1)
                noting_own, noting = (stages[own], stage), (stages, stage)
            self._through(pivot, closed, pivot, NONE_SPARED, *noting_own)
            self._through(rows, panel, pivot, top // TILE, *noting)

    def through(self, rows: Any, onward: Any, first: int) -> None:
        """Let rows go through the vertices of other rows, ``onward``, which are closed."""
        self._through(rows, rows[:, first : first + len(onward)].copy(), onward, NONE_SPARED)

    def leave(self, matrix: Any, which: Any, rows: Any) -> None:
        """Copy the rows number ``which``, as they leave: unreached, and without padding."""
        numbers = np.uint64(self.pitch), which, rows, np.uint32(self.graph.vertex_count)
        self.run("floyd_rows", (len(rows),), BLOCK, (matrix, *numbers))

    def greatest(self, matrix: Any) -> float:
        """The greatest distance in some rows."""
        distance = cp.zeros(1, self.graph.type)
        self.run("floyd_greatest", (len(matrix),), BLOCK, (matrix, np.uint64(self.pitch), distance))
        return float(distance.get()[0])

    def run(self, name: str, grid: tuple[int, ...], block: int, arguments: tuple[Any, ...]) -> None:
        """Launch a kernel in the current stream."""
        self.graph.kernels[name](grid, (block,), arguments)

    def _through(self, rows: Any, to_middle: Any, onward: Any, spared: int, *noting: Any) -> None:
        tall = len(rows) // TILE - (spared != NONE_SPARED)
        if tall == 0:
            return
        pitches = np.uint64(self.pitch), np.uint64(to_middle.shape[1])
        counts = np.uint32(len(onward)), np.uint32(spared)
        self.run(
            "floyd_through_noting" if noting else "floyd_through",
            (self.tiles, tall),
            SQUARE,
            (rows, pitches[0], to_middle, pitches[1], onward, *counts, *noting),
        )
