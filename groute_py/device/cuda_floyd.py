"""All pairs on one GPU by blocked Floyd–Warshall; ``kernels/floyd.cu`` says how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy as cp
import cupyx
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda_graph import BLOCK, CudaGraph
from groute_py.device.rows import RowBlock, refuse_narrow, surely_fits

TILE, SQUARE = 128, 256
"""Side of a tile, and the threads that work on one."""

NONE_SPARED = 0xFFFFFFFF
"""More than there are row tiles."""

PIECE_BYTES = 32 << 20
"""Rows on their way to the host, in one go."""


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

            def take(piece: Any, rows: Any) -> None:
                steps.leave(matrix, piece, rows)

        yield from leaving(self._graph, steps.stream, sources, take, self._predecessors)


def leaving(
    graph: CudaGraph, stream: Any, sources: NDArray[np.int64], take: Any, predecessors: bool
) -> Iterator[RowBlock]:
    """Bring rows to the host, each piece while the one before is in use.

    ``take(which, rows)`` fills device rows with those of some sources.
    """
    row_bytes = graph.vertex_count * (graph.type.itemsize + 4 * predecessors)
    step = min(max(PIECE_BYTES // row_bytes, 1), len(sources))
    sides = [Side(graph, stream, step, predecessors) for _ in range(2)]
    starts = range(0, len(sources), step)
    for number, start in enumerate(starts):
        sides[number % 2].send(sources[start : start + step], take)
        if number:
            yield sides[(number - 1) % 2].arrived(starts[number - 1])
    if starts:
        yield sides[(len(starts) - 1) % 2].arrived(starts[-1])


class Side:
    """Rows on the device and page-locked room for them on the host; two take turns."""

    def __init__(self, graph: CudaGraph, stream: Any, rows: int, predecessors: bool) -> None:
        shape = rows, graph.vertex_count
        self._graph, self._stream, self._count = graph, stream, 0
        types = [graph.type, np.dtype(np.int32)][: 1 + predecessors]
        with stream:
            self._device = [cp.empty(shape, dtype) for dtype in types]
        self._host = [cupyx.empty_pinned(shape, dtype) for dtype in types]
        self._done = cp.cuda.Event(disable_timing=True)

    def send(self, sources: NDArray[np.int64], take: Any) -> None:
        """Begin: rows, predecessors, copies."""
        self._count = len(sources)
        with self._stream:
            which = cp.asarray(sources.astype(np.uint32))
            device = [array[: self._count] for array in self._device]
            take(which, device[0])
            if len(device) > 1:
                self._graph.find_parents(which, *device)
            for source, host in zip(device, self._host, strict=True):
                source.get(out=host[: self._count], blocking=False)
            self._done.record()

    def arrived(self, first: int) -> RowBlock:
        """Wait for what was sent."""
        self._done.synchronize()
        host = [array[: self._count] for array in self._host]
        return RowBlock(first, host[0], host[1] if len(host) > 1 else None)
