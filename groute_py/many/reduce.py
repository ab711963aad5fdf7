"""What is left of rows that nobody wants to keep: sums, greatest distances, a histogram."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.device.base import unreached
from groute_py.device.rows import RowBlock

REDUCTIONS = ("none", "sum", "max", "histogram")
"""What a user may ask for."""


@dataclass
class Reduction:
    """Of some of k sources; others have −1 in ``reached``.

    Attributes:
        reached: int64, shape (k,): vertices that a path leads to, the source included.
        sums: float64, shape (k,): of their distances; exact below 2⁵³.
        farthest: int64, shape (k,): the vertex of the greatest distance.
        greatest: shape (k,), int64 or float64: that distance.
        histogram: how many distances d have 2^(e−1) ≤ |d| < 2^e, by their sign (−1 or 1) and e;
            those of 0 under (0, 0).
    """

    reached: NDArray[np.int64]
    sums: NDArray[np.float64]
    farthest: NDArray[np.int64]
    greatest: NDArray[Any]
    histogram: dict[tuple[int, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, count: int, weight_type: np.dtype[Any]) -> Reduction:
        """Of nothing yet, for ``count`` sources of a graph with such weights."""
        kind = np.float64 if weight_type.kind == "f" else np.int64
        return cls(
            np.full(count, -1, np.int64),
            np.zeros(count),
            np.zeros(count, np.int64),
            np.zeros(count, kind),
        )

    def take(self, positions: NDArray[np.int64], block: RowBlock, *, histogram: bool) -> None:
        """Take the rows of the sources at some positions."""
        nothing = unreached(block.distances.dtype)
        for position, row in zip(positions.tolist(), block.distances, strict=True):
            there = row != nothing
            lengths = np.where(there, row, 0)
            farthest = int(lengths.argmax())
            self.reached[position] = np.count_nonzero(there)
            with np.errstate(over="ignore"):  # then it is infinite
                self.sums[position] = lengths.sum(dtype=np.float64)
            self.farthest[position], self.greatest[position] = farthest, lengths[farthest]
            if histogram:
                self._count(row[there])

    def add(self, other: Reduction) -> None:
        """Take what another rank has of other sources."""
        theirs = other.reached >= 0
        for name in ("reached", "sums", "farthest", "greatest"):
            getattr(self, name)[theirs] = getattr(other, name)[theirs]
        for key, count in other.histogram.items():
            self.histogram[key] = self.histogram.get(key, 0) + count

    def _count(self, lengths: NDArray[Any]) -> None:
        for sign in (-1, 0, 1):
            exponents = np.frexp(lengths[np.sign(lengths) == sign])[1]
            for exponent, count in zip(*np.unique(exponents, return_counts=True), strict=True):
                key = sign, int(exponent)
                self.histogram[key] = self.histogram.get(key, 0) + int(count)
