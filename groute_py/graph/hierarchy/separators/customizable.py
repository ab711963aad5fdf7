"""A customizable contraction hierarchy: what depends on the arcs of a graph, and not on weights.

Vertices are eliminated one after another, and their neighbours become neighbours of each other. So
each vertex gets arcs upward, to neighbours that are eliminated later, whatever the weights.
*Customization* then gives these arcs weights, from the weights of the graph and over *triangles*:
an arc between two neighbours of an eliminated vertex weighs at most as much as the way over that
vertex (Dibbelt, Strasser and Wagner, "Customizable contraction hierarchies", 2016).

The first of its neighbours that is eliminated after a vertex is its parent in the *elimination
tree*, and all ends of its arcs upward are its ancestors there (Bauer, Columbus, Rutter and Wagner,
"Search-space size in contraction hierarchies", 2016).

Vertices have *numbers* that ascend from the roots of the tree, by depth. So the arcs of a level are
a range, and customization takes a level at a time, the deepest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.graph.hierarchy.prepared import order_of_prepared
from groute_py.graph.hierarchy.separators.order import (
    MOST_ARCS,
    MOST_TRIANGLES,
    Orders,
    elimination_order,
    neighbours_of,
    refuse_fill,
)
from groute_py.kernels.cpu import elimination
from groute_py.system.memory_limits import trim_heap


@dataclass(frozen=True, eq=False)
class CustomizableHierarchy:
    """The hierarchy of a graph with n vertices and m arcs; NumPy's arrays.

    Attributes:
        levels: int64: the first number of each depth of the elimination tree, then n.
        numbers: int32, shape (n,): the number of each of the graph's vertices.
        preorder: int32, shape (n,): by number, the place in a preorder of the tree.
        offsets: int64, shape (n + 1,): by number, where the arcs upward begin.
        heads: int32, shape (a,): numbers, descending in each row, so that the parent is the first.
        slots: int32, shape (m,): by arc of the graph, twice the arc upward that it may lower, and
            one more if it leads down; −1 for loops.
        triangle_count: pairs of arcs upward from the same vertex.
    """

    levels: NDArray[np.int64]
    numbers: NDArray[np.int32]
    preorder: NDArray[np.int32]
    offsets: NDArray[np.int64]
    heads: NDArray[np.int32]
    slots: NDArray[np.int32]
    triangle_count: int

    @property
    def vertex_count(self) -> int:
        """The number of vertices, n."""
        return len(self.numbers)

    @property
    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Offsets and heads, as kernels take them."""
        return self.offsets, self.heads

    @property
    def arc_count(self) -> int:
        """Arcs upward, a; each has a weight in either direction."""
        return len(self.heads)

    @property
    def level_count(self) -> int:
        """Depths of the tree; a vertex has at most so many ancestors, itself included."""
        return len(self.levels) - 1

    def depths(self) -> NDArray[np.int32]:
        """Depth in the tree, by number: the ancestors of the vertex without itself."""
        depths = np.arange(self.level_count, dtype=np.int32)
        return np.repeat(depths, np.diff(self.levels))

    def describe(self) -> dict[str, Any]:
        """Sizes, for statistics."""
        return {
            "arcs": self.arc_count,
            "triangles": self.triangle_count,
            "levels": self.level_count,
            "mean_ancestors": float((self.depths() + 1.0).mean()) if self.vertex_count else 0.0,
        }


def saved_order(graph: Graph, orders: Orders | None) -> NDArray[np.int32] | None:
    """Return the order of a graph that was prepared with it, or that is kept; else None."""
    if (order := order_of_prepared(graph)) is not None or orders is None:
        return order
    return orders.find(*neighbours_of(graph.to_host()))


def order_by_separators(graph: Graph, orders: Orders | None = None) -> NDArray[np.int32]:
    """Return a graph's order, from ``orders`` or kept there.

    A graph without small separators is a `GraphError`.
    """
    if (order := saved_order(graph, orders)) is None:
        order = elimination_order(graph.to_host())
        if orders is not None:
            orders.keep(graph.name, *neighbours_of(graph.to_host()), order)
    return order


def customizable(graph: Graph, orders: Orders | None = None) -> CustomizableHierarchy:
    """Return a graph's hierarchy for all weights; see `order_by_separators`."""
    host = graph.to_host()
    order = order_by_separators(host, orders)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    del order
    rows, above, triangles, done = elimination.fill_rows(
        *elimination.list_upward(host.offsets, host.heads, ranks), MOST_ARCS, MOST_TRIANGLES
    )
    if done < len(ranks) or len(above) > MOST_ARCS or triangles > MOST_TRIANGLES:
        refuse_fill(graph.name, len(above), triangles, done, len(ranks))
    number_of, preorder, levels = elimination.number_tree(rows, above)
    trim_heap()
    own_offsets, heads = elimination.renumber_rows(rows, above, number_of)
    del rows, above
    numbers = number_of[ranks]
    del number_of, ranks
    slots = elimination.find_slots(own_offsets, heads, numbers, host.offsets, host.heads)
    return CustomizableHierarchy(
        levels, numbers, preorder, own_offsets, heads, slots, int(triangles)
    )
