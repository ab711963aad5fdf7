"""The distances within the core of a hierarchy, by blocked Floyd–Warshall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.base import unreached
from groute_py.device.cuda.graph.csr import packed_arcs
from groute_py.device.cuda.multi_source.floyd.steps import Steps
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.rows import refuse_narrow, surely_fits
from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.kernels.source import ALL_PAIRS


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
    weights = cp.asarray(hierarchy.core_weights)
    graph = CoreGraph(
        count,
        distance_type,
        cp.asarray(hierarchy.core_offsets).astype(np.uint32),
        packed_arcs(cp.asarray(hierarchy.core_heads), weights, distance_type),
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
