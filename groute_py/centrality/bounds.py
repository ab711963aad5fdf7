"""Diameter and radius of symmetric graphs from few rows, by bounds on eccentricities.

With d the distance between u and v, the eccentricity of v is at least d and e(u) − d, and at most
e(u) + d. Rows are solved for until no other vertex can have a greater, or a lesser, eccentricity.
Takes and Kosters, "Determining the diameter of small world networks" (2011). The bounds are exact
for integers only, and hold where each arc has a reverse arc of the same weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.agree import collective
from groute_py.comm.base import Channel
from groute_py.device.rows import RowBlock
from groute_py.graph.symmetrize import is_symmetric
from groute_py.many.apsp import ManySources
from groute_py.many.choose import Choice
from groute_py.many.delivery import Progress, deliver
from groute_py.many.reduce import Reduction
from groute_py.many.storage.store import Store
from groute_py.results.distances import public_distances

FEWEST, GROWTH = 2, 4
"""Rows of a round at least; a round has that part of the rows before it."""

FEW = 100  # vertices up to which all rows take less time than rounds
MOST = 2.0**61  # sums of two eccentricities have to fit in int64
METHOD = {"cpu": "heap", "cuda": "batch"}  # for a few rows at once, by device


def is_bounded(job: ManySources) -> bool:
    """Return whether bounds hold, and are worth it.

    All vertices are sources, weights are integers that are not negative, and arcs lead both ways.
    """
    facts = job.facts
    if facts.vertex_count <= FEW or facts.weight_type.kind == "f":
        return False
    if not np.array_equal(job.sources, np.arange(facts.vertex_count)):
        return False
    if facts.has_negative or facts.vertex_count * facts.greatest > MOST:
        return False
    return is_symmetric(job.graph)


def bounded_rows(
    channel: Channel,
    job: ManySources,
    measure: str,
    progress: Progress | None = None,
    store: Store | None = None,
) -> tuple[NDArray[np.int64], Reduction, str] | None:
    """Return the sources of a diameter or radius, their reduced rows, and the device. Collective.

    On rank 0, None elsewhere; among the sources is one with the greatest or least eccentricity. A
    ``store``, which has begun, has the bounds.
    """
    chosen = Choice(METHOD[job.choice.device], job.choice.device, "few rows, by bounds")
    job = replace(job, choice=chosen)
    bounds, label = Bounds(job, measure) if channel.rank == 0 else None, job.choice.device
    if store is not None:
        store.load_into(channel, {} if bounds is None else bounds.arrays)
    while True:
        numbers = channel.broadcast(None if bounds is None else bounds.following())
        if numbers is None or not len(numbers):
            break
        if store is not None:
            store.withdraw()
        label = deliver(channel, job, numbers, bounds)
        settled = channel.broadcast(0 if bounds is None else len(bounds.settled))
        with collective(channel):  # progress may end the job
            if progress is not None:
                progress(settled, job.facts.vertex_count)
            if store is not None and bounds is not None:
                store.replace(bounds.settled, **bounds.arrays)
    return None if bounds is None else (*bounds.rows(), label)


@dataclass(eq=False)
class Bounds:
    """Bounds on the eccentricities of n vertices; a `Sink`, by whose rows they tighten."""

    job: ManySources
    measure: str

    def __post_init__(self) -> None:
        degrees = np.diff(self.job.graph.offsets)
        count = len(degrees)
        self._lower = np.zeros(count, np.int64)
        self._upper = np.where(degrees > 0, np.iinfo(np.int64).max, 0)
        self._reduction = Reduction.of(count, np.dtype(np.int64))
        self._first = int(degrees.argmax())

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name; not copied."""
        return {"lower": self._lower, "upper": self._upper, **self._reduction.arrays}

    @property
    def settled(self) -> NDArray[np.int64]:
        """The vertices whose eccentricity cannot be the greatest, or the least, any more."""
        return np.flatnonzero(~self._candidates())

    def following(self) -> NDArray[np.int64]:
        """The sources of the next round; none if all is known."""
        reached = self._reduction.reached[self._reduction.reached > 0]
        if not len(reached):
            return np.array([self._first])
        if self.measure == "radius" and (reached < len(self._lower)).any():
            return np.zeros(0, np.int64)
        (candidates,) = np.nonzero(self._candidates())
        count = min(max(FEWEST, len(reached) // GROWTH), len(candidates))
        near = np.argsort(self._lower[candidates], kind="stable")[: count - count // 2]
        far = np.argsort(-self._upper[candidates], kind="stable")[: count // 2]
        chosen: NDArray[np.int64] = np.unique(candidates[np.concatenate([near, far])])
        return chosen

    def take(self, numbers: NDArray[np.int64], block: RowBlock) -> None:
        rows = public_distances(block.distances)
        for number, row in zip(numbers.tolist(), rows, strict=True):
            there = row != np.iinfo(np.int64).max
            distances = row[there]
            greatest = distances.max()
            self._lower[there] = np.maximum(
                self._lower[there], np.maximum(distances, greatest - distances)
            )
            self._upper[there] = np.minimum(self._upper[there], greatest + distances)
            self._lower[number] = self._upper[number] = greatest
            self._reduction.reached[number] = len(distances)
            self._reduction.greatest[number] = greatest
            self._reduction.farthest[number] = np.flatnonzero(row == greatest)[0]

    def rows(self) -> tuple[NDArray[np.int64], Reduction]:
        """The sources that rows were taken of, and what is left of these."""
        (solved,) = np.nonzero(self._reduction.reached > 0)
        return solved, self._reduction.at(solved)

    def _candidates(self) -> NDArray[np.bool_]:
        """The vertices that may beat those whose rows are known."""
        solved = self._reduction.reached > 0
        best: Callable[..., Any] = np.max if self.measure == "diameter" else np.min
        value = best(self._reduction.greatest[solved])
        beats = self._upper > value if self.measure == "diameter" else self._lower < value
        result: NDArray[np.bool_] = beats & ~solved
        return result
