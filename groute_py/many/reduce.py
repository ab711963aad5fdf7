"""Reductions of the rows of all sources: sums, greatest distances, a histogram."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.device.summary import Summary, bin_count, edges_of, wide
from groute_py.many.storage.store import SHARE, Store

REDUCTIONS = ("none", "sum", "max", "histogram")
"""The reductions that a user may choose."""

OF_ROWS = ("reached", "sums", "farthest", "greatest", "reciprocals")
"""The fields of a `Reduction` that have an entry for each source."""


@dataclass
class Reduction:
    """Of some of k sources; others have −1 in ``reached``.

    Attributes:
        reached: int64, shape (k,): vertices that a path leads to, the source included.
        sums: int64, or float64 where weights are floats, shape (k,): of their distances.
        farthest: int64, shape (k,): the vertex of the greatest distance.
        greatest: shape (k,), int64 or float64: that distance.
        counts: int64: how many distances there are in each bin; see `histogram`.
        reciprocals: float64, shape (k,): of 1 / distance; 0 if not asked for.
    """

    reached: NDArray[np.int64]
    sums: NDArray[Any]
    farthest: NDArray[np.int64]
    greatest: NDArray[Any]
    counts: NDArray[np.int64]
    reciprocals: NDArray[np.float64]

    @classmethod
    def of(cls, count: int, weight_type: np.dtype[Any]) -> Reduction:
        """Of nothing yet, for ``count`` sources of a graph with such weights."""
        kind = wide(weight_type)
        return cls(
            np.full(count, -1, np.int64),
            np.zeros(count, kind),
            np.zeros(count, np.int64),
            np.zeros(count, kind),
            np.zeros(bin_count(kind), np.int64),
            np.zeros(count, np.float64),
        )

    @property
    def histogram(self) -> list[tuple[float, float, int]]:
        """[from, to, pairs], ascending: 0 at both ends, or from one power of two to the next."""
        kind = self.greatest.dtype
        return sorted(
            (*edges_of(number, kind), int(self.counts[number]))
            for number in np.flatnonzero(self.counts).tolist()
        )

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, by name; not copied."""
        return {name: getattr(self, name) for name in (*OF_ROWS, "counts")}

    def take(self, positions: NDArray[np.int64], summary: Summary) -> None:
        """Take the summary of the rows of the sources at some positions."""
        self.reached[positions], self.sums[positions] = summary.reached, summary.sums
        self.farthest[positions], self.greatest[positions] = summary.farthest, summary.greatest
        if summary.histogram is not None:
            self.counts += summary.histogram
        if summary.reciprocals is not None:
            self.reciprocals[positions] = summary.reciprocals

    def handed_over(self, positions: NDArray[np.int64]) -> Reduction:
        """What there is of the sources at some positions, and the counts, which begin anew."""
        counts = self.counts.copy()
        self.counts.fill(0)
        return Reduction(
            counts=counts, **{name: getattr(self, name)[positions] for name in OF_ROWS}
        )

    def add(self, positions: NDArray[np.int64], other: Reduction) -> None:
        """Take what another rank has handed over of the sources at some positions."""
        for name in OF_ROWS:
            getattr(self, name)[positions] = getattr(other, name)
        self.counts += other.counts


class OwnRows:
    """The rows of a rank's sources, reduced as they come.

    Attributes:
        done: how many there have been.

    Args:
        summaries: of these rows, in their order.
        positions: of their sources.
        found: takes what is left of them.
    """

    def __init__(
        self, summaries: Iterator[Summary], positions: NDArray[np.int64], found: Reduction
    ) -> None:
        self._summaries, self._positions, self._found = summaries, positions, found
        self.done, self._handed_over = 0, 0

    def advance(self, stop: int | None) -> Iterator[int]:
        """Go on, and yield how many are done, until so many are; None for all that there are."""
        if stop is not None and self.done >= stop:
            return
        for summary in self._summaries:
            self.done = summary.first + summary.count
            self._found.take(self._positions[summary.first : self.done], summary)
            yield self.done
            if stop is not None and self.done >= stop:
                return

    def handed_over(self) -> tuple[NDArray[np.int64], Reduction]:
        """What has been found since the last call, and the positions of these sources."""
        positions = self._positions[self._handed_over : self.done]
        self._handed_over = self.done
        return positions, self._found.handed_over(positions)


EVERY_S = 30.0
"""Seconds between two saves, about."""

GROWTH = 8
"""A slice has at most so many times the sources of the one before, by whose time it is chosen."""

FIRST = {"cpu": 1 << 27, "cuda": 1 << 31}
"""Vertices and arcs, of all its sources together, of a rank's first slice: seconds, by device."""

BLOCKS = 1024
"""Sources that a GPU may solve from at once, a block each."""


def slices(
    channel: Channel, own: int, store: Store | None, device: str, work: int
) -> Iterator[int | None]:
    """Up to which of its sources each rank comes next; None up to all. Collective.

    A slice lasts until the next is asked for; rank 0's time counts.

    Args:
        channel: connects the ranks.
        own: how many sources this rank has.
        store: is written between slices; None, everywhere, for a single one.
        device: ``cpu`` or ``cuda``.
        work: vertices and arcs.
    """
    most, done, together = max(channel.gather(own)), 0, at_once(device)

    def whole(count: int) -> int:
        """About so many sources, which leave no core or block idle until the next save."""
        return max(count // together, 1) * together

    count = whole(FIRST[device] // (work + 1))
    while store is not None:
        done += channel.broadcast(count)
        if done >= most:
            break
        begun = time.monotonic()
        yield done
        solving_s = time.monotonic() - begun - store.writing_s
        least_s = max(EVERY_S, SHARE * store.writing_s)
        count = whole(int(count * min(least_s / max(solving_s, 1e-9), GROWTH)))
    yield None


def at_once(device: str) -> int:
    """From how many sources a rank solves at once."""
    return BLOCKS if device == "cuda" else len(os.sched_getaffinity(0))
