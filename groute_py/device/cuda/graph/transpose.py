"""A share's arcs in another arrangement, made on the GPU when it is loaded."""

from __future__ import annotations

from typing import Any, NamedTuple

import cupy as cp
import numpy as np

from groute_py.device.cuda.runtime.sort import ascending
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.errors import InputError
from groute_py.partition.share import Share

MOST_ARCS = 2**31 - 1
"""Number of places and values that CuPy adds up values at."""


class Incoming(NamedTuple):
    """The arcs of a share by their heads; ``arcs`` are their numbers in the share."""

    offsets: Any
    arcs: Any
    tails: Any


def tails_of(share: Share) -> Any:
    """uint32, shape (m,): the row that each arc lies in."""
    count = len(share.heads)
    refuse_too_many(count)
    steps = cp.zeros(count, np.int32)
    starts = to_device(share.offsets, np.int64)[1:-1]
    cp.add.at(steps, starts[starts < count], 1)
    return cp.cumsum(steps, dtype=np.int32).view(np.uint32)


def incoming(share: Share, offset_type: Any) -> Incoming:
    """Turn a share around that has no halo."""
    refuse_too_many(len(share.heads))
    heads = to_device(share.heads, np.int32)
    counts = cp.zeros(share.own_count, offset_type)
    cp.add.at(counts, heads, 1)
    offsets = cp.zeros(share.own_count + 1, offset_type)
    offsets[1:] = cp.cumsum(counts, dtype=offset_type)
    arcs = ascending(heads)
    del heads, counts  # before more is made
    return Incoming(offsets, arcs, tails_of(share)[arcs])


def refuse_too_many(arcs: int) -> None:
    """Raise `InputError` for more than `MOST_ARCS`."""
    if arcs > MOST_ARCS:
        raise InputError(
            f"this method cannot take {arcs:,} arcs on one GPU, only {MOST_ARCS:,}; use "
            "--algorithm delta-stepping, or for bfs more GPUs"
        )
