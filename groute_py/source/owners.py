"""Redistribution of arcs to the ranks that own their tails."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.kernels.cpu.build import are_sorted, count_arcs
from groute_py.partition.base import Partition

BLOCK = 1 << 22
"""Vertices whose arcs are summed up at a time."""

CHUNK = 1 << 20
"""Arcs that all ranks together may send to one at a time."""

MOST_MOVED = 1 << 26
"""Arcs that all ranks together may send at once where most lie at their owners."""


def arcs_by_tail(tails: NDArray[Any], vertex_count: int) -> NDArray[np.int32]:
    """The number of a rank's arcs that leave each vertex."""
    counts = np.zeros(vertex_count + 1, np.int32)
    count_arcs(tails, (0, vertex_count), counts, 0)
    return counts[:-1]


def offsets_of_all(channel: Channel, counts: NDArray[np.int32]) -> NDArray[np.int64]:
    """The offsets of rows once all ranks' arcs are together. Collective.

    On rank 0 int64, shape (n + 1,); empty on the others.
    """
    offsets = np.zeros(len(counts) + 1 if channel.rank == 0 else 0, np.int64)
    for start in range(0, len(counts), BLOCK):
        block = counts[start : start + BLOCK]
        mine = channel.exchange(np.array_split(block, channel.size))
        sums = channel.collect(np.stack(mine).sum(axis=0, dtype=np.int64))
        if sums is not None:
            offsets[start + 1 : start + 1 + len(block)] = np.concatenate(sums)
    return np.cumsum(offsets, out=offsets)


def to_owners(
    channel: Channel,
    partition: Partition,
    going: list[int],
    columns: tuple[NDArray[Any], ...],
) -> list[NDArray[Any]]:
    """Send arcs to the owners of their tails; those of a lower rank come first. Collective.

    In a file that is sorted by tail most arcs lie at their owners, and the others in front of them
    and behind. Else the columns are taken from their ends and given back once sent, so that a
    rank's arcs are not in memory together with what takes their place; ``columns`` are empty then.
    """
    if all(channel.gather(_are_near(channel, going, columns[0]))):
        return [_border_moved(channel, going, column) for column in columns]
    ends = np.cumsum(channel.exchange([np.array([count]) for count in going]))
    arrived = [np.empty(ends[-1], column.dtype) for column in columns]
    step = max(CHUNK // channel.size, 1)
    for _ in range(0, max(channel.gather(len(columns[0]))), step):
        rest = max(len(columns[0]) - step, 0)
        owners = partition.owner(columns[0][rest:]).astype(np.uint16)  # short: sorted by digits
        order = np.argsort(owners, kind="stable")
        cuts = np.searchsorted(owners, np.arange(1, channel.size), sorter=order)
        took = np.zeros_like(ends)
        for column, places in zip(columns, arrived, strict=True):
            parts = channel.exchange(np.split(column[rest:][order], cuts))
            for end, part in zip(ends, parts, strict=True):
                places[end - len(part) : end] = part
            took[:] = [len(part) for part in parts]
            column.resize(rest, refcheck=False)
        ends -= took
    return arrived


def _are_near(channel: Channel, going: list[int], tails: NDArray[Any]) -> bool:
    """Return True if this rank's arcs are sorted by tail, and few of them go to others."""
    moved = sum(going) - going[channel.rank]
    return moved <= MOST_MOVED // channel.size and are_sorted(tails)


def _border_moved(channel: Channel, going: list[int], column: NDArray[Any]) -> NDArray[Any]:
    """A column of sorted arcs, once all ranks have sent what belongs to others."""
    parts = np.split(column, np.cumsum(going)[:-1])
    own, parts[channel.rank] = parts[channel.rank], column[:0]
    arrived = channel.exchange([part.copy() for part in parts])
    arrived[channel.rank] = own
    result = np.concatenate(arrived)
    column.resize(0, refcheck=False)  # nobody looks at its parts any more
    return result
