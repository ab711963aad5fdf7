"""The order of elimination: few neighbours first, then nested dissection by METIS.

Nested dissection orders both sides of a small separator before the separator itself, and each side
likewise (George, "Nested dissection of a regular finite element mesh", 1973; METIS: Karypis and
Kumar, 1998). Road networks have separators of a few dozen vertices, whatever their size.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import SetupError
from groute_py.hierarchy.separators.size import refuse_wide
from groute_py.kernels.cpu import elimination

INSTALL = "pip install 'groute-py[separators]'"

BISECTED = 1 << 21
"""Neighbours in a core from which one separator is found first: all of them may take minutes."""


def elimination_order(
    name: str, offsets: NDArray[np.int64], neighbours: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return vertices in order of elimination, or `GraphError` without a small separator."""
    left = neighbours.copy()
    mates = np.empty(len(left), np.int32 if len(left) < 2**31 else np.int64)
    elimination.pair_entries(offsets, left, mates)
    first: NDArray[np.int32]
    first, degrees = elimination.peel(offsets, left, mates)
    vertices, *core = elimination.left_graph(offsets, left, degrees)
    if not len(vertices):
        return first
    metis = _metis()
    adjacency = _adjacency(metis, *core)
    if len(core[1]) > BISECTED:
        _, part = metis.part_graph(2, adjacency)
        boundary = elimination.count_boundary(*core, np.asarray(part, np.int8))
        refuse_wide(name, len(vertices), int(min(boundary)))
    order, _ = metis.nested_dissection(adjacency)
    return np.concatenate([first, vertices[np.asarray(order)].astype(np.int32)])


def _metis() -> ModuleType:
    try:
        import pymetis
    except ImportError as problem:
        raise SetupError(f"an order from separators takes METIS ({problem}); {INSTALL}") from None
    module: ModuleType = pymetis
    return module


def _adjacency(metis: Any, starts: NDArray[np.int64], ends: NDArray[np.int32]) -> Any:
    kind = metis.zero_copy_dtype()
    return metis.CSRAdjacency(starts.astype(kind), ends.astype(kind))
