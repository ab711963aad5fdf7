"""Reductions of many sources over all ranks, in slices after each of which they may be saved.

Rows are reduced to sums, greatest distances and a histogram; betweenness sums dependencies in the
same slices.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.summary import Summary, Wanted, bin_count, edges_of, wide
from groute_py.errors import InputError, everywhere
from groute_py.many.apsp import ManySources
from groute_py.many.delivery import Progress
from groute_py.many.storage.store import SHARE, Store
from groute_py.system.clock import count, span
from groute_py.system.threads import core_count

REDUCTIONS = ("none", "sum", "max", "histogram")  # the reductions that a user may choose

OF_ROWS = ("reached", "sums", "farthest", "greatest", "reciprocals")
"""The fields of a `Reduction` that have an entry for each source."""

EVERY_S = 30.0  # seconds between two saves, about

GROWTH = 8
"""A slice has at most so many times the sources of the one before, by whose time it is chosen."""

FIRST = {"cpu": 1 << 27, "cuda": 1 << 31}
"""Vertices and arcs, of all its sources together, of a rank's first slice: seconds, by device."""

BLOCKS = 1024  # sources that a GPU may solve from at once, a block each


@dataclass
class Reduction:
    """Reductions of the rows of some of k sources; others have −1 in ``reached``."""

    reached: NDArray[np.int64]  # (k,), vertices that a path leads to, the source included
    sums: NDArray[Any]  # (k,), of their distances; float64 where weights are floats, else int64
    farthest: NDArray[np.int64]  # (k,), the vertex of the greatest distance
    greatest: NDArray[Any]  # (k,), that distance
    counts: NDArray[np.int64]  # of distances in each bin; see `histogram`
    reciprocals: NDArray[np.float64]  # (k,), sums of 1 / distance; 0 if not wanted

    @classmethod
    def of(cls, count: int, weight_type: np.dtype[Any]) -> Reduction:
        """Return an empty one for ``count`` sources of a graph with such weights."""
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
        """Rows of from, to and pairs: 0 at both ends, or from one power of two to the next."""
        kind = self.greatest.dtype
        return sorted(
            (*edges_of(number, kind), int(self.counts[number]))
            for number in np.flatnonzero(self.counts).tolist()
        )

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name; not copied."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def take(self, numbers: NDArray[np.int64], summary: Summary) -> None:
        """Take the summary of the rows of the sources of some numbers."""
        self.reached[numbers], self.sums[numbers] = summary.reached, summary.sums
        self.farthest[numbers], self.greatest[numbers] = summary.farthest, summary.greatest
        if summary.histogram is not None:
            self.counts += summary.histogram
        if summary.reciprocals is not None:
            self.reciprocals[numbers] = summary.reciprocals

    def at(self, numbers: NDArray[np.int64]) -> Reduction:
        """Return the entries of some numbers, with a copy of the counts."""
        some = {name: getattr(self, name)[numbers] for name in OF_ROWS}
        return Reduction(counts=self.counts.copy(), **some)

    def add(self, numbers: NDArray[np.int64], other: Reduction) -> None:
        """Take another rank's entries of the sources of some numbers."""
        for name in OF_ROWS:
            getattr(self, name)[numbers] = getattr(other, name)
        self.counts += other.counts


class Sums(Protocol):
    """Sums over a rank's sources; see `in_slices`."""

    def advance(self, stop: int | None) -> Iterator[int]:
        """Take sources up to so many, None for all, and yield how many are done."""

    def gather(self, channel: Channel) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
        """Bring all ranks' sums to rank 0; return, there, which sources they are of. Collective."""


