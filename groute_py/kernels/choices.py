"""Choices within a method, as kernels take them.

Which open vertices Dijkstra's algorithm may settle in one round, without a heap, of Crauser,
Mehlhorn, Meyer and Sanders (1998). An open vertex u is settled if its distance is

* ``min``: the least of all, L; every round then is an ExtractMin (S11);
* ``out``: at most D, the least distance + weight over arcs from an open vertex to one that is not
  closed: whatever path leads to u by way of another open vertex takes such an arc (S7);
* ``in``: at most L + the lightest incoming arc of u, which is the last arc of such a path;
* ``in-out``: either.

In which order Bellman-Ford's queue is taken (S10): as it comes; small label first; and also large
label last.
"""

from __future__ import annotations

OUT, IN = 1, 2
"""Bits of a criterion."""

CRITERIA = {"min": 0, "out": OUT, "in": IN, "in-out": OUT | IN}
"""By name."""

FIFO, SLF, SLF_LLL = range(3)
"""Orders of a queue."""

SLOTS_AN_ARC = 8
"""ELL storage with more slots for each arc than this is refused."""

WIDEST_MATRIX = 1 << 14
"""Vertices of the largest matrix; with its distances staged, a row has to fit in shared memory."""


def too_uneven(width: int, vertices: int, arcs: int) -> bool:
    """ELL storage of so many slots a vertex would be mostly empty."""
    return width * vertices > SLOTS_AN_ARC * (arcs + 1024)


def too_dense(vertices: int) -> bool:
    """A matrix of so many vertices would be too large."""
    return vertices > WIDEST_MATRIX
