"""Vertices and arcs as pixels: sums and counts by NumPy, not one mark a vertex.

A picture of 24 million vertices takes one `bincount` over them. Arcs are drawn by points along
them, a pixel apart, and in pieces, so that memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

SAMPLES_AT_ONCE = 1 << 22
"""Points along arcs that are made at a time."""

PLACES_AT_ONCE = 1 << 16
"""Places that are turned into pixels at a time, so that they stay in the cache."""

MOST_SAMPLES = 200_000_000
"""Of all arcs of a picture; with more, arcs cross the whole picture, which would be full."""

LOOKED_AT = 10_000
"""Places that tell whether all are whole numbers."""

MILLIONTHS = 1e6
"""DIMACS gives longitude and latitude in millionths of a degree."""


@dataclass(frozen=True)
class Frame:
    """Where places lie on a picture.

    Attributes:
        low: the least x and y of all places.
        scale: pixels for each unit of x and of y.
        width, height: in pixels.
    """

    low: tuple[float, float]
    scale: tuple[float, float]
    width: int
    height: int

    @classmethod
    def around(cls, places: Floats, longest: int, *, planar: bool = False) -> Frame:
        """The frame of all places, whose longer side is of so many pixels.

        Args:
            places: shape (n, 2).
            longest: pixels of the longer side.
            planar: whether places lie on a plane; else their numbers decide.

        >>> frame = Frame.around(np.array([[0.0, 0.0], [40.5, 20.5]]) * 1e6, 100)
        >>> frame.width > frame.height
        True
        """
        low, high = (np.array([end(axis) for axis in places.T]) for end in (np.min, np.max))
        stretch = 1.0 if planar else east_of_north(places, low, high)
        spans = (high - low) * (stretch, 1.0)
        scale = (longest - 1) / spans.max() if spans.max() > 0 else 1.0
        width, height = (spans * scale + 0.5).astype(int) + 1
        return cls((low[0], low[1]), (scale * stretch, scale), int(width), int(height))

    def at(self, places: Floats) -> Floats:
        """Places in pixels from the lower left corner, shape (k, 2)."""
        return (places - self.low) * self.scale

    def pixels(self, places: Floats) -> Indices:
        """The pixel of each place, row by row from below, shape (k,)."""
        found = np.empty(len(places), np.int64)
        for first in range(0, len(places), PLACES_AT_ONCE):
            some = slice(first, first + PLACES_AT_ONCE)
            found[some] = self.index(self.at(places[some]))
        return found

    def index(self, spots: Floats) -> Indices:
        """The same of places in pixels."""
        nearest = (spots + 0.5).astype(np.int64)
        return nearest[:, 1] * self.width + nearest[:, 0]


def east_of_north(places: Floats, low: Floats, high: Floats) -> float:
    """How long a step of x is beside one of y: the cosine of the middle latitude.

    Whole numbers are millionths of a degree, others degrees. What is outside of the range of
    longitude and latitude lies in a plane, where both are equally long; so it is, nearly, for
    small whole numbers, such as those of a grid.

    Args:
        places: shape (n, 2).
        low, high: the least and the greatest of them, shape (2,).
    """
    some = places[:: max(len(places) // LOOKED_AT, 1)]
    unit = MILLIONTHS if np.array_equal(some, np.rint(some)) else 1.0
    (west, south), (east, north) = low / unit, high / unit
    if west < -180 or east > 180 or south < -90 or north > 90:
        return 1.0
    return max(float(np.cos(np.radians((south + north) / 2))), 0.01)


@dataclass(frozen=True)
class Arcs:
    """Straight lines between vertices.

    Attributes:
        tails, heads: indices, shape (k,).
    """

    tails: Indices
    heads: Indices

    def pieces(self, frame: Frame, places: Floats) -> Iterator[tuple[slice, Indices, Floats]]:
        """The arcs in pieces: which arcs, of each point its arc in the piece, and how far along.

        Yields:
            A slice of the arcs; int64 (points,), an arc's number in the slice; float64 (points,),
            0 at its tail and 1 at its head.
        """
        lengths = self.lengths(frame, places)
        ends = np.cumsum(lengths)
        first = 0
        while first < len(lengths):
            done = ends[first - 1] if first else 0
            last = max(int(np.searchsorted(ends, done + SAMPLES_AT_ONCE, "right")), first + 1)
            counts = lengths[first:last]
            owner = np.repeat(np.arange(last - first, dtype=np.int64), counts)
            step = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
            yield slice(first, last), owner, step / np.maximum(counts - 1, 1)[owner]
            first = last

    def lengths(self, frame: Frame, places: Floats) -> Indices:
        """How many points each arc is drawn by."""
        apart = np.abs(places[self.tails] - places[self.heads]) * frame.scale
        steps: Indices = np.ceil(apart.max(axis=1, initial=0)).astype(np.int64)
        return steps + 1

    def fit(self, frame: Frame, places: Floats) -> bool:
        """Whether they can be drawn in seconds."""
        return int(self.lengths(frame, places).sum()) <= MOST_SAMPLES

    def pixels(
        self, frame: Frame, places: Floats
    ) -> Iterator[tuple[slice, Indices, Floats, Indices]]:
        """As `pieces`, and the pixel of each point."""
        for some, owner, along in self.pieces(frame, places):
            starts, ends = (frame.at(places[side[some]]) for side in (self.tails, self.heads))
            spots = starts[owner] + (ends - starts)[owner] * along[:, None]
            yield some, owner, along, frame.index(spots)


def mean_of_points(frame: Frame, places: Floats, values: Floats) -> Floats:
    """The mean of the values in each pixel, shape (height, width); NaN where there is none."""
    pixels, size = frame.pixels(places), frame.width * frame.height
    counts = np.bincount(pixels, minlength=size)
    sums = np.bincount(pixels, weights=values, minlength=size)
    return _mean(frame, sums, counts)


def mean_of_arcs(frame: Frame, places: Floats, arcs: Arcs, values: Floats, thick: int) -> Floats:
    """The same of points along arcs, whose values run from that of the tail to that of the head.

    Args:
        frame, places, arcs: what is drawn.
        values: of all vertices.
        thick: the width of a line in pixels.
    """
    size = frame.width * frame.height
    sums, counts = np.zeros(size), np.zeros(size)
    for some, owner, along, pixels in arcs.pixels(frame, places):
        begin, end = values[arcs.tails[some]], values[arcs.heads[some]]
        between = begin[owner] + (end - begin)[owner] * along
        sums += np.bincount(pixels, weights=between, minlength=size)
        counts += np.bincount(pixels, minlength=size)
    shape = (frame.height, frame.width)
    return _mean(frame, *(spread(a.reshape(shape), thick, np.add) for a in (sums, counts)))


def most_of_points(frame: Frame, places: Floats, values: Floats) -> Floats:
    """The greatest value in each pixel, shape (height, width); NaN where there is none."""
    most = np.full(frame.width * frame.height, -1.0)
    np.maximum.at(most, frame.pixels(places), values)
    return np.where(most < 0, np.nan, most).reshape(frame.height, frame.width)


def most_of_arcs(frame: Frame, places: Floats, arcs: Arcs, values: Floats, thick: int) -> Floats:
    """The greatest value of the arcs through each pixel, shape (height, width); NaN without arcs.

    Args:
        frame, places, arcs: what is drawn.
        values: of the arcs, at least 0.
        thick: the width of a line in pixels.
    """
    most = np.full(frame.width * frame.height, -1.0)
    for some, owner, _, pixels in arcs.pixels(frame, places):
        np.maximum.at(most, pixels, values[some][owner])
    drawn = spread(most.reshape(frame.height, frame.width), thick, np.maximum)
    return np.where(drawn < 0, np.nan, drawn)


def _mean(frame: Frame, sums: NDArray[Any], counts: NDArray[Any]) -> Floats:
    with np.errstate(invalid="ignore"):
        mean: Floats = sums / counts
    return mean.reshape(frame.height, frame.width)


def spread(image: Floats, thick: int, merge: np.ufunc) -> Floats:
    """An image whose pixels are squares of so many pixels a side."""
    for axis in (0, 1):
        found = image.copy()
        for shift in range(1, thick):
            by = shift // 2 + 1 if shift % 2 else -(shift // 2)
            target = [slice(None), slice(None)]
            origin = [slice(None), slice(None)]
            target[axis] = slice(by, None) if by > 0 else slice(None, by)
            origin[axis] = slice(None, -by) if by > 0 else slice(-by, None)
            merge(found[tuple(target)], image[tuple(origin)], out=found[tuple(target)])
        image = found
    return image
