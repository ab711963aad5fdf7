"""A hierarchy on a GPU, as the kernels that sweep it take it, with distances within its core."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.base import widened
from groute_py.device.cuda.graph.csr import packed_arcs
from groute_py.device.cuda.multi_source.floyd.steps import Steps
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.device.rows import refuse_narrow, surely_fits
from groute_py.graph.hierarchy.hierarchy import ARRAYS, Hierarchy
from groute_py.kernels.source import ALL_PAIRS, BLOCK, SWEEP
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
    return begin_core(hierarchy, distance_type)()


def begin_core(hierarchy: Hierarchy, distance_type: np.dtype[Any]) -> Callable[[], Any]:
    """Begin to close the core in a stream of its own; return the rest of `core_distances`.

    Arrays are uploaded meanwhile. Call the rest even if that fails: the current stream, which takes
    the memory of the matrix again, then waits.
    """
    count, weights = hierarchy.core_count, hierarchy.core_weights
    rows = cp.empty((count, count), distance_type)
    if count == 0:
        return lambda: rows
    graph = CoreGraph(
        count,
        distance_type,
        to_device(hierarchy.core_offsets, np.uint32),
        packed_arcs(hierarchy.core_heads, weights, distance_type),
        kernels_of(ALL_PAIRS, distance_type, 0),
    )
    beside = cp.cuda.Stream(non_blocking=True)
    steps = Steps(graph, None)
    matrix = cp.empty((steps.pitch, steps.pitch), distance_type)
    _let_wait(beside, cp.cuda.get_current_stream())
    try:
        with beside:
            steps.begin(matrix, 0)
            steps.close(matrix, 0)
    except BaseException:
        beside.synchronize()  # it writes to what is taken again
        raise

    def end() -> Any:
        _let_wait(cp.cuda.get_current_stream(), beside)
        greatest = float(weights.max()) if len(weights) else 0.0
        if not surely_fits(count, greatest, distance_type):
            refuse_narrow(steps.greatest(matrix), greatest, distance_type)
        steps.leave(matrix, cp.arange(count, dtype=np.uint32), rows)
        return rows

    return end


class CudaHierarchy:
    """Struct ``Hierarchy`` of kernels/layout/hierarchy.cuh, and the arrays it points to."""

    def __init__(
        self, hierarchy: Hierarchy, distance_type: np.dtype[Any], core: Any = None
    ) -> None:
        self.type, self.vertex_count = distance_type, hierarchy.vertex_count
        self.arc_count, self.core_count = hierarchy.arc_count, hierarchy.core_count
        self.level_count = len(hierarchy.levels) - 1
        self.is_symmetric = hierarchy.is_symmetric
        self._arrays, vertices = _uploaded(hierarchy, distance_type, core)
        self._arrays["places"] = cp.empty(self.vertex_count, np.uint32)
        words = vertices, np.uint32(self.vertex_count), self._arrays["places"]
        kernels = Kernels(kernels_of(SWEEP, distance_type, 0), BLOCK)
        kernels.run("find_places", self.vertex_count, *words)
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


def _uploaded(
    hierarchy: Hierarchy, distance_type: np.dtype[Any], core: Any
) -> tuple[dict[str, Any], Any]:
    """The arrays of struct ``Hierarchy`` without its places, and the vertices.

    Unless there is a ``core`` it is closed meanwhile.
    """

    def packed(weights: Any) -> Any:
        return packed_arcs(hierarchy.heads, widened(weights, distance_type), distance_type)

    end = begin_core(hierarchy, distance_type) if core is None else None
    try:
        down = packed(hierarchy.down)
        arrays = {
            "levels": cp.asarray(np.array(hierarchy.levels, np.uint32)),
            "offsets": to_device(hierarchy.offsets, np.uint32),
            "down": down,
            "up": down if hierarchy.is_symmetric else packed(hierarchy.up),
        }
        vertices = to_device(hierarchy.vertices, np.int32)
    finally:
        closed = core if end is None else end()
    return arrays | {"core": closed}, vertices


def _let_wait(stream: Any, other: Any) -> None:
    """Let what comes next in a stream wait for what is in another one by now."""
    event = cp.cuda.Event(disable_timing=True)
    event.record(other)
    stream.wait_event(event)


def on_gpu(hierarchy: Hierarchy) -> Hierarchy:
    """The same with CuPy's arrays."""
    arrays = {name: getattr(hierarchy, name) for name in ARRAYS}
    if hierarchy.is_symmetric:
        del arrays["up"]
    there: dict[str, Any] = {name: to_device(of, of.dtype) for name, of in arrays.items()}
    return replace(hierarchy, **{"up": there["down"]} | there)
