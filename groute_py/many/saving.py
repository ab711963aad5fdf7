"""When sums over sources are saved, and how all ranks come together for it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from groute_py.comm.agree import on_root
from groute_py.comm.base import Channel
from groute_py.many.storage.kept_sums import Arrays, KeptSums

EVERY_S = 30.0
"""Seconds between two saves, about."""

SHARE = 20
"""A save may take one part in so many of the time between two."""

GROWTH = 8
"""A slice has at most so many times the sources of the one before, by whose time it is chosen."""

FIRST = {"cpu": 1 << 27, "cuda": 1 << 31}
"""Vertices and arcs, of all its sources together, of a rank's first slice: seconds, by device."""

BLOCKS = 1024
"""Sources that a GPU may solve from at once, a block each."""

Keep = Callable[[dict[str, Any], int], KeptSums]
"""Gives the place of the sums of a run, as `run_of` has it, over so many sources; on rank 0."""


def at_once(device: str) -> int:
    """From how many sources a rank solves at once."""
    return BLOCKS if device == "cuda" else len(os.sched_getaffinity(0))


class Pace:
    """How many sources each rank takes between two saves.

    Args:
        clock: gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._begun = clock, clock()
        self._count, self._at_once, self._saving_s = 1, 1, 0.0

    def begin(self, device: str, vertices: int, arcs: int) -> None:
        """Choose the first slice, before it is known how long a source takes."""
        self._at_once = at_once(device)
        self._count = self._full(FIRST[device] // (vertices + arcs + 1))
        self._begun = self._clock()

    @property
    def following(self) -> int:
        """Sources of each rank until the next save."""
        return self._count

    @property
    def is_due(self) -> bool:
        """Whether it is time to save, where that may be after any source."""
        return self._clock() - self._begun >= self._least_s

    def save(self, action: Callable[[], None]) -> None:
        """Save by ``action``, and choose the next slice by how long this one and the saving took.

        What all ranks send before counts as solving.
        """
        solved = self._clock()
        action()
        now = self._clock()
        self._saving_s = now - solved
        growth = self._least_s / max(solved - self._begun, 1e-9)
        self._count = self._full(int(self._count * min(growth, GROWTH)))
        self._begun = now

    def _full(self, count: int) -> int:
        """About so many sources, which leave no core or block idle until the next save."""
        return max(count // self._at_once, 1) * self._at_once

    @property
    def _least_s(self) -> float:
        return max(EVERY_S, SHARE * self._saving_s)


@dataclass(frozen=True, eq=False)
class Saving:
    """What saves the sums of a run; on every rank.

    Attributes:
        kept: where they go, on rank 0; None elsewhere.
        pace: when; rank 0's counts.
    """

    kept: KeptSums | None
    pace: Pace = field(default_factory=Pace)

    def load_into(self, arrays: Arrays) -> None:
        """Fill arrays on rank 0 with those that an earlier run saved, if it has saved any."""
        if self.kept is not None:
            self.kept.load_into(arrays)

    def note(self, done: int) -> None:
        """So many sources are in the sums that were loaded."""
        if self.kept is not None:
            self.kept.done = self.kept.begun = done

    def save(self, arrays: Arrays, done: int) -> None:
        """Save on rank 0 sums over so many sources."""
        kept = self.kept
        if kept is not None:
            self.pace.save(lambda: kept.save(arrays, done))


def saving_in(
    channel: Channel, keep: Keep, run: Callable[[], dict[str, Any]], total: int
) -> Saving:
    """What saves the sums of a run in the place that ``keep`` gives. Collective.

    Args:
        channel: connects the ranks.
        keep: called on rank 0.
        run: gives what the sums belong to; called on rank 0.
        total: how many sources there are.
    """
    kept: list[KeptSums] = []
    on_root(channel, lambda: kept.append(keep(run(), total)))
    return Saving(kept[0] if kept else None)


def slices(channel: Channel, own: int, saving: Saving | None) -> Iterator[int | None]:
    """Up to which of its sources each rank comes next; None up to all. Collective.

    Args:
        channel: connects the ranks.
        own: how many sources this rank has.
        saving: chooses slices; None, everywhere, for a single one.
    """
    most, done = max(channel.gather(own)), 0
    while saving is not None:
        done += channel.broadcast(saving.pace.following)
        if done >= most:
            break
        yield done
    yield None
