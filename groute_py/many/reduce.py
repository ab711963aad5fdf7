"""Reductions of the rows of all sources: sums, greatest distances, a histogram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.summary import Summary, bin_count, edges_of, wide

REDUCTIONS = ("none", "sum", "max", "histogram")
"""The reductions that a user may choose."""


@dataclass
class Reduction:
    """Of some of k sources; others have −1 in ``reached``.

    Attributes:
        reached: int64, shape (k,): vertices that a path leads to, the source included.
        sums: int64, or float64 where weights are floats, shape (k,): of their distances.
        farthest: int64, shape (k,): the vertex of the greatest distance.
        greatest: shape (k,), int64 or float64: that distance.
        counts: int64: how many distances there are in each bin; see `histogram`.
        reciprocals: float64, shape (k,): of 1 / distance; 0 if not asked for.
    """

    reached: NDArray[np.int64]
    sums: NDArray[Any]
    farthest: NDArray[np.int64]
    greatest: NDArray[Any]
    counts: NDArray[np.int64]
    reciprocals: NDArray[np.float64]

    @classmethod
    def of(cls, count: int, weight_type: np.dtype[Any]) -> Reduction:
        """Of nothing yet, for ``count`` sources of a graph with such weights."""
        kind = wide(weight_type)
        return cls(
            np.full(count, -1, np.int64),
            np.zeros(count, kind),
            np.zeros(count, np.int64),
            np.zeros(count, kind),
            np.zeros(bin_count(kind), np.int64),
            np.zeros(count, np.float64),
        )

    @property
    def histogram(self) -> list[tuple[float, float, int]]:
        """[from, to, pairs], ascending: 0 at both ends, or from one power of two to the next."""
        kind = self.greatest.dtype
        return sorted(
            (*edges_of(number, kind), int(self.counts[number]))
            for number in np.flatnonzero(self.counts).tolist()
        )

    def take(self, positions: NDArray[np.int64], summary: Summary) -> None:
        """Take the summary of the rows of the sources at some positions."""
        self.reached[positions], self.sums[positions] = summary.reached, summary.sums
        self.farthest[positions], self.greatest[positions] = summary.farthest, summary.greatest
        if summary.histogram is not None:
            self.counts += summary.histogram
        if summary.reciprocals is not None:
            self.reciprocals[positions] = summary.reciprocals

    def add(self, other: Reduction) -> None:
        """Take what another rank has of other sources."""
        theirs = other.reached >= 0
        for name in ("reached", "sums", "farthest", "greatest", "reciprocals"):
            getattr(self, name)[theirs] = getattr(other, name)[theirs]
        self.counts += other.counts
