"""Parts with about equally many arcs: what a rank relaxes, not what it stores, sets its time."""

from __future__ import annotations

import numpy as np

from groute_py.graph.csr import Graph
from groute_py.partition.base import Partition


def by_arcs(graph: Graph, parts: int) -> Partition:
    """Cut where the running arc count passes each part's equal share."""
    shares = np.arange(parts + 1, dtype=np.int64) * graph.arc_count // parts
    bounds = np.searchsorted(graph.offsets, shares, side="left").astype(np.int64)
    bounds[0], bounds[-1] = 0, graph.vertex_count
    return Partition(bounds)
