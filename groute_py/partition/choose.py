"""The registry of ways to cut a graph, and the choice of one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groute_py.arguments import check_choice
from groute_py.errors import InputError
from groute_py.partition import balanced, block, first
from groute_py.partition.base import Partition, Partitioner


def partitioners() -> dict[str, Partitioner]:
    """Every way to cut, by the name the command line uses."""
    return {"arcs": balanced.by_arcs, "vertices": block.by_vertices, "first": first.all_in_first}


def partition(offsets: NDArray[np.int64], parts: int, how: str = "arcs") -> Partition:
    """Cut the graph that has these offsets into ``parts`` vertex ranges."""
    known = partitioners()
    check_choice("partition", how, known)
    if parts < 1:
        raise InputError(f"a graph cannot be cut into {parts} parts; the least is 1")
    if parts == 1:
        return Partition(np.array([0, len(offsets) - 1]))
    return known[how](offsets, parts)
