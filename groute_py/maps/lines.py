"""Geometry of arcs and parts of them: straight segments along the shapes of roads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.graph.geography import Shapes
from groute_py.maps.pieces import Pieces, whole_arcs

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ground:
    """The places of the vertices of a graph and of the points of its shapes."""

    points: Floats  # (n, 2)
    shapes: Shapes | None = None  # None for straight arcs
    scale: tuple[float, float] = (1.0, 1.0)  # of steps along each axis, by which arcs are cut

    def corners(self, arcs: Pieces) -> tuple[Indices, Floats]:
        """Return how many points each whole arc has, with both ends, and those of one after
        another.
        """
        inner = np.zeros(len(arcs), np.int64), np.empty((0, 2))
        counts, between = inner if self.shapes is None else self.shapes.between(arcs.arcs)
        counts = counts + 2
        last = np.cumsum(counts) - 1
        first = last + 1 - counts
        corners = np.empty((int(counts.sum()), 2))
        is_inner = np.ones(len(corners), np.bool_)
        is_inner[first] = is_inner[last] = False
        corners[first], corners[last] = self.points[arcs.tails], self.points[arcs.heads]
        corners[is_inner] = between
        return counts, corners

    def path(self, vertices: Indices) -> Floats:
        """The points of a path, whose arcs have the shapes, float64, shape (p, 2), at least two."""
        if len(vertices) == 1:
            return self.points[np.repeat(vertices, 2)]
        counts, corners = self.corners(whole_arcs(vertices[:-1], vertices[1:]))
        return np.delete(corners, np.cumsum(counts)[:-1], axis=0)  # each arc's tail but the first


class Segments(NamedTuple):
    """Straight segments, piece by piece, at least one of each."""

    ends: Floats  # (s, 2, 2)
    shares: Floats  # (s, 2): how far along its arc each end lies, from 0 to 1
    pieces: Indices  # (s,): the number of the piece, ascending

    def firsts(self) -> Indices:
        """The first segment of each piece, int64, shape (p,)."""
        return np.flatnonzero(np.diff(self.pieces, prepend=-1))

    def outer(self) -> Floats:
        """The begin and the end of each piece, float64, shape (p, 2, 2)."""
        firsts = self.firsts()
        lasts = np.append(firsts[1:], len(self.pieces))[: len(firsts)] - 1
        return np.stack([self.ends[firsts, 0], self.ends[lasts, 1]], axis=1)


def segments_of(pieces: Pieces, ground: Ground) -> Segments:
    """Lay parts of arcs, which are passed at an even speed along their shapes, onto the ground."""
    if ground.shapes is None:
        shares = np.stack([pieces.begins, pieces.ends], axis=1)
        return Segments(pieces.lines(ground.points), shares, np.arange(len(pieces)))
    counts, corners = ground.corners(pieces)
    piece = np.repeat(np.arange(len(pieces)), counts)
    along = _along(corners * ground.scale, counts, piece)
    first = np.flatnonzero(piece[:-1] == piece[1:])  # the corner at which each segment begins
    of, low, high = piece[first], along[first], along[first + 1]
    shares = np.stack([np.maximum(low, pieces.begins[of]), np.minimum(high, pieces.ends[of])], 1)
    some = np.flatnonzero(shares[:, 0] < shares[:, 1])
    first, of, low, high, shares = first[some], of[some], low[some], high[some], shares[some]
    within = (shares - low[:, np.newaxis]) / (high - low)[:, np.newaxis]
    ways = corners[first + 1] - corners[first]
    ends = corners[first, np.newaxis] + within[..., np.newaxis] * ways[:, np.newaxis]
    return Segments(ends, shares, of)


def beelines(arcs: Pieces, ground: Ground) -> Floats:
    """The straight distance between the ends of whole arcs, float64, shape (p,)."""
    ways = ground.points[arcs.heads] - ground.points[arcs.tails]
    return np.asarray(np.hypot(*ways.T))


def shapes_between(
    roads: Graph, tails: Indices, heads: Indices, *, is_reversed: bool = False
) -> Shapes | None:
    """The shapes of the lightest arcs between pairs of vertices; None without any."""
    if roads.shapes is None:
        return None
    ends = (heads, tails) if is_reversed else (tails, heads)
    return shapes_along(roads.shapes, _lightest(roads, *ends), is_reversed=is_reversed)


def shapes_along(shapes: Shapes, arcs: Indices, *, is_reversed: bool = False) -> Shapes:
    """The shapes of some arcs by their numbers, perhaps turned round; −1 is a straight one."""
    straight = len(shapes.offsets) - 1  # one more line, without points
    lines = shapes.lines[arcs] if len(shapes.lines) else straight
    offsets = np.append(shapes.offsets, shapes.offsets[-1:])
    some = Shapes(np.where(arcs < 0, straight, lines).astype(np.int64), offsets, shapes.points)
    return some.turned_round() if is_reversed else some


def ground_along(
    points: Floats, roads: Graph | None, vertices: Indices, *, is_reversed: bool = False
) -> Ground:
    """The ground of a path, whose arcs are the lightest between its vertices."""
    if roads is None or roads.shapes is None:
        return Ground(points)
    steps = (step[::-1] if is_reversed else step for step in pairwise(vertices.tolist()))
    arcs = [roads.lightest_arc(*step) for step in steps]
    numbers = np.array([-1 if arc is None else arc for arc in arcs], np.int64)
    return Ground(points, shapes_along(roads.shapes, numbers, is_reversed=is_reversed))


def _lightest(graph: Graph, tails: Indices, heads: Indices) -> Indices:
    """The numbers of the lightest arcs, int64, shape (k,); −1 where none leads there."""
    keys = graph.tails() * graph.vertex_count + graph.heads
    pairs = tails * graph.vertex_count + heads
    order = np.lexsort((graph.weights, keys))
    if not len(order):
        return np.full(len(pairs), -1)
    arcs = order[np.minimum(np.searchsorted(keys, pairs, sorter=order), len(order) - 1)]
    return np.where(keys[arcs] == pairs, arcs, -1)


def _along(corners: Floats, counts: Indices, piece: Indices) -> Floats:
    """The share of its arc that lies before each corner, from 0 to 1, ascending."""
    if not len(counts):
        return np.empty(0)
    last = np.cumsum(counts) - 1
    first = last + 1 - counts
    steps = np.hypot(*np.diff(corners, axis=0, prepend=corners[:1]).T)
    steps[first] = 0
    passed = np.cumsum(steps)
    passed -= passed[first][piece]
    total = passed[last]
    number = np.arange(len(piece)) - first[piece]  # of an arc without a length, by its corners
    lengths = np.where(total > 0, total, counts - 1)
    along = np.where(total[piece] > 0, passed, number) / lengths[piece]
    along[last] = 1
    return np.asarray(np.minimum(along, 1))
