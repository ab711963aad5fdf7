"""How good a partition is: the cut and the imbalance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groute_py.graph.csr import Graph
from groute_py.partition.base import Partition


@dataclass(frozen=True)
class Quality:
    """Attributes:
    cut: arcs whose tail and head have different owners.
    imbalance: the largest part's arcs over the mean, 1.0 at best.
    """

    cut: int
    imbalance: float


def quality(graph: Graph, partition: Partition) -> Quality:
    """Measure a partition; one pass over the arcs."""
    if partition.part_count == 1:
        return Quality(0, 1.0)
    cut = 0
    for low, high in zip(partition.bounds[:-1], partition.bounds[1:], strict=True):
        heads = graph.heads[graph.offsets[low] : graph.offsets[high]]
        cut += int(np.count_nonzero((heads < low) | (heads >= high)))
    arcs = np.diff(graph.offsets[partition.bounds])
    mean = graph.arc_count / partition.part_count
    return Quality(cut, float(arcs.max() / mean) if mean else 1.0)
