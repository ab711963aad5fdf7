"""Slices of sources, after each of which all ranks bring their sums together to be saved."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from groute_py.comm.base import Channel
from groute_py.many.storage.store import SHARE, Store

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
