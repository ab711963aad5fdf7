"""The small shares on which kernels are compiled before they are needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.graph.hierarchy.hierarchy import Hierarchy
from groute_py.partition.share import Share

WARMED_UP = set[tuple[Any, ...]]()
"""Kernels that this process has compiled: for small graphs this costs more than the solve."""


def two_ranks(distance_type: np.dtype[Any]) -> Share:
    """A share with one owned vertex and an arc to a remote one."""
    return Share(
        first=0,
        own_count=1,
        offsets=np.array([0, 1]),
        heads=np.array([1], np.int32),
        weights=np.ones(1, distance_type),
        halo=np.array([1]),
        halo_starts=np.array([0, 0, 1]),
        halo_home=np.zeros(1, np.int32),
    )


def one_rank(distance_type: np.dtype[Any], weights: tuple[int, int] = (2, 1)) -> Share:
    """A share with two vertices and a row of arcs that some sort, for it does not ascend."""
    offsets = np.array([0, 2, 2])
    offsets.flags.writeable = False  # as a graph's
    arcs = offsets, np.array([1, 1], np.int32), np.array(weights, distance_type)
    return Share(
        0,
        2,
        *arcs,
        halo=np.zeros(0, np.int64),
        halo_starts=np.zeros(2, np.int64),
        halo_home=np.zeros(0, np.int32),
        hierarchy=Hierarchy.of_core(*arcs),
    )
