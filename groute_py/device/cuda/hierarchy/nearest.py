"""Nearest facilities out of a hierarchy: the kernels of ``kernels/hierarchy/nearest.cu``."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.graph.csr import packed_arcs
from groute_py.device.cuda.hierarchy.levels import CudaHierarchy
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.gpu import label_of, own_gpu
from groute_py.device.cuda.runtime.launch import Call, Kernels, resident_blocks
from groute_py.device.cuda.runtime.memory_plan import offset_type
from groute_py.device.cuda.runtime.short_memory import within_memory
from groute_py.device.cuda.runtime.structs import control_type, pointed
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.device.cuda.sssp.device import CudaDevice
from groute_py.device.rows import NarrowError
from groute_py.graph.csr import Graph
from groute_py.graph.hierarchy.prepared import hierarchy_of, without_hierarchy
from groute_py.graph.tails import transposed
from groute_py.kernels.source import BLOCK, SWEEP, WIDE_BLOCK
from groute_py.kernels.structs import arguments, struct

DISTANCE = np.dtype(np.int32)
"""A key has room for no wider one."""

MOST_PASSES = 256
"""For paths over arcs of weight 0: each pass goes on by an arc at least."""

REPORT = struct(SWEEP, "NearestReport")


class Found(NamedTuple):
    """int64, shape (n,), on the GPU; as in `groute_py.jobs.facilities.NearestFacilities`."""

    facilities: Any
    distances: Any
    next: Any


class CudaNearest:
    """A prepared graph with 32-bit weights on a GPU, for nearest facilities in both directions.

    The arrays of a direction go there with the first use, and stay, also where the distances of
    some facilities do not fit: those of others may, and a sweep takes little beside the solve that
    then follows. They are shared with ``loaded``, which has the same graph on that GPU.
    """

    def __init__(self, graph: Graph, local_rank: int, loaded: object = None) -> None:
        self._graph, self._gpu = graph, own_gpu(local_rank)
        self._stream = cp.cuda.Stream(non_blocking=True)
        self._sweeps: dict[bool, Sweep] = {}
        self._is_narrow = False
        self._shared: tuple[CudaHierarchy, tuple[Any, Any]] | None = None
        if isinstance(loaded, CudaDevice) and loaded.levels and loaded.levels.type == DISTANCE:
            arrays = loaded.parts.graph.arrays  # now: a later solve may load it in a wider type
            self._shared = loaded.levels, (arrays["offsets"], arrays["arcs"])
        self.label = label_of(self._gpu)

    @property
    def arc_count(self) -> int:
        """Arcs upward of the hierarchy, which each solve looks at."""
        return self._levels.arc_count

    @property
    def level_count(self) -> int:
        """Levels of the hierarchy."""
        return self._levels.level_count

    def solve(self, facilities: NDArray[np.int64], *, turned: bool) -> Found | None:
        """Find the nearest facilities, the first of equals; None if 32 bits may not be enough."""
        if self._is_narrow:
            return None
        self._gpu.use()
        self._gpu.synchronize()  # the answer before may be in use where its memory is taken again
        what = f"the nearest facilities of {self._graph.vertex_count:,} vertices"
        with self._stream, within_memory(what, self.label, "use --device cpu"):
            try:
                sweep = self._sweep(turned)
            except NarrowError:
                self._is_narrow = True
                return None
            return sweep.solve(cp.asarray(facilities.astype(np.uint32)))

    def _sweep(self, turned: bool) -> Sweep:
        turned = turned and not self._levels.is_symmetric
        if turned not in self._sweeps:
            own = turned or self._levels.is_symmetric
            levels = self._turned_levels if turned else self._levels
            arcs = self._rows if own else self._transposed()
            self._sweeps[turned] = Sweep(levels, *arcs, self._gpu.attributes["MultiProcessorCount"])
            self._stream.synchronize()  # what was copied from may go
        return self._sweeps[turned]

    @cached_property
    def _levels(self) -> CudaHierarchy:
        return self._made(turned=False) if self._shared is None else self._shared[0]

    @property
    def _turned_levels(self) -> CudaHierarchy:
        return self._made(turned=True)

    def _made(self, *, turned: bool) -> CudaHierarchy:
        hierarchy = hierarchy_of(self._graph)
        assert hierarchy is not None
        if hierarchy.type != DISTANCE:
            raise NarrowError
        return CudaHierarchy(hierarchy.reversed() if turned else hierarchy, DISTANCE)

    @cached_property
    def _rows(self) -> tuple[Any, Any]:
        """Offsets and arcs of the graph."""
        if self._shared is not None:
            return self._shared[1]
        return self._packed(self._graph.offsets, self._graph.heads, self._graph.weights)

    def _transposed(self) -> tuple[Any, Any]:
        graph = without_hierarchy(self._graph).to_host()
        return self._packed(*transposed(graph.offsets, graph.heads, graph.weights))

    def _packed(self, offsets: Any, heads: Any, weights: Any) -> tuple[Any, Any]:
        offsets = to_device(offsets, offset_type(self._graph.arc_count))
        return offsets, packed_arcs(heads, weights, DISTANCE)


class Sweep:
    """One direction; all work is done in the current stream."""

    def __init__(
        self, levels: CudaHierarchy, in_offsets: Any, in_arcs: Any, processors: int
    ) -> None:
        self.levels, self._in_arcs = levels, {"in_offsets": in_offsets, "in_arcs": in_arcs}
        self._kernels = Kernels(kernels_of(SWEEP, levels.type, len(in_arcs)), BLOCK)
        kernel = self._kernels["solve_nearest"].kernel
        blocks = processors * resident_blocks(kernel, WIDE_BLOCK)
        takes = arguments(SWEEP, "solve_nearest", levels.type)
        self._call = Call(kernel, blocks, WIDE_BLOCK, takes)
        self._control = cp.zeros(control_type(levels.type).itemsize, np.uint8)
        self._report = cp.zeros(len(REPORT.names or ()), np.uint32)

    def solve(self, facilities: Any) -> Found | None:
        """See `CudaNearest.solve`; the facilities are uint32 and on the device."""
        count = self.levels.vertex_count
        by_place, keys = cp.empty(count, np.uint64), cp.empty(count, np.uint64)
        self._call.launch(
            cp.cuda.get_current_stream(),
            h=self.levels.struct,
            by_place=by_place.data.ptr,
            by_vertex=keys.data.ptr,
            facilities=facilities.data.ptr,
            count=len(facilities),
            control=self._control.data.ptr,
            report=self._report.data.ptr,
        )
        answer = Found(*(cp.empty(count, np.int64) for _ in range(3)))
        arrays = {"keys": keys, "facilities": facilities, **self._in_arcs}
        keyed = pointed(struct(SWEEP, "Keyed"), arrays, {"vertices": count})
        self._kernels.run("find_next", count, keyed, *answer, self._report)
        report = self._reported()
        if report["overflowed"]:
            return None
        return answer if self._completed(keyed, answer.next, report) else None

    def _completed(self, keyed: Any, following: Any, report: Any) -> bool:
        """Find the next vertices over arcs of weight 0; whether the passes were enough."""
        for _ in range(MOST_PASSES):
            if not report["missing"]:
                return True
            self._report.fill(0)
            self._kernels.run("find_level_next", len(following), keyed, following, self._report)
            report = self._reported()
            assert report["missing"] <= report["changed"], "a vertex has no tight arc"
        return not report["missing"]

    def _reported(self) -> Any:
        return self._report.get().view(REPORT)[0]
