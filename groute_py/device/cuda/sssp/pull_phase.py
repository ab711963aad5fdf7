"""The parameters of the pull phase (kernels/sssp/pull_deferred.cuh)."""

from __future__ import annotations

from groute_py.device.cuda.graph.csr import DeviceGraph
from groute_py.device.cuda.sssp.buffers import SolveBuffers
from groute_py.device.cuda.sssp.distance_filter import LARGEST_FLOAT

PULL_SHARE = 64
"""A step with 1 / PULL_SHARE of all arcs defers those that lead far; they are pulled later."""

PULL_REACH = 32.0
"""Δ over a width: half as far beyond their bucket arcs may lead and be relaxed all the same, a
quarter as wide are buckets until then, and as wide is the next. Measured, see
docs/what-we-learned.md#push-and-pull."""


def set_pull_phase(graph: DeviceGraph, buffers: SolveBuffers, widest: float, *, grow: bool) -> None:
    """Set the parameters of the pull phase, which needs buckets that grow.

    Buckets are as wide as Δ once the densest part has been relaxed: then a pull, which looks at all
    vertices, takes longer than what it saves, wherever arcs lead.
    """
    arcs, work = graph.arc_count, buffers.work
    work["pull_from_arcs"] = max(arcs // PULL_SHARE, 1) if graph.has_in_edges and grow else 0
    work["pull_below_width"] = min(graph.terms.pull_below_width, widest, LARGEST_FLOAT)
    work["pull_reach"] = min(widest / PULL_REACH, LARGEST_FLOAT)
    work["mean_degree"] = max(arcs // max(graph.rows, 1), 1)
