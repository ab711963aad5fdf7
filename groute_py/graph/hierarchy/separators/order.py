"""The order of elimination: few neighbours first, then nested dissection.

Road networks have separators of a few dozen vertices, whatever their size.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, RunError, quoted
from groute_py.graph.csr import Graph
from groute_py.graph.hierarchy.separators.metis import MetisError, nested_dissection, separator_size
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


BISECTED = 1 << 21
"""Neighbours in a core from which one separator is found first: all of them may take minutes."""


def neighbours_of(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The undirected graph in CSR form, without loops and parallel arcs, of arrays on the host."""
    offsets, neighbours = elimination.list_neighbours(graph.offsets, graph.heads)
    return offsets, neighbours


def elimination_order(graph: Graph) -> NDArray[np.int32]:
    """Return vertices in order of elimination, or `GraphError` without a small separator."""
    first, vertices, offsets, neighbours = _peeled(graph)
    if not len(vertices):
        return first
    try:
        if len(neighbours) > BISECTED:
            refuse_wide(graph.name, len(vertices), separator_size(offsets, neighbours))
        order = nested_dissection(offsets, neighbours)
    except MetisError as problem:
        why = f"METIS ended before it had an order of {quoted(graph.name)}: {problem}"
        raise RunError(why) from None
    return np.concatenate([first, vertices[order]])


def _peeled(graph: Graph) -> tuple[NDArray[np.int32], ...]:
    """Vertices that are eliminated first, those that are left, and the graph of these.

    METIS takes the most memory of all steps; so nothing else is left when it begins.
    """
    offsets, neighbours = neighbours_of(graph)
    mates = np.empty(len(neighbours), np.int32 if len(neighbours) < 2**31 else np.int64)
    elimination.pair_entries(offsets, neighbours, mates)
    first, degrees = elimination.peel(offsets, neighbours, mates)
    del mates
    if (arcs := int(degrees.sum(where=degrees > 0, dtype=np.int64)) // 2) > MOST_ARCS:
        refuse_fill(graph.name, arcs, 0, len(first), len(degrees))
    return first, *elimination.left_graph(offsets, neighbours, degrees)
