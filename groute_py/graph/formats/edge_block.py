"""Some rows of an edge list, and how those of all blocks are joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.arcs import INT32
from groute_py.graph.formats.edge_names import Texts


class Block(NamedTuple):
    """Consecutive rows.

    Attributes:
        ends: the tail and the head of each row, one after another.
        weights: int64 or float64, shape (rows,), or None.
        back: of arcs back, likewise.
        ways: int8, shape (rows,), or None.
    """

    ends: Texts
    weights: NDArray[Any] | None
    back: NDArray[Any] | None
    ways: NDArray[np.int8] | None


def joined(numbers: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Weights of all blocks, int32, int64 or float64, whichever is the first that holds them."""
    whole: NDArray[Any] = np.concatenate([np.zeros(0, np.int64), *numbers])
    if whole.dtype.kind == "f":
        return whole
    narrow = INT32.min <= whole.min(initial=0) and whole.max(initial=0) <= INT32.max
    return whole.astype(np.int32) if narrow else whole
