"""All pairs on one GPU by blocked Floyd–Warshall; ``kernels/floyd.cu`` says how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda_graph import BLOCK, CudaGraph
from groute_py.device.cuda_leaving import PIECE_BYTES, leaving
from groute_py.device.rows import RowBlock, refuse_narrow, surely_fits

TILE, SQUARE = 128, 256
"""Side of a tile, and the threads that work on one."""

NONE_SPARED = 0xFFFFFFFF
"""More than there are row tiles."""


class Steps:
    """What can be done to rows of the matrix: whole tiles, so that no kernel looks for the edge.

    Args:
        graph: on the GPU.
        stream: that everything is done in.
    """

    def __init__(self, graph: CudaGraph, stream: Any) -> None:
        self.graph, self.stream = graph, stream
        self.tiles = max(-(-graph.vertex_count // TILE), 1)
        self.pitch = self.tiles * TILE
        self.row_bytes = self.pitch * graph.type.itemsize

    def begin(self, matrix: Any, first: int) -> None:
        """Fill rows, those of the vertices from ``first`` on, with arcs."""
        graph = self.graph
        numbers = np.uint32(first), np.uint32(graph.vertex_count)
        self._run(
            "floyd_begin",
            (len(matrix),),
            BLOCK,
            (matrix, np.uint64(self.pitch), graph.offsets, graph.arcs, *numbers),
        )

    def close(self, rows: Any, first: int) -> None:
        """Let rows go through their own vertices, those from ``first`` on."""
        panel = cp.empty((len(rows), TILE), self.graph.type)
        narrow = np.uint64(TILE)
        for top in range(0, len(rows), TILE):
            at = first + top
            panel[...] = rows[:, at : at + TILE]
            pivot, closed = rows[top : top + TILE], panel[top : top + TILE]
            self._run(
                "floyd_close",
                (1,),
                SQUARE,
                (pivot[:, at:], np.uint64(self.pitch), closed, narrow),
            )
            self._through(pivot, closed, pivot, NONE_SPARED)
            self._through(rows, panel, pivot, top // TILE)

    def through(self, rows: Any, onward: Any, first: int) -> None:
        """Let rows go through the vertices of other rows, ``onward``, which are closed."""
        self._through(rows, rows[:, first : first + len(onward)].copy(), onward, NONE_SPARED)

    def leave(self, matrix: Any, which: Any, rows: Any) -> None:
        """Copy the rows number ``which``, as they leave: unreached, and without padding."""
        numbers = np.uint64(self.pitch), which, rows, np.uint32(self.graph.vertex_count)
        self._run("floyd_rows", (len(rows),), BLOCK, (matrix, *numbers))

    def greatest(self, matrix: Any) -> float:
        """The greatest distance in some rows."""
        found = cp.zeros(1, self.graph.type)
        self._run("floyd_greatest", (len(matrix),), BLOCK, (matrix, np.uint64(self.pitch), found))
        return float(found.get()[0])

    def _through(self, rows: Any, to_middle: Any, onward: Any, spared: int) -> None:
        tall = len(rows) // TILE - (spared != NONE_SPARED)
        if tall == 0:
            return
        pitches = np.uint64(self.pitch), np.uint64(to_middle.shape[1])
        self._run(
            "floyd_through",
            (self.tiles, tall),
            SQUARE,
            (
                rows,
                pitches[0],
                to_middle,
                pitches[1],
                onward,
                np.uint32(len(onward)),
                np.uint32(spared),
            ),
        )

    def _run(
        self, name: str, grid: tuple[int, ...], block: int, arguments: tuple[Any, ...]
    ) -> None:
        self.graph.kernels[name](grid, (block,), arguments)


def matrix_bytes(graph: CudaGraph) -> int:
    """What the whole matrix takes on a GPU, and its rows on their way to the host."""
    steps = Steps(graph, None)
    return (steps.pitch + TILE) * steps.row_bytes + 6 * PIECE_BYTES + 8 * steps.row_bytes


class CudaFloyd:
    """See `groute_py.device.rows.RowSolver`: the whole matrix lies on the GPU.

    All rows are solved for, whichever are asked for.

    Args:
        graph: on the GPU.
        greatest_weight: of the graph.
        predecessors: whether to find them.
    """

    def __init__(self, graph: CudaGraph, greatest_weight: float, *, predecessors: bool) -> None:
        self._graph, self._predecessors = graph, predecessors
        self._greatest_weight = greatest_weight
        self._steps = Steps(graph, cp.cuda.Stream(non_blocking=True))
        if predecessors:
            _ = graph.incoming
        self.label = f"{graph.label}, whole matrix"

    def blocks(self, sources: NDArray[np.int64]) -> Iterator[RowBlock]:
        steps = self._steps
        self._graph.gpu.synchronize()
        with steps.stream:
            matrix = cp.empty((steps.pitch, steps.pitch), self._graph.type)
            steps.begin(matrix, 0)
            steps.close(matrix, 0)
            if not surely_fits(self._graph.vertex_count, self._greatest_weight, self._graph.type):
                refuse_narrow(steps.greatest(matrix), self._greatest_weight, self._graph.type)

            def take(_: NDArray[np.int64], which: Any, rows: Any) -> None:
                steps.leave(matrix, which, rows)

        yield from leaving(self._graph, steps.stream, sources, take, self._predecessors)
