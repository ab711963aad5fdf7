"""The steps of blocked Floyd–Warshall on rows of a matrix: ``kernels/multi_source/floyd.cu``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.multi_source.download import PIECE_BYTES, FindParents, Take, downloaded
from groute_py.device.cuda.multi_source.graph import BLOCK, CudaGraph
from groute_py.device.cuda.multi_source.summary import summarized
from groute_py.device.rows import RowBlock, refuse_narrow, surely_fits
from groute_py.device.summary import Summary, Wanted

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


class MatrixRows(ABC):
    """A `RowSolver` that closes the whole matrix, whichever rows are asked for."""

    def __init__(self, graph: CudaGraph, greatest_weight: float, *, predecessors: bool) -> None:
        self._graph, self._predecessors = graph, predecessors
        self._greatest_weight = greatest_weight
        self._steps = Steps(graph, cp.cuda.Stream(non_blocking=True))

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        take, find_parents = self._closed(with_trees=self._predecessors)
        stream = self._steps.stream
        yield from downloaded(self._graph, stream, sources, targets, take, find_parents)

    def summaries(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        take, _ = self._closed(with_trees=False)
        yield from summarized(self._graph, self._steps.stream, sources, take, wanted)

    @abstractmethod
    def _closed(self, *, with_trees: bool) -> tuple[Take, FindParents | None]:
        """Close the matrix; return what takes rows of it, and what finds their predecessors."""

    def _refuse_narrow(self, greatest: Callable[[], float]) -> None:
        """Raise `NarrowError` if a distance may not fit; ``greatest`` is the greatest there is."""
        graph = self._graph
        if not surely_fits(graph.vertex_count, self._greatest_weight, graph.type):
            refuse_narrow(greatest(), self._greatest_weight, graph.type)
