"""Renumbering of vertices before the cut: neighbours get close numbers, so ranges cut few arcs.

A partition is made of ranges, so it is as good as the numbering. Files of roads are often numbered
by county or at random; then many arcs lead from rank to rank. A graph can be renumbered first:

bfs      breadth first from a vertex at the rim: a range is a ring of near vertices
rcm      reverse Cuthill and McKee (1969), SciPy's: as bfs, neighbours of low degree first
hilbert  along the Hilbert curve through the vertices' coordinates
auto     none on one rank, or where the numbering is good or no other helps; else hilbert where
         there are coordinates, bfs where not

Dense graphs with small diameter, such as social networks, have no good order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import InputError
from groute_py.graph.csr import Graph
from groute_py.io.coordinates import coordinates_for
from groute_py.kernels.cpu.order import HILBERT_BITS, breadth_first, hilbert_places, renumbered
from groute_py.partition.share import Partition, Quality, quality

ORDERS = ("auto", "none", "bfs", "rcm", "hilbert")
"""The choices of a user."""

GOOD_CUT = 0.02
"""Share of arcs between parts below which a numbering is left alone."""

NO_ORDER_DEGREE = 16.0
"""Mean degree from which no order is expected to help."""


@dataclass(frozen=True, eq=False)
class Order:
    """An order of a graph's vertices."""

    name: str  # one of `ORDERS`, but for ``auto``
    # int64, (n,): the input's number of each vertex; None for the same
    order: NDArray[np.int64] | None = None
    numbers: NDArray[Any] | None = None  # (n,): the inverse

    def in_order(self, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers in this order of vertices of the input."""
        return vertices if self.numbers is None else self.numbers[vertices].astype(np.int64)

    def in_input(self, vertices: NDArray[Any]) -> NDArray[Any]:
        """The input's numbers of vertices; negative values stand for no vertex and stay."""
        if self.order is None:
            return vertices
        return np.where(vertices < 0, vertices, self.order[vertices])

    def by_input(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of all vertices, shape (n,), in the order of the input."""
        if self.order is None:
            return values
        sorted_values = np.empty_like(values)
        sorted_values[self.order] = values
        return sorted_values


def arrange(
    graph: Graph,
    name: str,
    coordinates: str | Path | None,
    parts: int,
    cut: Callable[[Graph], Partition],
) -> tuple[Graph, Order]:
    """Renumber a graph in the order ``name``; return the renumbered graph and the order."""
    if name == "auto":
        return _best(graph, coordinates, parts, cut)
    if name == "none":
        return graph, Order(name)
    return _renumbered(graph, name, coordinates)


def _best(
    graph: Graph, coordinates: str | Path | None, parts: int, cut: Callable[[Graph], Partition]
) -> tuple[Graph, Order]:
    unchanged = graph, Order("none")
    if parts == 1 or is_dense(graph.vertex_count, graph.arc_count):
        return unchanged
    before = quality(graph, cut(graph))
    if is_good(before, graph.arc_count):
        return unchanged
    name = "hilbert" if _has_places(graph, coordinates) else "bfs"
    better = _renumbered(graph, name, coordinates)
    after = quality(better[0], cut(better[0]))
    # one hub's arcs may be most of the cut, but a long path crosses at other vertices
    halved = after.cut < before.cut / 2 or after.border < before.border / 2
    return better if halved else unchanged


def _has_places(graph: Graph, coordinates: str | Path | None) -> bool:
    return coordinates is not None or graph.coordinates is not None


def is_dense(vertex_count: int, arc_count: int) -> bool:
    """Return True if no order is expected to help."""
    return arc_count >= NO_ORDER_DEGREE * vertex_count


def is_good(quality: Quality, arc_count: int) -> bool:
    """Return True if the numbering is good enough to cut."""
    return quality.cut <= GOOD_CUT * arc_count


def _renumbered(graph: Graph, name: str, coordinates: str | Path | None) -> tuple[Graph, Order]:
    orders = {"bfs": _bfs, "rcm": _rcm, "hilbert": _hilbert}
    order = orders[name](graph, coordinates).astype(np.int64, copy=False)
    numbers = np.empty(graph.vertex_count, graph.heads.dtype)
    numbers[order] = np.arange(graph.vertex_count, dtype=numbers.dtype)
    arrays = renumbered(graph.offsets, graph.heads, graph.weights, order, numbers)
    offsets, heads, weights = arrays
    renumbering = Order(name, order, numbers)
    return Graph(offsets, heads, weights, graph.first_id, graph.name), renumbering


def _bfs(graph: Graph, _coordinates: str | Path | None) -> NDArray[np.int64]:
    """Search from the vertex that a first search, from one of the greatest degree, reached last."""
    order = np.empty(graph.vertex_count, np.int64)
    if graph.vertex_count:
        middle = int(np.diff(graph.offsets).argmax())
        reached = breadth_first(graph.offsets, graph.heads, middle, order)
        breadth_first(graph.offsets, graph.heads, int(order[reached - 1]), order)
    return order


def _rcm(graph: Graph, _coordinates: str | Path | None) -> NDArray[Any]:
    try:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import reverse_cuthill_mckee
    except ImportError as problem:
        raise InputError(f"order rcm needs SciPy ({problem}); pip install scipy") from problem
    if graph.arc_count == 0:
        return np.arange(graph.vertex_count)
    if graph.arc_count > np.iinfo(np.int32).max:
        raise InputError(
            f"order rcm cannot take the {graph.arc_count:,} arcs of {graph.name}; SciPy's takes "
            "2³¹ − 1 at most; choose bfs"
        )
    ones = np.ones(graph.arc_count, np.uint8)
    size = graph.vertex_count
    return np.asarray(
        reverse_cuthill_mckee(csr_array((ones, graph.heads, graph.offsets), shape=(size, size)))
    )


def _hilbert(graph: Graph, coordinates: str | Path | None) -> NDArray[Any]:
    if not _has_places(graph, coordinates):
        raise InputError(
            f"order hilbert needs the coordinates of {graph.name}; name a .co file with "
            "--coordinates, or lay it beside the graph file"
        )
    places = coordinates_for(graph, coordinates)
    if not len(places):
        return np.empty(0, np.int64)
    places = places - places.min(axis=0)
    shift = int(np.frexp(places.max())[1]) - HILBERT_BITS
    if np.array_equal(places, np.rint(places)):  # a grid already
        shift = max(shift, 0)
    on_grid = np.floor(np.ldexp(places, -shift)).astype(np.int64)
    return np.argsort(hilbert_places(on_grid[:, 0], on_grid[:, 1]), kind="stable")
