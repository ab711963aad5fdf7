"""Choices within a method, as kernels take them.

The criteria of Crauser, Mehlhorn, Meyer and Sanders (1998) say which open vertices Dijkstra's
algorithm may settle in one round, without a heap. An open vertex u is settled if its distance is

* ``min``: the least of all open vertices, L; each round then is an ExtractMin;
* ``out``: at most D, the least distance + weight over arcs from an open vertex to one that is not
  closed: each path to u through another open vertex takes such an arc;
* ``in``: at most L + the weight of the lightest in-arc of u, the last arc of such a path;
* ``in-out``: either of the last two.

Bellman-Ford's queue has three orders: first in, first out; small label first; and in addition
large label last.
"""

from __future__ import annotations

from groute_py.errors import InputError

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


def refuse_uneven(width: int, vertices: int, arcs: int) -> None:
    """Raise `InputError` if ELL storage with ``width`` slots a vertex would be mostly empty."""
    if width * vertices > SLOTS_AN_ARC * (arcs + 1024):
        raise InputError(
            f"a vertex has {width:,} incoming arcs: ELL storage would have more than "
            f"{SLOTS_AN_ARC} slots an arc; use --algorithm csr-bellman-ford"
        )


def refuse_dense(vertices: int) -> None:
    """Raise `InputError` if the matrix of a graph with ``vertices`` vertices would be too large."""
    if vertices > WIDEST_MATRIX:
        raise InputError(
            f"a matrix of {vertices:,} vertices is too large (at most {WIDEST_MATRIX:,}); use "
            "--algorithm csr-bellman-ford"
        )
