"""Geometry of arcs and parts of them: straight segments along the shapes of roads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.graph.geography import Shapes
from groute_py.graph.tails import ranges

Watch = Callable[[int], object]
"""A function that is called after each limit with the size of the answer; it may raise."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Parts of arcs, by ascending limits and then by arcs; all arrays have the shape (p,)."""

    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    begins: NDArray[np.float64]  # from 0 at the tail to 1 at the head, as ends
    ends: NDArray[np.float64]
    bands: NDArray[np.int64]  # the number of the least limit within which the part lies
    arcs: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.tails)

    def some(self, which: NDArray[Any]) -> Pieces:
        """The parts of some numbers, or those that a mask selects."""
        return Pieces(*(column[which] for column in vars(self).values()))

    def turned_round(self) -> Pieces:
        """The same parts of the arcs that lead the other way."""
        begins, ends = 1 - self.ends, 1 - self.begins
        return replace(self, tails=self.heads, heads=self.tails, begins=begins, ends=ends)

    def lines(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Both ends of each part if arcs are straight, float64, shape (p, 2, 2)."""
        tails = places[self.tails]
        ways = places[self.heads] - tails
        ends = (tails + share[:, np.newaxis] * ways for share in (self.begins, self.ends))
        return np.stack(list(ends), axis=1)


def whole_arcs(
    tails: NDArray[np.int64], heads: NDArray[Any], arcs: NDArray[np.int64] | None = None
) -> Pieces:
    """Whole arcs as parts of one band; their numbers are 0, 1, … by default."""
    count = len(tails)
    arcs = np.arange(count) if arcs is None else arcs
    begins, ends = (np.broadcast_to(np.float64(share), count) for share in (0, 1))
    bands = np.broadcast_to(np.int64(0), count)
    return Pieces(tails, heads.astype(np.int64, copy=False), begins, ends, bands, arcs)


def pieces_of(
    graph: Graph,
    vertices: NDArray[np.int64],
    distances: NDArray[np.float64],
    limits: NDArray[np.float64],
    arc_begins: NDArray[np.float64] | None = None,
    watch: Watch | None = None,
) -> Pieces:
    """Find the parts of arcs that are within each limit and not within the one before.

    >>> path = Graph.from_arrays([0, 1, 2, 2], [1, 2], [4, 4])
    >>> parts = pieces_of(path, np.array([0, 1]), np.array([0.0, 4.0]), np.array([3.0, 5.0]))
    >>> parts.begins.tolist(), parts.ends.tolist(), parts.bands.tolist()
    ([0.0, 0.75, 0.0], [0.75, 1.0, 0.25], [0, 1, 1])
    """
    counts = graph.offsets[vertices + 1] - graph.offsets[vertices]
    rows, arcs = ranges(graph.offsets[vertices], counts)
    whole = whole_arcs(vertices[rows], graph.heads[arcs], arcs)
    weights = graph.weights[arcs].astype(np.float64)
    base = distances[rows] if arc_begins is None else arc_begins
    # a road with a shape may end where it begins
    has_extent = (whole.tails != whole.heads) | (graph.shapes is not None)
    parts: list[Pieces] = []
    begins, count = whole.begins, 0
    for band, limit in enumerate(limits.tolist()):
        ends = _share(limit - base, weights)
        bands = np.broadcast_to(band, len(ends))
        cut = replace(whole, begins=begins, ends=ends, bands=bands)
        parts.append(cut.some((ends > begins) & has_extent))
        begins, count = ends, count + len(parts[-1])
        if watch is not None:
            watch(count)
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return Pieces(*(np.concatenate(column) for column in columns))


def _share(left: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of each arc that can be passed with the distance left at its tail, 0 to 1."""
    with np.errstate(over="ignore"):  # infinity is more than 1, too
        passed = np.divide(left, weights, out=np.ones(len(left)), where=weights > 0)
    return np.where(left < 0, 0.0, np.clip(passed, 0.0, 1.0))


Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ground:
    """The places of the vertices of a graph and of the points of its shapes."""

    points: Floats  # (n, 2)
    shapes: Shapes | None = None  # None for straight arcs
    # of steps along each axis, by which arcs are cut; None for degrees
    scale: tuple[float, float] | None = (1.0, 1.0)

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

    def steps(self, corners: Floats) -> Floats:
        """The length of the way to each corner from the one before, float64, shape (c,)."""
        ways = np.diff(corners, axis=0, prepend=corners[:1])
        if self.scale is None:
            middles = np.radians(corners[:, 1] - ways[:, 1] / 2)
            ways[:, 0] = (ways[:, 0] - 360 * np.rint(ways[:, 0] / 360)) * np.cos(middles)
        return np.asarray(np.hypot(*(ways * (self.scale or 1)).T))

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
    along = _along(ground.steps(corners), counts, piece)
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


def _along(steps: Floats, counts: Indices, piece: Indices) -> Floats:
    """The share of its arc that lies before each corner, from 0 to 1, ascending."""
    if not len(counts):
        return np.empty(0)
    last = np.cumsum(counts) - 1
    first = last + 1 - counts
    steps[first] = 0
    passed = np.cumsum(steps)
    passed -= passed[first][piece]
    total = passed[last]
    number = np.arange(len(piece)) - first[piece]  # of an arc without a length, by its corners
    lengths = np.where(total > 0, total, counts - 1)
    along = np.where(total[piece] > 0, passed, number) / lengths[piece]
    along[last] = 1
    return np.asarray(np.minimum(along, 1))
