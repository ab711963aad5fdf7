"""A whole graph on one GPU, with the kernels for many sources."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import cupy as cp
import numpy as np
from cupy.cuda import runtime

from groute_py.device.cuda.graph.csr import packed_arcs
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.gpu import own_gpu
from groute_py.device.cuda.runtime.memory_plan import offset_type
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.graph.csr import Graph
from groute_py.graph.tails import transposed
from groute_py.kernels.source import ALL_PAIRS

BLOCK = 256
"""Threads a block of the kernels that do not say otherwise."""

KEPT = 0.9
"""Share of the free memory; the rest is the driver's."""


class CudaGraph:
    """A graph without negative weights in device memory, on the GPU of ``local_rank``.

    ``arcs`` are its offsets and packed arcs if they lie there already.
    """

    def __init__(
        self,
        graph: Graph,
        distance_type: np.dtype[Any],
        local_rank: int,
        memory_limit: int | None = None,
        arcs: tuple[Any, Any] | None = None,
    ) -> None:
        self.gpu = own_gpu(local_rank)
        properties = runtime.getDeviceProperties(self.gpu.id)
        self.processors = int(properties["multiProcessorCount"])
        self.label = f"cuda: {properties['name'].decode()} #{self.gpu.id}"
        self.vertex_count, self.arc_count = graph.vertex_count, graph.arc_count
        self.type = distance_type
        self._graph, self._limit = graph, memory_limit
        self._offset_type = offset_type(graph.arc_count)
        self.kernels = kernels_of(ALL_PAIRS, distance_type, graph.arc_count)
        self.offsets, self.arcs = arcs or (
            to_device(graph.offsets, self._offset_type),
            packed_arcs(graph.heads, graph.weights, distance_type),
        )

    @property
    def free_bytes(self) -> int:
        """Bytes that may still be allocated."""
        return free_bytes(self._limit)

    @property
    def incoming_bytes(self) -> int:
        """Bytes of `incoming`: as many as of the graph itself."""
        return int(self.offsets.nbytes + self.arcs.nbytes)

    @cached_property
    def incoming(self) -> tuple[Any, Any]:
        """Offsets and arcs of the transposed graph."""
        graph = self._graph
        offsets, tails, weights = transposed(graph.offsets, graph.heads, graph.weights)
        return (
            to_device(offsets, self._offset_type),
            packed_arcs(tails, weights, self.type),
        )

    def find_parents(self, sources: Any, rows: Any, parents: Any) -> None:
        """Fill ``parents``, int32, for rows of exact distances; all are on the device."""
        arguments = (*self.incoming, np.uint32(self.vertex_count), sources, rows, parents)
        self.kernels["find_parents"]((len(sources),), (BLOCK,), arguments)


def free_bytes(limit: int | None) -> int:
    """Bytes that may still be allocated on the current GPU, where ``limit`` are allowed in all."""
    pool = cp.get_default_memory_pool()
    free = int(KEPT * runtime.memGetInfo()[0]) + int(pool.free_bytes())
    return free if limit is None else min(free, limit - int(pool.used_bytes()))
