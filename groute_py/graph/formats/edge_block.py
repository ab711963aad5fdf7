"""Some rows of an edge list, and how those of all blocks are joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.arcs import INT32


class Block(NamedTuple):
    """Consecutive rows.

    Attributes:
        names: the ends in these rows, each once, in the order in which they come, the tail of a row
            before its head: a list of bytes, or an Arrow array of them.
        tails, heads: shape (rows,), places in `names`.
        weights: int64 or float64, shape (rows,), or None.
        back: of arcs back, likewise.
        ways: int8, shape (rows,), or None.
    """

    names: Any
    tails: NDArray[Any]
    heads: NDArray[Any]
    weights: NDArray[Any] | None
    back: NDArray[Any] | None
    ways: NDArray[np.int8] | None


def joined(numbers: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """Weights of all blocks, int32, int64 or float64, whichever is the first that holds them."""
    there = [block for block in numbers if block is not None]
    if len(there) < len(numbers):
        return None
    whole: NDArray[Any] = np.concatenate([np.zeros(0, np.int64), *there])
    if whole.dtype.kind == "f":
        return whole
    narrow = INT32.min <= whole.min(initial=0) and whole.max(initial=0) <= INT32.max
    return whole.astype(np.int32) if narrow else whole
