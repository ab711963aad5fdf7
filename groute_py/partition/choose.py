"""Ways to cut a graph into vertex ranges, and the choice of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError, check_choice


@dataclass(frozen=True, eq=False)
class Partition:
    """Part ``p`` owns the vertices ``bounds[p]:bounds[p + 1]``; a part may be empty."""

    bounds: NDArray[np.int64]  # int64, (parts + 1,), from 0 to n, never decreasing

    @property
    def part_count(self) -> int:
        """The number of parts."""
        return len(self.bounds) - 1

    def owner(self, vertices: Any) -> NDArray[np.int64]:
        """The part that owns each of the vertices."""
        return np.asarray(np.searchsorted(self.bounds, vertices, side="right") - 1)


Partitioner = Callable[[NDArray[np.int64], int], Partition]
"""From a graph's offsets and a number of parts to a partition."""


def by_arcs(offsets: NDArray[np.int64], parts: int) -> Partition:
    """Cut by running arc counts, since the time of a rank grows with its arcs."""
    shares = np.arange(parts + 1, dtype=np.int64) * offsets[-1] // parts
    bounds = np.searchsorted(offsets, shares, side="left").astype(np.int64)
    bounds[0], bounds[-1] = 0, len(offsets) - 1
    return Partition(bounds)


def by_vertices(offsets: NDArray[np.int64], parts: int) -> Partition:
    """Cut so that the parts' vertex counts differ by at most one."""
    return Partition(np.arange(parts + 1, dtype=np.int64) * (len(offsets) - 1) // parts)


def all_in_first(offsets: NDArray[np.int64], parts: int) -> Partition:
    """Leave every part but the first empty, for methods that run on one rank."""
    bounds = np.full(parts + 1, len(offsets) - 1, dtype=np.int64)
    bounds[0] = 0
    return Partition(bounds)


def partitioners() -> dict[str, Partitioner]:
    """Every way to cut, by the name the command line uses."""
    return {"arcs": by_arcs, "vertices": by_vertices, "first": all_in_first}


def partition(offsets: NDArray[np.int64], parts: int, how: str = "arcs") -> Partition:
    """Cut the graph that has these offsets into ``parts`` vertex ranges."""
    ways = partitioners()
    check_choice("partition", how, ways)
    if parts < 1:
        raise InputError(f"a graph cannot be cut into {parts} parts; the least is 1")
    if parts == 1:
        return Partition(np.array([0, len(offsets) - 1]))
    return ways[how](offsets, parts)
