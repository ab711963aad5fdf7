"""Messages to other ranks: improvements of halo vertices, and claims on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Buffer, parts_of
from groute_py.device.cpu.buffers import SolveBuffers
from groute_py.kernels.cpu import near_far


def messages_of(
    buffers: SolveBuffers, at: NDArray[np.int64], dirty_count: int, *, with_parents: bool
) -> list[tuple[int, Buffer]]:
    """Make a message for each owner of dirty halo vertices, of which ``at`` has the count."""
    if at[dirty_count] == 0:
        return []
    share = buffers.share
    starts, own = share.halo_starts, share.own_count
    near_far.group_by_owner(
        *(buffers.dirty, at[dirty_count], own, starts, buffers.flags),
        *(buffers.boxes, buffers.box_counts),
    )
    at[dirty_count] = 0
    entry_bytes = buffers.distances.itemsize + share.halo_home.itemsize
    entry_bytes += buffers.parents.itemsize if with_parents else 0
    messages = []
    for peer in np.flatnonzero(buffers.box_counts):
        filled = buffers.boxes[starts[peer] : starts[peer] + buffers.box_counts[peer]]
        for part in parts_of(len(filled), entry_bytes):
            halo = filled[part]
            columns: list[NDArray[Any]] = [buffers.distances[own + halo], share.halo_home[halo]]
            if with_parents:
                columns.insert(0, buffers.parents[own + halo])
            messages.append((int(peer), np.concatenate([c.view(np.uint8) for c in columns])))
    return messages


def columns_of(message: Buffer, *types: np.dtype[Any]) -> list[NDArray[Any]]:
    """The columns of a message, which have as many entries each."""
    count = len(message) // sum(dtype.itemsize for dtype in types)
    columns, start = [], 0
    for dtype in types:
        stop = start + count * dtype.itemsize
        columns.append(message[start:stop].view(dtype))
        start = stop
    return columns
