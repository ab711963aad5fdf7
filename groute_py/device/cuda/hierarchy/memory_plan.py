"""The memory that contraction and sweeps take on a GPU, for checks before a run and for plans."""

from __future__ import annotations

from typing import Any

import numpy as np

from groute_py.device.cuda.runtime.memory_plan import entry_type
from groute_py.graph.facts import Size
from groute_py.graph.hierarchy.hierarchy import Hierarchy

CORE = 8192
"""Vertices at which contraction stops: the distances within the core then take 0.25 GB."""

CONTRACT_BYTES = 150
"""Bytes of GPU memory that contraction takes for each arc, at most."""

ARCS_UPWARD = 1.0
"""Arcs upward for each arc of a graph: 0.9 on roads, 1.0 in a chain."""


def contraction_bytes(arcs: int) -> int:
    """Bytes that contraction of a graph takes at most."""
    return CONTRACT_BYTES * arcs


def levels_bytes(
    vertices: int, arcs_upward: int, core: int, distance_type: np.dtype[Any], *, symmetric: bool
) -> int:
    """Bytes of a hierarchy and of one tree from it, beside the graph and its distances.

    The distances within the core are there twice while they are made.

    >>> levels_bytes(10, 20, 3, np.dtype(np.int32), symmetric=True)
    356
    """
    rows = entry_type(distance_type).itemsize * arcs_upward * (1 if symmetric else 2)
    places = (2 * np.dtype(np.uint32).itemsize + distance_type.itemsize) * vertices
    return rows + places + 2 * distance_type.itemsize * core * core + 4


def levels_bytes_in(hierarchy: Hierarchy, distance_type: np.dtype[Any]) -> int:
    """The same of a hierarchy, for distances of a type at least as wide as its own."""
    sizes = hierarchy.vertex_count, hierarchy.arc_count, hierarchy.core_count
    return levels_bytes(*sizes, distance_type, symmetric=hierarchy.is_symmetric)


def rows_bytes_in(hierarchy: Hierarchy, distance_type: np.dtype[Any]) -> int:
    """The same for rows, beside its own arrays, of which parts are cut for some targets."""
    return hierarchy.nbytes + levels_bytes_in(hierarchy, distance_type)


def levels_bytes_of(size: Size, core: int, distance_type: np.dtype[Any]) -> int:
    """Estimate `levels_bytes` for a directed graph with ``core`` vertices in the core at most."""
    arcs = int(ARCS_UPWARD * size.arcs)
    return levels_bytes(size.vertices, arcs, core, distance_type, symmetric=False)
