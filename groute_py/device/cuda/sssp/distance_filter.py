"""The distance filter: a byte or less a vertex, read before a distance that is not in L2."""

from __future__ import annotations

import numpy as np

from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.sssp.buffers import SolveBuffers

FILTER_FROM = 1.0
"""Size of distances, in sizes of L2, from which the filter is used. This and the next two are
measured, see docs/what-we-learned.md#distance-filter."""

FILTER_IN_L2, MOST_FOLDED = 1 / 3, 3
"""The part of L2 that the filter may take; and how often a byte is halved, down to a bit."""

FILTER_LEVELS = 32.0
"""Number of levels that are as wide as the widest bucket."""

LARGEST_FLOAT = 1e38
"""Largest value that kernels take as a float."""


def set_filter(graph: DeviceGraph, buffers: SolveBuffers, widest: float, *, grow: bool) -> None:
    """Let kernels use the filter if it pays and there is room for it."""
    own, l2_bytes = graph.share.own_count, graph.gpu.l2_bytes
    large = own * graph.type.itemsize > FILTER_FROM * l2_bytes
    # a head in the halo, which is not in the filter, is only there in buckets that are alike
    filtered = grow and large and graph.halo == 0
    fold, work = fold_of(own, l2_bytes), buffers.work
    filtered = filtered and buffers.have_room_for({"filter": ((own >> fold) + 1, np.uint8)})
    work["filter"], work["levels"], work["fold"] = 0, 0, fold
    if filtered:
        work["filter"] = buffers.arrays["filter"].data.ptr
        work["levels"] = min(FILTER_LEVELS / widest, LARGEST_FLOAT)


def fold_of(own: int, l2_bytes: int) -> int:
    """Return how often the byte is halved, so that the levels of ``own`` vertices fit in L2."""
    fitting = (fold for fold in range(MOST_FOLDED) if own >> fold <= FILTER_IN_L2 * l2_bytes)
    return next(fitting, MOST_FOLDED)
