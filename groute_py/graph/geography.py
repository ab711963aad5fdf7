"""Coordinates of vertices, their credit, and the shapes of arcs: the points between their ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError
from groute_py.graph.tails import ranges

OPENSTREETMAP = "© OpenStreetMap contributors, ODbL"
"""The credit for data of OpenStreetMap."""

EARTH_RADIUS_M = 6_371_008.8
"""The mean radius of the Earth, of the sphere on which distances are measured."""

Units = Mapping[str, str]
"""Units, such as ``ms``, by names of columns; that of weights by ""."""


class Geography(NamedTuple):
    """Coordinates, attribution and units of a graph, which results take."""

    coordinates: NDArray[np.float64] | None = None
    attribution: str = ""
    units: Units = {}  # noqa: RUF012 (nobody changes it)


class Shapes(NamedTuple):
    """Lines, and which of them each arc follows; both ways of a road share one."""

    # (m,): arc k follows line lines[k]; line ~lines[k] backwards where that is negative
    lines: NDArray[Any]
    offsets: NDArray[np.int64]  # (lines + 1,), from 0 to the number of points
    points: NDArray[np.float64]  # (points, 2), finite; without the ends of arcs

    def of(self, arc: int) -> NDArray[np.float64]:
        """The points between the tail and the head of an arc, float64, shape (k, 2).

        >>> shapes = Shapes(np.array([~0]), np.array([0, 2]), np.array([[1.0, 0], [2, 0]]))
        >>> shapes.of(0).tolist()
        [[2.0, 0.0], [1.0, 0.0]]
        """
        line = int(self.lines[arc])
        k = line if line >= 0 else ~line
        points = self.points[self.offsets[k] : self.offsets[k + 1]]
        return points if line >= 0 else points[::-1]

    def between(self, arcs: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return how many points each of some arcs has, and those of one arc after another."""
        lines = self.lines[arcs]
        is_back = lines < 0
        lines = np.where(is_back, ~lines, lines)
        counts = self.offsets[lines + 1] - self.offsets[lines]
        first = np.where(is_back, self.offsets[lines + 1] - 1, self.offsets[lines])
        which, number = ranges(0, counts)
        return counts, self.points[first[which] + np.where(is_back, -1, 1)[which] * number]

    def turned_round(self) -> Shapes:
        """The shapes of all arcs, of which tails and heads are exchanged."""
        return self._replace(lines=~self.lines)

    def of_arcs(self, arcs: NDArray[Any], *, flips: bool = False) -> Shapes:
        """The shapes of some arcs of the graph, by their numbers, shape (k,)."""
        lines = self.lines[arcs]
        return self._replace(lines=~lines if flips else lines)


def check_shapes(shapes: Shapes, arc_count: int) -> None:
    """Raise `GraphError` for shapes that are not those of so many arcs."""
    lines, offsets, points = shapes
    if lines.dtype not in (np.dtype(np.int32), np.dtype(np.int64)) or lines.shape != (arc_count,):
        raise GraphError(
            f"the lines of shapes must be {arc_count} int32 or int64, not {lines.dtype} of shape "
            f"{lines.shape}"
        )
    if points.dtype != np.float64 or points.ndim != 2 or points.shape[1] != 2:
        raise GraphError(
            f"the points of shapes must be float64 of shape (k, 2), not {points.dtype} of shape "
            f"{points.shape}"
        )
    if (
        offsets.dtype != np.int64
        or offsets.ndim != 1
        or not len(offsets)
        or offsets[0] != 0
        or offsets[-1] != len(points)
        or (offsets[1:] < offsets[:-1]).any()
    ):
        raise GraphError(f"the offsets of shapes must rise from 0 to their {len(points)} points")
    count = len(offsets) - 1
    if arc_count and not -count <= int(lines.min()) <= int(lines.max()) < count:
        raise GraphError(f"an arc has a shape that is none of {count} lines")
    if not np.isfinite(points).all():
        raise GraphError("the points of shapes must be finite")
