"""Rows from many sources on one GPU: each by a block or a warp, hundreds at once.

Sources go in chunks through several lanes, each with a stream and rows of its own. While the rows
of one lane travel to page-locked host memory, piece by piece, the others compute; blocks of a lane
begin as those of the lanes before run out of sources.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import cupy as cp
import numpy as np
from cupy.cuda import driver
from numpy.typing import NDArray

from groute_py.device.base import bound_within, within
from groute_py.device.cuda.multi_source.download import Download, TargetColumns, in_turn
from groute_py.device.cuda.multi_source.graph import CudaGraph
from groute_py.device.cuda.multi_source.summary import MOST_ROWS, CudaSummaries, Pending
from groute_py.device.cuda.runtime.reach import CudaReach, RowReaches
from groute_py.device.cuda.sssp.device import CudaDevice
from groute_py.device.rows import NarrowError, RowBlock
from groute_py.device.summary import Summary, Wanted
from groute_py.errors import InputError
from groute_py.graph.csr import Graph
from groute_py.system.clock import span

T = TypeVar("T")

SMALL_BATCH_BLOCK, BATCH_BLOCK, HEAP_BLOCK = 512, 1024, 64
"""Threads of a block that has a source, on a small graph and else; and of one that has heaps."""

WARP = 32

BRANCHES = 32
"""Branches of a heap, which has a warp to itself."""

SMALL = 1 << 14
"""Vertices up to which a graph is small: its frontiers do not fill a large block."""

LANES = 8
"""Chunks in flight at once, if memory allows."""

SHARED_MARKS = 100 << 10
"""Bytes of marks up to which they lie in shared memory, so that two blocks fit."""

PIECE_BYTES = 16 << 20
"""Rows on their way to the host, in one go."""

COLUMN_BYTES = 4 << 20
"""The same of columns, which lie in device memory once more: two pieces in each lane."""

CHUNK_BYTES = 16 << 20
"""Rows of a lane at least, for a launch to be worth it."""


@dataclass(frozen=True)
class Method:
    """The needs of a source while it is solved."""

    kernel: str
    threads: int
    together: int  # sources that a block has at once
    scratch: tuple[int, ...]  # bytes of each array, for each source in flight
    shared: int = 0  # bytes of dynamic shared memory of a block


def batch_method(graph: CudaGraph) -> Method:
    """Near–far by a block for each source."""
    threads = SMALL_BATCH_BLOCK if graph.vertex_count <= SMALL else BATCH_BLOCK
    lists = 8 * graph.vertex_count
    marks = 8 * ((graph.vertex_count + 31) // 32)
    if marks <= SHARED_MARKS:
        return Method("batch", threads, 1, (lists, 0), marks)
    return Method("batch", threads, 1, (lists, marks))


def heap_method(graph: CudaGraph) -> Method:
    """Dijkstra by a heap and a table for each source; children begin a line of memory."""
    lines = -(-(graph.vertex_count + BRANCHES - 1) // BRANCHES)
    width = 2 * graph.type.itemsize
    scratch = BRANCHES * lines * width, graph.vertex_count * width
    return Method("heap", HEAP_BLOCK, HEAP_BLOCK // WARP, scratch)


def rows_on(
    device: CudaDevice,
    graph: Graph,
    delta: float,
    local_rank: int,
    memory_limit: int | None,
    cutoff: float,
) -> CudaRows | None:
    """Return batches on the arcs that a device has loaded; None if they do not suit or fit."""
    loaded = device.parts.graph
    if loaded.terms.ranks > 1 or loaded.terms.pulls:
        return None
    arcs = loaded.arrays["offsets"], loaded.arrays["arcs"]
    on_gpu = CudaGraph(graph, loaded.type, local_rank, memory_limit, arcs)
    try:
        method = batch_method(on_gpu)
        return CudaRows(on_gpu, method, delta, predecessors=False, cutoff=cutoff)
    except InputError:
        return None


class CudaRows:
    """A `RowSolver` of ``slots`` sources in flight a lane, with ``beside`` more bytes for each."""

    def __init__(
        self,
        graph: CudaGraph,
        method: Method,
        delta: float,
        *,
        predecessors: bool,
        beside: int = 0,
        cutoff: float = math.inf,
    ) -> None:
        self._beside, self.cutoff = beside, cutoff if method.kernel == "batch" else math.inf
        self._graph, self._method, self._predecessors = graph, method, predecessors
        self._delta = within(delta, graph.type)
        self._kernel = graph.kernels[method.kernel]
        if method.shared:
            self._kernel.max_dynamic_shared_size_bytes = method.shared
        if predecessors:
            _ = graph.incoming
        self._lanes, self.slots = self._fitting_slots()
        self.label = f"{graph.label}, {self._lanes} times {self.slots} sources under way"

    def blocks(
        self, sources: NDArray[np.int64], targets: NDArray[np.int64] | None = None
    ) -> Iterator[RowBlock]:
        columns = None if targets is None else TargetColumns(targets)
        width = self._graph.vertex_count if targets is None else len(targets)

        def drained(lane: Lane, first: int) -> Iterator[RowBlock]:
            yield from self._drain(lane, first, columns, width)

        yield from self.solved(sources, self._find_parents, drained)

    def blocks_on_gpu(self, sources: NDArray[np.int64]) -> Iterator[RowBlock]:
        """Yield whole rows as `blocks` does, but of CuPy's arrays."""

        def drained(lane: Lane, first: int) -> Iterator[RowBlock]:
            if lane.has_overflowed():
                raise NarrowError
            parents = lane.parents()[: lane.count] if self._predecessors else None
            yield RowBlock(first, lane.rows[: lane.count], parents)

        yield from self.solved(sources, self._find_parents, drained)

    def _find_parents(self, lane: Lane) -> None:
        if self._predecessors:
            self._graph.find_parents(lane.sources, lane.rows, lane.parents())

    def summaries(self, sources: NDArray[np.int64], wanted: Wanted) -> Iterator[Summary]:
        graph, pending = self._graph, dict[Lane, Pending]()
        asked = CudaSummaries(graph.type, graph.vertex_count, wanted)

        def then(lane: Lane) -> None:
            pending[lane] = Pending(asked, lane.rows[: lane.count], lane.where)

        def drained(lane: Lane, first: int) -> Iterator[Summary]:
            if lane.has_overflowed():
                raise NarrowError
            with lane.stream:
                summary = pending[lane].result(first)
            yield summary

        yield from self.solved(sources, then, drained)

    def reaches(self, sources: NDArray[np.int64]) -> Iterator[RowReaches]:
        """Yield the vertices within the cutoff of some sources, a lane's at a time, in order.

        For `batch_method`. `NarrowError` if every distance is wanted and one does not fit.
        """
        counted = dict[Lane, CudaReach]()

        def then(lane: Lane) -> None:
            counted[lane] = CudaReach(lane.rows[: lane.count], lane.bound)

        def drained(lane: Lane, _: int) -> Iterator[RowReaches]:
            with span("solve"):  # until this lane has
                has_overflowed = lane.has_overflowed()
            if has_overflowed:
                raise NarrowError
            with lane.stream, span("download"):
                reaches = counted[lane].on_host()
            yield reaches

        yield from self.solved(sources, then, drained)

    def solved(
        self,
        sources: NDArray[np.int64],
        then: Callable[[Lane], None],
        drained: Callable[[Lane, int], Iterator[T]],
    ) -> Iterator[T]:
        """Solve in lanes: ``then`` enqueues work behind a lane's solves, ``drained`` ends it."""
        if len(sources) == 0:
            return
        rows = self._chunk_rows(len(sources))
        starts = range(0, len(sources), rows)
        slots = -(-min(self.slots, rows) // self._method.together) * self._method.together
        bound = bound_within(self.cutoff, self._graph.type)
        lanes = [Lane(self._graph, self._method, slots, rows, bound) for _ in starts[: self._lanes]]
        self._graph.gpu.synchronize()
        try:
            for lane, start in zip(lanes, starts, strict=False):
                self._launch(lane, sources[start : start + rows], then)
            for number, start in enumerate(starts):
                lane = lanes[number % len(lanes)]
                yield from drained(lane, start)
                for following in starts[number + len(lanes) : number + len(lanes) + 1]:
                    self._launch(lane, sources[following : following + rows], then)
        finally:
            self._graph.gpu.synchronize()  # what lanes under way work on may be freed now

    def _row_bytes(self) -> int:
        return int(self._graph.vertex_count * self._entry_bytes())

    def _entry_bytes(self) -> int:
        """Bytes of a distance, and of a predecessor if there are any."""
        return int(self._graph.type.itemsize + 4 * self._predecessors)

    def _fitting_slots(self) -> tuple[int, int]:
        """Lanes, and sources that each has in flight, as processors take them and memory allows."""
        method, free = self._method, self._graph.free_bytes
        each = sum(method.scratch) + self._row_bytes() + self._beside
        blocks = free // each // method.together
        if blocks < 1:
            raise InputError(
                f"{method.together} sources at once, the fewest that {method.kernel} takes, do not "
                f"fit on {self._graph.label}: each needs {each:,} bytes beside the graph, and "
                f"{max(free, 0):,} are free"
            )
        lanes = min(blocks, LANES)
        resident: int = driver.occupancyMaxActiveBlocksPerMultiprocessor(
            self._kernel.kernel.ptr, method.threads, method.shared
        )
        # half of the lanes fill the processors, so that others are there when their blocks end
        most = -(-resident * self._graph.processors // (LANES // 2))
        return lanes, min(blocks // lanes, most) * method.together

    def _chunk_rows(self, count: int) -> int:
        """Rows of a lane: one for each slot, or more where rows are short and memory allows.

        All rounds get as many: a few sources left over would take as long as a whole round.
        """
        scratch = sum(self._method.scratch) + self._beside
        spare = self._graph.free_bytes // self._lanes - self.slots * scratch
        rows = min(CHUNK_BYTES // self._row_bytes(), spare // self._row_bytes())
        most = min(max(int(rows), self.slots), MOST_ROWS)
        rounds = -(-count // (most * self._lanes))
        return min(most, count) if rounds == 1 else -(-count // (rounds * self._lanes))

    def _launch(self, lane: Lane, sources: NDArray[np.int64], then: Callable[[Lane], None]) -> None:
        graph, method = self._graph, self._method
        with lane.stream:
            lane.begin(sources)
            counts: tuple[Any, ...] = (np.uint32(graph.vertex_count),)
            if method.kernel == "batch":
                counts = (*counts, self._delta, lane.bound)
            arguments = (graph.offsets, graph.arcs, *counts, lane.sources, np.uint32(len(sources)))
            blocks = -(-min(self.slots, len(sources)) // method.together)
            self._kernel(
                (blocks,),
                (method.threads,),
                (*arguments, lane.rows, *lane.scratch, lane.counter, lane.overflowed),
                shared_mem=method.shared,
            )
            then(lane)

    def _drain(
        self, lane: Lane, first: int, columns: TargetColumns | None, width: int
    ) -> Iterator[RowBlock]:
        """Bring rows of a lane, or ``width`` columns, to the host by overlapping pieces."""
        if lane.has_overflowed():
            raise NarrowError
        most = PIECE_BYTES if columns is None else COLUMN_BYTES
        step = max(most // (width * self._entry_bytes()), 1)
        arrays = [lane.rows, lane.parents()] if self._predecessors else [lane.rows]
        pieces = (
            (first + start, [array[start : min(start + step, lane.count)] for array in arrays])
            for start in range(0, lane.count, step)
        )
        yield from in_turn(lane.stream, pieces, lane.downloads(columns))


class Lane:
    """A stream, and memory for a chunk of sources."""

    def __init__(self, graph: CudaGraph, method: Method, slots: int, rows: int, bound: Any) -> None:
        self.stream, self.bound = cp.cuda.Stream(non_blocking=True), bound
        self.rows = cp.empty((rows, graph.vertex_count), graph.type)
        self.scratch = [_room(slots * size) for size in method.scratch]
        self.counter, self.overflowed = cp.zeros(1, np.uint32), cp.zeros(1, np.uint32)
        self.sources = cp.zeros(0, np.uint32)
        self.where: NDArray[np.int64] = np.zeros(0, np.int64)
        self._parents: Any = None
        self._downloads: tuple[Download, Download] | None = None

    @property
    def count(self) -> int:
        """Sources of the chunk."""
        return len(self.sources)

    def begin(self, sources: NDArray[np.int64]) -> None:
        """Take a chunk; in the lane's stream."""
        self.where = sources
        self.sources = cp.asarray(sources.astype(np.uint32))
        self.counter.fill(0)
        self.overflowed.fill(0)

    def parents(self) -> Any:
        """Room for the predecessors of all rows."""
        if self._parents is None:
            self._parents = cp.empty(self.rows.shape, np.int32)
        return self._parents

    def has_overflowed(self) -> bool:
        """Wait for the chunk; whether a sum did not fit."""
        with self.stream:
            return bool(self.overflowed.get()[0])

    def downloads(self, columns: TargetColumns | None) -> tuple[Download, Download]:
        """Return those of rows, or columns of these; all chunks of a lane have the same."""
        if self._downloads is None:
            self._downloads = Download(self.stream, columns), Download(self.stream, columns)
        return self._downloads


def _room(size: int) -> Any:
    """Scratch memory of a given size; none if the kernel needs none."""
    return cp.empty(size, np.uint8) if size else np.uint64(0)
