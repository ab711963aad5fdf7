"""A partition: vertex ranges and their owners, and the registry of ways to choose them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.graph.csr import Graph


@dataclass(frozen=True, eq=False)
class Partition:
    """Part ``p`` owns the vertices ``bounds[p]:bounds[p + 1]``; a part may be empty.

    Args:
        bounds: int64, shape (parts + 1,), from 0 to n, never decreasing.
    """

    bounds: NDArray[np.int64]

    @property
    def part_count(self) -> int:
        """The number of parts."""
        return len(self.bounds) - 1

    def owner(self, vertices: Any) -> NDArray[np.int64]:
        """The part that owns each of the vertices."""
        return np.asarray(np.searchsorted(self.bounds, vertices, side="right") - 1)


Partitioner = Callable[[Graph, int], Partition]
"""From a graph and a number of parts to a partition."""


def partitioners() -> dict[str, Partitioner]:
    """Every way to cut, by the name the command line uses."""
    from groute_py.partition import balanced, block

    return {"arcs": balanced.by_arcs, "vertices": block.by_vertices}


def partition(graph: Graph, parts: int, how: str = "arcs") -> Partition:
    """Cut ``graph`` into ``parts`` vertex ranges.

    Raises:
        InputError: ``how`` is not the name of a partitioner, or ``parts`` is not positive.
    """
    known = partitioners()
    if how not in known:
        raise InputError(f"partition {how!r} is unknown; choose one of {', '.join(known)}")
    if parts < 1:
        raise InputError(f"a graph cannot be cut into {parts} parts; the least is 1")
    return known[how](graph, parts)
