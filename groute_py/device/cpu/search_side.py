"""The memory of one side of a search, and the way back to where it began."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.kernels.cpu.search_side import COUNTS

Side = tuple[NDArray[Any], ...]
"""See `groute_py.kernels.cpu.search_side`."""

VERTEX_BYTES = 8 + 4 * 4
"""Of a side, for each vertex."""


def side_of(vertex_count: int, nothing: Any, counts: int = COUNTS) -> Side:
    """A side that has touched nothing; ``counts`` is how many counts it has."""
    before, places, heap, touched = np.zeros((4, vertex_count), np.uint32)
    distances = np.full(vertex_count, nothing)
    return distances, before, places, heap, touched, np.zeros(counts, np.int64)


def walked(side: Side, vertex: int) -> list[int]:
    """The vertices from one that is touched back to where the side began, both included."""
    before, end = side[1], int(side[4][0])
    vertices = [vertex]
    while vertices[-1] != end:
        vertices.append(int(before[vertices[-1]]))
    return vertices
