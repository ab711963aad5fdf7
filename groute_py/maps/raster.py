"""Vertices and lines as pixels: sums and counts by NumPy, not one mark a vertex.

A picture of 24 million vertices takes one `bincount` over them. Lines are drawn by points along
them, a pixel apart, some lines at a time, so that memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.tails import ranges
from groute_py.maps.lines import Floats, Indices
from groute_py.maps.places import east_of_north

SAMPLES_AT_ONCE = 1 << 22  # points along lines that are made at a time

PLACES_AT_ONCE = 1 << 16
"""Places that are turned into pixels at a time, so that they stay in the cache."""

MOST_SAMPLES = 200_000_000
"""Samples of all lines of a picture; with more, lines cross the whole picture, which would be
full."""

JUDGED = 10_000  # places that tell whether all are whole numbers
MILLIONTHS = 1e6  # DIMACS gives longitude and latitude in millionths of a degree


@dataclass(frozen=True)
class Frame:
    """The pixels of a picture, and the scale of its places."""

    low: tuple[float, float]  # the least x and y
    scale: tuple[float, float]  # pixels for each unit of x and of y
    width: int
    height: int

    @classmethod
    def around(cls, places: Floats, longest: int, stretch: float = 1.0) -> Frame:
        """The frame of all places, whose longer side has so many pixels.

        A step of x is ``stretch`` times as long as one of y.

        >>> Frame.around(np.array([[0.0, 0.0], [40, 10]]), 101, 0.5).at(np.array([[20.0, 5]]))
        array([[50., 25.]])
        """
        low, high = (np.array([end(axis) for axis in places.T]) for end in (np.min, np.max))
        spans = (high - low) * (stretch, 1.0)
        scale = (longest - 1) / spans.max() if spans.max() > 0 else 1.0
        width, height = (spans * scale + 0.5).astype(int) + 1
        return cls((low[0], low[1]), (scale * stretch, scale), int(width), int(height))

    def at(self, places: Floats) -> Floats:
        """Places in pixels from the lower left corner, of the shape (…, 2)."""
        return (places - self.low) * self.scale

    def pixels(self, places: Floats) -> Indices:
        """The pixel of each place, row by row from below, shape (k,)."""
        pixels = np.empty(len(places), np.int64)
        for first in range(0, len(places), PLACES_AT_ONCE):
            some = slice(first, first + PLACES_AT_ONCE)
            pixels[some] = self.index(self.at(places[some]))
        return pixels

    def index(self, spots: Floats) -> Indices:
        """The pixel of each place in pixels."""
        nearest = (spots + 0.5).astype(np.int64)
        return nearest[:, 1] * self.width + nearest[:, 0]

    def steps(self, lines: Floats) -> Indices:
        """By how many steps each of some lines, shape (k, 2, 2), is drawn."""
        apart = np.abs(lines[:, 1] - lines[:, 0]) * self.scale
        return np.asarray(np.ceil(apart.max(axis=1, initial=0)), np.int64)

    def can_draw(self, lines: Floats) -> bool:
        """Return True if lines can be drawn in seconds."""
        return int(self.steps(lines).sum()) + len(lines) <= MOST_SAMPLES

    def drawn(self, lines: Floats) -> Iterator[tuple[slice, Indices, Floats, Indices]]:
        """The points along lines as `samples` has them, and the pixel of each."""
        for some, owner, share in samples(self.steps(lines)):
            yield some, owner, share, self.index(points_along(self.at(lines[some]), owner, share))


def samples(steps: Indices) -> Iterator[tuple[slice, Indices, Floats]]:
    """Points along lines that are parted by so many steps each, some lines at a time.

    Yields a slice of the lines, the number of each point's line in it, and how far along the line
    the point lies, from 0 to 1.
    """
    ends = np.cumsum(steps + 1)
    first = 0
    while first < len(steps):
        done = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, done + SAMPLES_AT_ONCE, "right")), first + 1)
        counts = steps[first:last] + 1
        owner, step = ranges(0, counts)
        yield slice(first, last), owner, step / np.maximum(counts - 1, 1)[owner]
        first = last


def points_along(lines: Floats, owner: Indices, share: Floats) -> Floats:
    """The points that `samples` names, float64, shape (points, 2)."""
    points = (lines[:, 1] - lines[:, 0])[owner]
    points *= share[:, np.newaxis]
    points += lines[owner, 0]
    return points


def stretch_of(places: Floats) -> float:
    """The length of a step of x by one of y: the cosine of the middle latitude.

    Whole numbers are millionths of a degree, others degrees. What is outside of the range of
    longitude and latitude lies in a plane, where both are equally long; so it is, nearly, for
    small whole numbers, such as those of a grid.
    """
    low, high = (np.array([end(axis) for axis in places.T]) for end in (np.min, np.max))
    some = places[:: max(len(places) // JUDGED, 1)]
    unit = MILLIONTHS if np.array_equal(some, np.rint(some)) else 1.0
    (west, south), (east, north) = low / unit, high / unit
    is_plane = west < -180 or east > 180 or south < -90 or north > 90
    return 1.0 if is_plane else east_of_north((south + north) / 2)


def mean_of_points(frame: Frame, places: Floats, values: Floats) -> Floats:
    """The mean of the values in each pixel, shape (height, width); NaN where there is none."""
    pixels, size = frame.pixels(places), frame.width * frame.height
    sums = np.bincount(pixels, weights=values, minlength=size)
    return _mean(frame, sums, np.bincount(pixels, minlength=size), 1)


def mean_of_lines(frame: Frame, lines: Floats, values: Floats, thick: int) -> Floats:
    """The mean in each pixel of values along lines, between those of their ends, shape (k, 2)."""
    size = frame.width * frame.height
    sums, counts = np.zeros(size), np.zeros(size)
    for some, owner, share, pixels in frame.drawn(lines):
        begin, growth = values[some, 0], values[some, 1] - values[some, 0]
        between = begin[owner] + growth[owner] * share
        sums += np.bincount(pixels, weights=between, minlength=size)
        counts += np.bincount(pixels, minlength=size)
    return _mean(frame, sums, counts, thick)


def most_of_points(frame: Frame, places: Floats, values: Floats) -> Floats:
    """The greatest value, at least 0, in each pixel, shape (height, width); NaN without any."""
    most = np.full(frame.width * frame.height, -1.0)
    np.maximum.at(most, frame.pixels(places), values)
    return np.where(most < 0, np.nan, most).reshape(frame.height, frame.width)


def most_of_lines(frame: Frame, lines: Floats, values: Floats, thick: int) -> Floats:
    """The greatest value, at least 0, of the lines through each pixel; NaN without any."""
    most = np.full(frame.width * frame.height, -1.0)
    for some, owner, _, pixels in frame.drawn(lines):
        np.maximum.at(most, pixels, values[some][owner])
    drawn = spread(most.reshape(frame.height, frame.width), thick, np.maximum)
    return np.where(drawn < 0, np.nan, drawn)


def _mean(frame: Frame, sums: NDArray[Any], counts: NDArray[Any], thick: int) -> Floats:
    shape = (frame.height, frame.width)
    sums, counts = (spread(array.reshape(shape), thick, np.add) for array in (sums, counts))
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts)


def spread(image: NDArray[Any], thick: int, merge: np.ufunc) -> NDArray[Any]:
    """An image whose pixels are squares of so many pixels a side."""
    for axis in (0, 1):
        wide = image.copy()
        for shift in range(1, thick):
            by = shift // 2 + 1 if shift % 2 else -(shift // 2)
            target = [slice(None), slice(None)]
            origin = [slice(None), slice(None)]
            target[axis] = slice(by, None) if by > 0 else slice(None, by)
            origin[axis] = slice(None, -by) if by > 0 else slice(-by, None)
            merge(wide[tuple(target)], image[tuple(origin)], out=wide[tuple(target)])
        image = wide
    return image
