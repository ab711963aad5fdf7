"""Offsets of rows, the tails of arcs, which these say, ranges of arcs, and arcs turned round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groute_py.kernels.cpu.build import csr_from_arcs


def all_tails(offsets: NDArray[Any], dtype: DTypeLike = np.int64) -> NDArray[Any]:
    """The tail of each arc, shape (m,)."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=dtype), np.diff(offsets))


def tails_of(offsets: NDArray[Any], arcs: NDArray[Any]) -> NDArray[np.int64]:
    """The tails of some arcs, shape (k,)."""
    return np.searchsorted(offsets, arcs, side="right") - 1


def offsets_of(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Return where rows of so many entries begin, and where the last one ends, shape (n + 1,)."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def ranges(
    firsts: NDArray[np.int64] | int, counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers in some ranges, one after another, behind the number of the range of each.

    >>> [column.tolist() for column in ranges(np.array([5, 2]), np.array([1, 2]))]
    [[0, 1, 1], [5, 2, 3]]
    """
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) + (firsts - np.cumsum(counts) + counts)[which]


def transposed(
    offsets: NDArray[np.int64], heads: NDArray[Any], weights: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """The transposed arcs, each row in the order of its heads."""
    return csr_from_arcs(len(offsets) - 1, heads, all_tails(offsets, heads.dtype), weights)
