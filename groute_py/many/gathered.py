"""The rows of all ranks on rank 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.comm.base import Channel
from groute_py.device.rows import RowBlock


def gathered(
    channel: Channel, block: RowBlock | None, width: int, *, predecessors: bool
) -> list[RowBlock | None]:
    """Every rank's block on rank 0, whose rows count from 0; a list of None elsewhere. Collective.

    Args:
        channel: connects the ranks.
        block: this rank's, if it has one.
        width: entries of a row.
        predecessors: whether blocks have them.
    """
    if channel.size == 1:
        return [block]
    distances = _rows_of_ranks(channel, None if block is None else block.distances, width)
    parents: list[Any] = [None] * channel.size
    if predecessors:
        parents = _rows_of_ranks(channel, None if block is None else block.predecessors, width)
    return [
        None if part is None else RowBlock(0, part, tree)
        for part, tree in zip(distances, parents, strict=True)
    ]


def _rows_of_ranks(channel: Channel, rows: NDArray[Any] | None, width: int) -> list[Any]:
    """Arrays of one row after the other may be of another type on each rank: they go as bytes."""
    dtypes = channel.gather(None if rows is None else rows.dtype)
    flat = np.empty(0, np.uint8) if rows is None else np.ascontiguousarray(rows).reshape(-1)
    parts = channel.collect(flat.view(np.uint8))
    if parts is None:
        return [None] * channel.size
    return [
        None if dtype is None else part.view(dtype).reshape(-1, width)
        for dtype, part in zip(dtypes, parts, strict=True)
    ]
