"""The quality of a partition: its cut, border and imbalance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.partition.base import Partition
from groute_py.partition.share import AT_ONCE, Rows, rows_of
from groute_py.system.threads import in_slices


@dataclass(frozen=True)
class Quality:
    """The quality of a cut."""

    cut: int  # arcs whose tail and head have different owners
    border: int  # vertices that are tails of such arcs
    imbalance: float  # the largest part's arcs over the mean, 1.0 at best


def quality(graph: Graph, partition: Partition) -> Quality:
    """Measure a partition; one pass over the arcs."""
    parts = range(partition.part_count)
    return quality_of([cost_of(rows_of(graph, partition, p), partition, p) for p in parts])


def cost_of(rows: Rows, partition: Partition, part: int) -> tuple[int, int, int]:
    """A part's numbers of arcs, of arcs to other parts, and of tails of the latter."""
    if partition.part_count == 1:
        return len(rows.heads), 0, 0
    low, high = (int(bound) for bound in partition.bounds[part : part + 2])

    def look(some: slice) -> tuple[int, NDArray[np.intp]]:
        """The number of arcs to other parts, and the rows of their tails."""
        heads = rows.heads[some]
        arcs = np.flatnonzero((heads < low) | (heads >= high)) + some.start
        tails = np.searchsorted(rows.offsets, arcs, side="right")
        return len(arcs), tails[np.diff(tails, prepend=0) > 0]

    parts_of_cut = in_slices(len(rows.heads), AT_ONCE, look)
    border = [tails for _, tails in parts_of_cut if len(tails)]
    shared = sum(bool(a[-1] == b[0]) for a, b in pairwise(border))
    cut = sum(count for count, _ in parts_of_cut)
    return len(rows.heads), cut, sum(map(len, border)) - shared


def quality_of(costs: list[tuple[int, int, int]]) -> Quality:
    """The quality from the costs of all parts."""
    arcs, cuts, borders = zip(*costs, strict=True)
    return Quality(sum(cuts), sum(borders), imbalance_of(arcs))


def imbalance_of(arcs: Sequence[int]) -> float:
    """The largest part's arcs over the mean."""
    return max(arcs) * len(arcs) / sum(arcs) if any(arcs) else 1.0