class RowSums:
    """The rows of a rank's sources reduced in place as they come."""

    def __init__(
        self,
        summaries: Iterator[Summary],
        numbers: NDArray[np.int64],
        total: Reduction,
        store: Store | None,
    ) -> None:
        self._summaries, self._numbers, self._total = summaries, numbers, total
        self._store, self._done, self._sent = store, 0, 0

    def advance(self, stop: int | None) -> Iterator[int]:
        if self._store is not None:
            self._store.withdraw()
        while stop is None or self._done < stop:
            summary = next(self._summaries, None)
            if summary is None:
                return
            self._done = summary.first + summary.count
            self._total.take(self._numbers[summary.first : self._done], summary)
            yield self._done

    def gather(self, channel: Channel) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
        total, own = self._total, None
        if channel.rank > 0:
            some = self._numbers[self._sent : self._done]
            self._sent, own = self._done, (some, total.at(some))
            total.counts.fill(0)
        for part in channel.gather(own):
            if channel.rank == 0 and part is not None:
                total.add(*part)
        return np.flatnonzero(total.reached >= 0), total.arrays


def reduce(
    channel: Channel,
    job: ManySources,
    request: Wanted,
    *,
    progress: Progress | None = None,
    store: Store | None = None,
) -> tuple[Reduction, str] | None:
    """Return the reduction of all rows, and what they were solved on, on rank 0. Collective.

    With ``store``, which has begun, it goes on with an earlier run, and is saved now and then.
    """
    if job.graph.scale is not None:
        objective = job.options.objective
        raise everywhere(InputError(f"objective {objective}: rows are not summed up; save them"))
    sources = len(job.sources)
    total = Reduction.of(sources, job.graph.weights.dtype)
    missing = np.arange(sources) if store is None else store.missing
    if store is not None:
        store.load_into(channel, total.arrays)
    own = job.part(missing, channel.rank, channel.size)
    with collective(channel):
        solving = job.solving(channel)
    work = job.graph.vertex_count + job.graph.arc_count
    with closing(solving.summaries(job.begins[own], request)) as summaries:
        rows = RowSums(summaries, own, total, store)
        stops = slices(channel, len(own), store, job.choice.device, work)
        in_slices(channel, rows, stops, (len(own), len(missing), sources), progress, store)
    return (total, solving.label) if channel.rank == 0 else None


def in_slices(
    channel: Channel,
    sums: Sums,
    stops: Iterator[int | None],
    counts: tuple[int, int, int],
    progress: Progress | None,
    store: Store | None,
) -> None:
    """Take all sources, a slice at a time, and save the sums after each but the last. Collective.

    ``counts`` are this rank's sources, those of all ranks, and these with the sources that an
    earlier run has taken.
    """
    own, missing, total = counts
    for stop in stops:
        with collective(channel), span("sums"):
            for done in sums.advance(stop):
                count("rows", done)
                if progress is not None:
                    # an estimate, as all ranks do about as many
                    most = total if done == own else total - 1
                    progress(min(total - missing + done * channel.size, most), total)
        units, arrays = sums.gather(channel)
        with collective(channel):
            if store is not None and stop is not None and channel.rank == 0:
                store.replace(units, **arrays)


def slices(
    channel: Channel, own: int, store: Store | None, device: str, work: int
) -> Iterator[int | None]:
    """Yield up to which of its ``own`` sources each rank comes next; None up to all. Collective.

    A slice lasts until the next is asked for; rank 0's time counts. Without ``store``, on all
    ranks, there is one. ``work`` is the number of vertices and arcs.
    """
    most, done, together = max(channel.gather(own)), 0, at_once(device)

    def whole(count: int) -> int:
        """Return about so many sources, which leave no core or block idle until the next save."""
        return max(count // together, 1) * together

    count = whole(FIRST[device] // (work + 1))
    while store is not None:
        done += channel.broadcast(count)
        if done >= most:
            break
        start_s = time.monotonic()
        yield done
        solving_s = time.monotonic() - start_s - store.writing_s
        least_s = max(EVERY_S, SHARE * store.writing_s)
        count = whole(int(count * min(least_s / max(solving_s, 1e-9), GROWTH)))
    yield None


def at_once(device: str) -> int:
    """Return from how many sources a rank solves at once."""
    return BLOCKS if device == "cuda" else core_count()
