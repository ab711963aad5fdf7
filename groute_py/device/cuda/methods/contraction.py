"""Trees out of a contraction hierarchy on one GPU: the kernels of ``kernels/hierarchy/``."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.hierarchy.levels import CudaHierarchy
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Call, resident_blocks
from groute_py.device.cuda.runtime.pinned import begin_copy, empty_pinned
from groute_py.device.cuda.runtime.structs import offset_of
from groute_py.device.cuda.sssp.method import OneGpuMethod, SolveParts
from groute_py.device.rows import NarrowError
from groute_py.errors import InputError
from groute_py.kernels.source import BLOCK, SWEEP, WIDE_BLOCK
from groute_py.kernels.structs import arguments, struct

REPORT = struct(SWEEP, "TreeReport")


class Contraction(OneGpuMethod):
    """Searches upward, through the core, and sweeps down in one launch."""

    remedy = "use --algorithm delta-stepping, which takes less"

    def arrange(self, graph: DeviceGraph) -> None:
        self.levels = _levels_of(graph)
        if self.levels is None:
            return  # every solve says so, and the engine takes a wider type
        kernels = kernels_of(SWEEP, graph.type, graph.terms.arcs)

        def call(name: str, block: int) -> Call:
            kernel = kernels[name].kernel
            blocks = graph.gpu.processors * resident_blocks(kernel, block, most=None)
            return Call(kernel, blocks, block, arguments(SWEEP, name, graph.type))

        self._call, self._rising = call("solve_tree", WIDE_BLOCK), call("find_rising", BLOCK)
        self._by_place = cp.empty(graph.share.own_count, graph.type)
        self._report = cp.zeros(REPORT.itemsize, np.uint8)
        self._reported = empty_pinned(1, REPORT)

    def begin(self, parts: SolveParts, source: int | None) -> None:
        self._source = source

    def relax(self, parts: SolveParts, limit: float) -> float:
        levels, source = self.levels, self._source
        if levels is None:
            parts.counters.update(relaxations=0, steps=0, overflowed=True)
        elif source is not None:
            report = self._solve(parts, levels, source)
            everything = parts.kernel.cutoff == parts.graph.unreached
            parts.counters.update(
                relaxations=levels.arc_count,
                steps=levels.level_count,
                overflowed=bool(report["overflowed"]) and everything,
            )
        return np.inf

    def start_claims(self, parts: SolveParts, *, monotone: bool) -> bool:
        symmetric = self.levels is not None and self.levels.is_symmetric
        alone = parts.graph.terms.ranks == 1  # others would have to know what is found here
        source = self._source if symmetric and alone else None
        if source is not None and self._found_rising(parts, source):
            return True
        return super().start_claims(parts, monotone=monotone)

    def _found_rising(self, parts: SolveParts, source: int) -> bool:
        """Assign predecessors in a symmetric graph; whether all have one."""
        graph, arrays = parts.graph, parts.buffers.arrays
        with graph.gpu.stream as stream:
            self._rising.launch(
                stream,
                share=graph.struct,
                distances=arrays["distance"].data.ptr,
                source=source,
                parents=arrays["parent"].data.ptr,
                missing=self._report.data.ptr + offset_of(REPORT, "missing"),
            )
            return not self._fetched(stream)["missing"]

    def _solve(self, parts: SolveParts, levels: CudaHierarchy, source: int) -> Any:
        with parts.graph.gpu.stream as stream:
            self._call.launch(
                stream,
                h=levels.struct,
                by_place=self._by_place.data.ptr,
                by_vertex=parts.buffers.arrays["distance"].data.ptr,
                control=parts.buffers.control.data.ptr,
                report=self._report.data.ptr,
                source=source,
                cutoff=parts.kernel.cutoff,
            )
            return self._fetched(stream)

    def _fetched(self, stream: Any) -> Any:
        """Return the report, once all work in the stream has ended."""
        begin_copy(self._reported, self._report, stream)
        stream.synchronize()
        return self._reported[0]


def _levels_of(graph: DeviceGraph) -> CudaHierarchy | None:
    """The hierarchy of a share on the GPU; None if it needs a wider type."""
    hierarchy = graph.share.hierarchy
    assert hierarchy is not None
    if hierarchy.type.itemsize > graph.type.itemsize:
        return None
    try:
        return CudaHierarchy(hierarchy, graph.type)
    except NarrowError as problem:
        if graph.type.itemsize < np.dtype(np.int64).itemsize:
            return None
        raise InputError(
            "a distance within the core does not fit in 62 bits; use --algorithm delta-stepping"
        ) from problem
