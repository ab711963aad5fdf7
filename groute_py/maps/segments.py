"""Where arcs and parts of them lie: straight segments along the shapes of roads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.shapes import Shapes
from groute_py.maps.pieces import Pieces


@dataclass(frozen=True, eq=False)
class Ground:
    """Where the vertices of a graph and the points of its shapes lie.

    Attributes:
        points: of the vertices, float64, shape (n, 2).
        shapes: of the arcs, with points in the same unit; None for straight arcs.
        scale: float64, shape (2,): how long steps of one are along each axis, by which an arc is
            cut at the right place.
    """

    points: NDArray[np.float64]
    shapes: Shapes | None
    scale: NDArray[np.float64]

    def corners(self, arcs: Pieces) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The points of whole arcs, both ends included.

        Returns:
            How many points each of p arcs has, at least 2, int64, shape (p,); and those of one arc
            after another, float64, shape (c, 2).
        """
        inner = np.zeros(len(arcs), np.int64), np.empty((0, 2))
        counts, between = inner if self.shapes is None else self.shapes.between(arcs.arcs)
        counts = counts + 2
        last = np.cumsum(counts) - 1
        first = last + 1 - counts
        found = np.empty((int(counts.sum()), 2))
        is_inner = np.ones(len(found), np.bool_)
        is_inner[first] = is_inner[last] = False
        found[first], found[last] = self.points[arcs.tails], self.points[arcs.heads]
        found[is_inner] = between
        return counts, found


class Segments(NamedTuple):
    """Straight segments, piece by piece, at least one of each.

    Attributes:
        ends: float64, shape (s, 2, 2): two ends, of two coordinates each.
        pieces: int64, shape (s,): the number of the piece, ascending.
    """

    ends: NDArray[np.float64]
    pieces: NDArray[np.int64]

    def firsts(self) -> NDArray[np.int64]:
        """The first segment of each piece, int64, shape (p,)."""
        return np.flatnonzero(np.diff(self.pieces, prepend=-1))

    def outer(self) -> NDArray[np.float64]:
        """Where each piece begins and ends, float64, shape (p, 2, 2)."""
        firsts = self.firsts()
        lasts = np.append(firsts[1:], len(self.pieces))[: len(firsts)] - 1
        return np.stack([self.ends[firsts, 0], self.ends[lasts, 1]], axis=1)


def segments_of(pieces: Pieces, ground: Ground) -> Segments:
    """Where parts of arcs lie, which are passed at an even speed along their shapes."""
    if ground.shapes is None:
        return Segments(pieces.lines(ground.points), np.arange(len(pieces)))
    counts, corners = ground.corners(pieces)
    piece = np.repeat(np.arange(len(pieces)), counts)
    along = _along(corners * ground.scale, counts, piece)
    first = np.flatnonzero(piece[:-1] == piece[1:])  # the corner at which each segment begins
    of, low, high = piece[first], along[first], along[first + 1]
    begins, ends = np.maximum(low, pieces.begins[of]), np.minimum(high, pieces.ends[of])
    some = np.flatnonzero(begins < ends)
    first, of, low, high = first[some], of[some], low[some], high[some]
    shares = (np.stack([begins[some], ends[some]], axis=1) - low[:, np.newaxis]) / (high - low)[
        :, np.newaxis
    ]
    ways = corners[first + 1] - corners[first]
    found = corners[first, np.newaxis] + shares[..., np.newaxis] * ways[:, np.newaxis]
    return Segments(found, of)


def beelines(arcs: Pieces, ground: Ground) -> NDArray[np.float64]:
    """How far apart the ends of whole arcs are, float64, shape (p,), in the unit of the ground."""
    ways = ground.points[arcs.heads] - ground.points[arcs.tails]
    return np.asarray(np.hypot(*ways.T))


def _steps(corners: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """How far each corner is from the one before; 0 of an arc's first."""
    steps = np.hypot(*np.diff(corners, axis=0, prepend=corners[:1]).T)
    steps[np.cumsum(counts) - counts] = 0
    return np.asarray(steps)


def _along(
    corners: NDArray[np.float64], counts: NDArray[np.int64], piece: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How far along its arc each corner lies, from 0 at the tail to 1 at the head, ascending."""
    if not len(counts):
        return np.empty(0)
    last = np.cumsum(counts) - 1
    first = last + 1 - counts
    passed = np.cumsum(_steps(corners, counts))
    passed -= passed[first][piece]
    total = passed[last]
    number = np.arange(len(piece)) - first[piece]  # of an arc without a length, by its corners
    lengths = np.where(total > 0, total, counts - 1)
    along = np.where(total[piece] > 0, passed, number) / lengths[piece]
    along[last] = 1
    return np.asarray(np.minimum(along, 1))
