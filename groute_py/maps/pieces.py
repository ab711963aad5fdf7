"""The arcs within reach, cut where the limits fall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
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
