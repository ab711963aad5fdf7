"""Sums of Brandes' dependencies over sources, as they leave a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.fixed_point import add

EXACT = 2.0**53
"""Counts of paths up to this are exact; greater ones are rounded."""


class CycleError(Exception):
    """Tight arcs close a cycle, so that shortest paths cannot be counted."""


class PathCountError(Exception):
    """There are more shortest paths between two vertices than float64 can hold."""


@dataclass(frozen=True)
class Accumulation:
    """A choice of sums."""

    by_arc: bool = False  # of arcs, not of vertices
    endpoints: bool = False  # the ends of a path lie on it; only for vertices
    squares: bool = False  # sum the squares too


@dataclass(eq=False)
class Dependencies:
    """Sums over some sources, for k vertices or arcs, in `groute_py.kernels.cpu.fixed_point`."""

    totals: NDArray[np.uint64]  # uint64, (k, 2)
    squares: NDArray[np.uint64]  # times `square_scale` of the graph's size squared; or (0, 2)
    most_paths: float = 1.0  # greatest number of shortest paths between two vertices

    @classmethod
    def of(cls, count: int, request: Accumulation) -> Dependencies:
        """Return sums over no source yet, for ``count`` vertices or arcs."""
        squares = np.zeros((count if request.squares else 0, 2), np.uint64)
        return cls(np.zeros((count, 2), np.uint64), squares)

    def add(self, other: Dependencies) -> None:
        """Take the sums over other sources."""
        add(self.totals, other.totals)
        add(self.squares, other.squares)
        self.most_paths = max(self.most_paths, other.most_paths)


def square_scale(vertex_count: int) -> float:
    """The power of two by which dependencies are below 1, so that squares fit in fixed point."""
    return 2.0 ** -(vertex_count.bit_length())


class DependencySolver(Protocol):
    """A method on a device (``label``), with the graph in place."""

    label: str

    def add(self, sources: NDArray[np.int64]) -> Iterator[int]:
        """Take sources, and yield how many are done; after `NarrowError` the sums are wrong."""

    def sums(self) -> Dependencies:
        """The sums over all sources that were taken."""
