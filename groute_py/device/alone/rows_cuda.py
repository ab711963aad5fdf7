"""A share's arcs in another arrangement, made on the GPU when it is loaded."""

from __future__ import annotations

from typing import Any, NamedTuple

import cupy as cp
import numpy as np

from groute_py.device.cuda_crossing import to_device
from groute_py.errors import InputError
from groute_py.partition.share import Share

MOST_ARCS = 2**31 - 1
"""As many places and values as CuPy adds up values at."""

FEW_BYTES = 1 << 20
"""What a sort of a few keys takes."""


class Incoming(NamedTuple):
    """The arcs of a share by their heads.

    Attributes:
        offsets: shape (own + 1,): where the arcs to each vertex begin.
        arcs: shape (m,), the number that each arc has in the share.
        tails: uint32, shape (m,).
    """

    offsets: Any
    arcs: Any
    tails: Any


def sort_bytes(count: int, itemsize: int) -> int:
    """What a stable sort by radix takes: keys and places twice, counters, and so much anyhow."""
    return count * 2 * (itemsize + 8) + count // 4 + FEW_BYTES


def ascending(keys: Any) -> Any:
    """int64, shape (m,): the order of some keys, shape (m,), in which equal ones keep theirs.

    CuPy's sort gets memory on the way, and where it finds none some of its versions return a wrong
    order without a word (issue 9894 of CuPy). So all of it is asked for beforehand, at once, and
    dropped: it stays in the pool, whatever the parts in which it is taken again.
    """
    cp.empty(sort_bytes(len(keys), keys.itemsize), np.uint8)
    return cp.argsort(keys)


def tails_of(share: Share) -> Any:
    """uint32, shape (m,): the row that each arc lies in.

    Raises:
        InputError: there are more than `MOST_ARCS`.
    """
    count = len(share.heads)
    _refuse_too_many(count)
    steps = cp.zeros(count, np.int32)
    starts = to_device(share.offsets, np.int64)[1:-1]
    cp.add.at(steps, starts[starts < count], 1)
    return cp.cumsum(steps, dtype=np.int32).view(np.uint32)


def incoming(share: Share, offset_type: Any) -> Incoming:
    """Turn a share around that has no halo.

    Raises:
        InputError: it has more than `MOST_ARCS`.
    """
    _refuse_too_many(len(share.heads))
    heads = to_device(share.heads, np.int32)
    counts = cp.zeros(share.own_count, offset_type)
    cp.add.at(counts, heads, 1)
    offsets = cp.zeros(share.own_count + 1, offset_type)
    offsets[1:] = cp.cumsum(counts, dtype=offset_type)
    arcs = ascending(heads)
    del heads, counts  # before more is made
    return Incoming(offsets, arcs, tails_of(share)[arcs])


def _refuse_too_many(arcs: int) -> None:
    if arcs > MOST_ARCS:
        raise InputError(
            f"this method cannot take {arcs:,} arcs on one GPU, only {MOST_ARCS:,}; use "
            "--algorithm delta-stepping, or for bfs more GPUs"
        )
