"""The order of elimination: few neighbours first, then nested dissection by METIS.

Nested dissection orders both sides of a small separator before the separator itself, and each side
likewise (George, "Nested dissection of a regular finite element mesh", 1973; METIS: Karypis and
Kumar, 1998). Road networks have separators of a few dozen vertices, whatever their size.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, RunError, SetupError, quoted
from groute_py.kernels.cpu import elimination

MOST_ARCS, MOST_TRIANGLES = 2**30 - 1, 2**31 - 1
"""Limits of a hierarchy: two weights an arc, and the triangles, are counted by 32 bits."""

REMEDY = "contraction (groute_py.prepare) or a solve without a hierarchy takes such graphs"


class Orders(Protocol):
    """A place where orders are kept, by the neighbours of vertices alone."""

    def find(
        self, offsets: NDArray[np.int64], neighbours: NDArray[np.int32]
    ) -> NDArray[np.int32] | None:
        """Return the order of a graph, if there is one."""

    def keep(
        self,
        name: str,
        offsets: NDArray[np.int64],
        neighbours: NDArray[np.int32],
        order: NDArray[np.int32],
    ) -> None:
        """Leave the order of a graph of a name."""


class OneOrder:
    """The order of one graph; `Orders` that keep no other. Any of as many vertices is right."""

    def __init__(self, order: NDArray[np.int32]) -> None:
        self._order = order

    def find(self, offsets: NDArray[np.int64], *_: Any) -> NDArray[np.int32] | None:
        return self._order if len(self._order) == len(offsets) - 1 else None

    def keep(self, *_: Any) -> None:
        """Leave it as it is."""


def check_order(order: NDArray[Any], count: int) -> None:
    """Raise `ValueError` for what is no order of so many vertices."""
    if order.dtype != np.int32 or order.shape != (count,):
        raise ValueError(f"an order of {count:,} vertices is no {order.dtype} {order.shape}")
    marks = np.zeros(count, np.bool_)
    if count and not 0 <= int(order.min()) <= int(order.max()) < count:
        raise ValueError(f"an order of {count:,} vertices goes beyond them")
    marks[order] = True
    if not marks.all():
        raise ValueError(f"vertex {int(marks.argmin())} is missing in an order")


def refuse_wide(name: str, core: int, separator: int) -> None:
    """Raise `GraphError` if the first separator, whose vertices become a clique, is too wide."""
    triangles = separator * (separator - 1) * (separator - 2) // 6
    if triangles > MOST_TRIANGLES:
        raise GraphError(
            f"{quoted(name)} has no small separators: half of its {core:,} branching vertices are "
            f"parted from the others by {separator:,}, which alone give {triangles:,} triangles "
            f"of at most {MOST_TRIANGLES:,}; {REMEDY}"
        )


def refuse_fill(name: str, arcs: int, triangles: int, done: int, vertices: int) -> None:
    """Raise `GraphError` for a graph whose elimination was given up after ``done`` vertices."""
    raise GraphError(
        f"{quoted(name)} has no small separators: {done:,} of its {vertices:,} vertices already "
        f"give {arcs:,} arcs (at most {MOST_ARCS:,}) and {triangles:,} triangles (at most "
        f"{MOST_TRIANGLES:,}) of the hierarchy; {REMEDY}"
    )


INSTALL = "pip install 'groute-py[separators]'"

BISECTED = 1 << 21
"""Neighbours in a core from which one separator is found first: all of them may take minutes."""


def elimination_order(
    name: str, offsets: NDArray[np.int64], neighbours: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return vertices in order of elimination, or `GraphError` without a small separator."""
    first, vertices, starts, ends = _peeled(offsets, neighbours)
    if not len(vertices):
        return first
    metis = _metis()
    starts, ends = (some.astype(metis.zero_copy_dtype()) for some in (starts, ends))
    adjacency = metis.CSRAdjacency(starts, ends)
    try:
        if len(ends) > BISECTED:
            _, part = metis.part_graph(2, adjacency)
            boundary = elimination.count_boundary(starts, ends, np.asarray(part, np.int8))
            refuse_wide(name, len(vertices), int(min(boundary)))
        order, _ = metis.nested_dissection(adjacency)
    except RuntimeError as problem:  # a signal, or an error of its own
        raise RunError(f"METIS ended before it had an order of {quoted(name)}: {problem}") from None
    return np.concatenate([first, vertices[np.asarray(order)].astype(np.int32)])


def _peeled(
    offsets: NDArray[np.int64], neighbours: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Vertices that are eliminated first, those that are left, and the graph of these.

    METIS takes the most memory of all steps; so nothing else is left when it begins.
    """
    left = neighbours.copy()
    mates = np.empty(len(left), np.int32 if len(left) < 2**31 else np.int64)
    elimination.pair_entries(offsets, left, mates)
    first, degrees = elimination.peel(offsets, left, mates)
    del mates
    vertices, starts, ends = elimination.left_graph(offsets, left, degrees)
    return first, vertices, starts, ends


def _metis() -> ModuleType:
    try:
        import pymetis
    except ImportError as problem:
        raise SetupError(f"an order from separators takes METIS ({problem}); {INSTALL}") from None
    module: ModuleType = pymetis
    return module
