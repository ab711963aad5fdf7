"""The quality of a partition: its cut, border and imbalance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groute_py.graph.csr import Graph
from groute_py.partition.base import Partition
from groute_py.partition.share import Rows, rows_of


@dataclass(frozen=True)
class Quality:
    """Attributes:
    cut: arcs whose tail and head have different owners.
    border: vertices that are tails of such arcs.
    imbalance: the largest part's arcs over the mean, 1.0 at best.
    """

    cut: int
    border: int
    imbalance: float


def quality(graph: Graph, partition: Partition) -> Quality:
    """Measure a partition; one pass over the arcs."""
    parts = range(partition.part_count)
    return quality_of([cost_of(rows_of(graph, partition, p), partition, p) for p in parts])


def cost_of(rows: Rows, partition: Partition, part: int) -> tuple[int, int, int]:
    """A part's numbers of arcs, of arcs to other parts, and of tails of the latter."""
    if partition.part_count == 1:
        return len(rows.heads), 0, 0
    low, high = partition.bounds[part], partition.bounds[part + 1]
    leaving = (rows.heads < low) | (rows.heads >= high)
    starts = rows.offsets[:-1][np.diff(rows.offsets) > 0]
    tails = np.logical_or.reduceat(leaving, starts) if len(starts) else leaving
    return len(rows.heads), int(np.count_nonzero(leaving)), int(np.count_nonzero(tails))


def quality_of(costs: list[tuple[int, int, int]]) -> Quality:
    """The quality from the costs of all parts."""
    cut, border = (sum(cost[which] for cost in costs) for which in (1, 2))
    return Quality(cut, border, imbalance_of([cost[0] for cost in costs]))


def imbalance_of(arcs: list[int]) -> float:
    """The largest part's arcs over the mean."""
    return max(arcs) * len(arcs) / sum(arcs) if any(arcs) else 1.0
