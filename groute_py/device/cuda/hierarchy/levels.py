"""A hierarchy on a GPU, as the kernels that sweep it take it, with distances within its core."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.base import unreached, widened
from groute_py.device.cuda.graph.csr import packed_arcs, places_in
from groute_py.device.cuda.multi_source.floyd.steps import Steps
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.device.rows import refuse_narrow, surely_fits
from groute_py.graph.hierarchy.hierarchy import ARRAYS, Hierarchy
from groute_py.kernels.source import ALL_PAIRS, SWEEP
from groute_py.kernels.structs import struct


@dataclass(frozen=True, eq=False)
class CoreGraph:
    """See `groute_py.device.cuda.multi_source.floyd.steps.MatrixGraph`."""

    vertex_count: int
    type: np.dtype[Any]
    offsets: Any
    arcs: Any
    kernels: dict[str, Any]


def core_distances(hierarchy: Hierarchy, distance_type: np.dtype[Any]) -> Any:
    """All distances within the core, (c, c), in the current stream; there twice while it is closed.

    `NarrowError` if a distance takes more than half of the type's range.
    """
    count = hierarchy.core_count
    rows = cp.full((count, count), unreached(distance_type), distance_type)
    if count == 0:
        return rows
    weights = hierarchy.core_weights
    graph = CoreGraph(
        count,
        distance_type,
        to_device(hierarchy.core_offsets, np.uint32),
        packed_arcs(hierarchy.core_heads, weights, distance_type),
        kernels_of(ALL_PAIRS, distance_type, 0),
    )
    steps = Steps(graph, None)
    matrix = cp.empty((steps.pitch, steps.pitch), distance_type)
    steps.begin(matrix, 0)
    steps.close(matrix, 0)
    greatest = float(weights.max()) if len(weights) else 0.0
    if not surely_fits(count, greatest, distance_type):
        refuse_narrow(steps.greatest(matrix), greatest, distance_type)
    steps.leave(matrix, cp.arange(count, dtype=np.uint32), rows)
    return rows


class CudaHierarchy:
    """Struct ``Hierarchy`` of kernels/layout/hierarchy.cuh, and the arrays it points to."""

    def __init__(
        self, hierarchy: Hierarchy, distance_type: np.dtype[Any], core: Any = None
    ) -> None:
        self.type, self.vertex_count = distance_type, hierarchy.vertex_count
        self.arc_count, self.core_count = hierarchy.arc_count, hierarchy.core_count
        self.level_count = len(hierarchy.levels) - 1
        self.is_symmetric = hierarchy.is_symmetric
        heads = hierarchy.heads
        down = packed_arcs(heads, widened(hierarchy.down, distance_type), distance_type)
        up = down
        if not hierarchy.is_symmetric:
            up = packed_arcs(heads, widened(hierarchy.up, distance_type), distance_type)
        self._arrays = {
            "levels": cp.asarray(np.array(hierarchy.levels, np.uint32)),
            "offsets": to_device(hierarchy.offsets, np.uint32),
            "down": down,
            "up": up,
            "core": core_distances(hierarchy, distance_type) if core is None else core,
            "places": places_in(to_device(hierarchy.vertices, np.int32), np.uint32),
        }
        numbers: dict[str, float] = {
            "vertices": self.vertex_count,
            "level_count": self.level_count,
            "core_count": self.core_count,
        }
        self.struct = pointed(struct(SWEEP, "Hierarchy"), self._arrays, numbers)

    @property
    def places(self) -> Any:
        """uint32, shape (n,): the place of each vertex."""
        return self._arrays["places"]


def on_gpu(hierarchy: Hierarchy) -> Hierarchy:
    """The same with CuPy's arrays."""
    arrays = {name: getattr(hierarchy, name) for name in ARRAYS}
    if hierarchy.is_symmetric:
        del arrays["up"]
    there: dict[str, Any] = {name: to_device(of, of.dtype) for name, of in arrays.items()}
    return replace(hierarchy, **{"up": there["down"]} | there)
