"""Arcs as straight parts between points, of which some lie along the shapes of roads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groute_py.graph.csr import Graph
from groute_py.graph.shapes import Shapes
from groute_py.maps.raster import Arcs, Floats, Indices


@dataclass(frozen=True)
class Parts:
    """Straight parts of arcs, arc by arc, each arc from its tail to its head.

    Attributes:
        points: float64, shape (n + b, 2): the places of n vertices, then the points between the
            ends of arcs.
        lines: k parts, between points.
        arcs: the number of the arc of each part, shape (k,); all of them where each is one part.
    """

    points: Floats
    lines: Arcs
    arcs: Indices | slice

    def at_points(self, values: Floats, arcs: Arcs, scale: tuple[float, float]) -> Floats:
        """Values of all points: between the ends of an arc they run from one to the other.

        Args:
            values: of the vertices, shape (n,).
            arcs: whose parts these are.
            scale: how long steps of one are along each axis.

        Returns:
            Shape (n + b,).
        """
        if isinstance(self.arcs, slice):
            return values
        ways = self.points[self.lines.heads] - self.points[self.lines.tails]
        passed = np.cumsum(np.hypot(*(ways * scale).T))
        counts = np.bincount(self.arcs, minlength=len(arcs.tails))
        ends = passed[np.cumsum(counts) - 1]
        begins = np.concatenate([[0.0], ends[:-1]])
        lengths = np.where(ends > begins, ends - begins, 1.0)
        inner = np.flatnonzero(self.lines.heads >= len(values))
        of = self.arcs[inner]
        shares = (passed[inner] - begins[of]) / lengths[of]
        low, high = values[arcs.tails[of]], values[arcs.heads[of]]
        return np.concatenate([values, low + (high - low) * shares])


def parts_of(places: Floats, arcs: Arcs, shapes: Shapes | None) -> Parts:
    """The parts of arcs, whose shapes are given in their order; straight without any."""
    if shapes is None or not len(arcs.tails):
        return Parts(places, arcs, slice(None))
    counts, between = shapes.between(np.arange(len(arcs.tails)))
    number = np.repeat(np.arange(len(counts)), counts + 1)
    last = np.cumsum(counts + 1) - 1
    first = last - counts
    is_inner = np.ones(len(number), np.bool_)
    tails, heads = np.empty((2, len(number)), np.int64)
    points = np.arange(len(places), len(places) + len(between))
    is_inner[first] = False
    tails[first], tails[is_inner] = arcs.tails, points
    is_inner[first], is_inner[last] = True, False
    heads[last], heads[is_inner] = arcs.heads, points
    return Parts(np.concatenate([places, between]), Arcs(tails, heads), number)


def shapes_between(roads: Graph, arcs: Arcs, *, turned: bool = False) -> Shapes:
    """The shapes of the lightest arcs between pairs of vertices; straight where there is no arc.

    Args:
        roads: with shapes, in host memory.
        arcs: the pairs.
        turned: whether the arcs of the graph lead from the heads to the tails.
    """
    assert roads.shapes is not None
    ends = (arcs.heads, arcs.tails) if turned else (arcs.tails, arcs.heads)
    found = _lightest(roads, *ends)
    lines, offsets, points = roads.shapes
    empty = len(offsets) - 1
    of = np.where(found < 0, empty, lines[found] if len(lines) else empty).astype(np.int64)
    shapes = Shapes(of, np.append(offsets, offsets[-1:]), points)
    return shapes.turned_round() if turned else shapes


def _lightest(graph: Graph, tails: Indices, heads: Indices) -> Indices:
    """The numbers of the lightest arcs, int64, shape (k,); −1 where none leads there."""
    count = graph.vertex_count
    rows = graph.tails()
    keys = rows * count + graph.heads
    order = np.lexsort((graph.weights, keys))
    wanted = tails * count + heads
    if not len(order):
        return np.full(len(wanted), -1)
    places = np.searchsorted(keys, wanted, sorter=order)
    found = order[np.minimum(places, len(order) - 1)]
    return np.where(keys[found] == wanted, found, -1)
