"""Hints: a byte or less for each vertex, which filters arcs before its distance is read.

They pay where distances do not fit in L2, and buckets grow, which is where arcs are many.
"""

from __future__ import annotations

import numpy as np

from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.sssp.buffers import SolveBuffers

HINTED_FROM = 1.0
"""How much distances take, in sizes of L2, where hints are left. This and the next two are
measured, see docs/what-we-learned.md#distance-filter."""

HINTS_IN_L2, MOST_FOLDED = 1 / 3, 3
"""As much of L2 hints may take, which have a byte each, or half of it, or a quarter, or a bit."""

HINT_LEVELS = 32.0
"""How many levels of hints are as wide as the widest bucket."""

LARGEST_FLOAT = 1e38
"""What kernels take as a float is no more."""


def set_hints(graph: DeviceGraph, buffers: SolveBuffers, widest: float, *, grow: bool) -> None:
    """Let kernels leave hints if they pay and there is room for them.

    Args:
        graph: of this rank.
        buffers: gets the array, and the parameters in its struct.
        widest: bucket of the solve.
        grow: whether buckets grow up to it.
    """
    own, l2_bytes = graph.share.own_count, graph.gpu.l2_bytes
    large = own * graph.type.itemsize > HINTED_FROM * l2_bytes
    # a head in the halo, which hints do not tell of, is only there in buckets that are alike
    hinted = grow and large and graph.halo == 0
    fold, work = fold_of(own, l2_bytes), buffers.work
    hinted = hinted and buffers.have_room_for({"hints": ((own >> fold) + 1, np.uint8)})
    work["hints"], work["levels"], work["fold"] = 0, 0, fold
    if hinted:
        work["hints"] = buffers.arrays["hints"].data.ptr
        work["levels"] = min(HINT_LEVELS / widest, LARGEST_FLOAT)


def fold_of(own: int, l2_bytes: int) -> int:
    """How often the bits of a hint are halved, so that the hints of ``own`` vertices fit in L2."""
    fitting = (fold for fold in range(MOST_FOLDED) if own >> fold <= HINTS_IN_L2 * l2_bytes)
    return next(fitting, MOST_FOLDED)
