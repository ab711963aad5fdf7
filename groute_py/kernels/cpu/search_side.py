"""One side of a search that touches few vertices: only these are reset for the next one.

A side is a tuple of arrays, (n,): distances, ``nothing`` but for what is touched; and in uint32 the
vertex before each, places in the heap from 1 (0 if not there), the heap, and what is touched. Int64
counts follow, which begin with `OPEN` and `TOUCHED`.
"""

from __future__ import annotations

from typing import Any

from groute_py.kernels.cpu.kernel import kernel

OPEN, TOUCHED, COUNTS = range(3)
"""Places in the counts of a side: vertices in its heap, and vertices touched."""


@kernel
def begin(side: Any, end: Any, nothing: Any) -> None:
    """Reset what the last search has left of a side but ``before``, and open one end."""
    distances, _, places, heap, touched, counts = side
    for number in range(counts[TOUCHED]):
        vertex = touched[number]
        distances[vertex] = nothing
        places[vertex] = 0
    counts[:] = 0
    distances[end], places[end] = 0, 1
    heap[0] = touched[0] = end
    counts[OPEN] = counts[TOUCHED] = 1
