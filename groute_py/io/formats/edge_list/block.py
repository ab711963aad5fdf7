"""Some rows of an edge list, and how those of all blocks are joined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.builder import INT32
from groute_py.io.formats.edge_list.names import Texts
from groute_py.io.text.arc_reader import check_beside_decimals


class Block(NamedTuple):
    """Consecutive rows.

    Attributes:
        ends: the tail and the head of each row, one after another.
        weights: int32, int64 or float64, as `narrowed` gives them, shape (rows,), or None.
        back: of arcs back, likewise.
        ways: int8, shape (rows,), or None.
    """

    ends: Texts
    weights: NDArray[Any] | None
    back: NDArray[Any] | None
    ways: NDArray[np.int8] | None


def narrowed(numbers: NDArray[Any]) -> NDArray[Any]:
    """A copy of weights, as int32 where they are integers that fit."""
    fit = INT32.min <= numbers.min(initial=0) and numbers.max(initial=0) <= INT32.max
    return numbers.astype(np.int32 if numbers.dtype.kind == "i" and fit else numbers.dtype)


def joined(path: Path, numbers: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Weights of all blocks, int32, int64 or float64, whichever is the first that holds them."""
    if any(some.dtype.kind == "f" for some in numbers):
        for some in numbers:
            check_beside_decimals(path, some)
    whole: NDArray[Any] = np.concatenate([np.zeros(0, np.int32), *numbers])
    return whole
