"""Orders by value on a GPU: of keys, and of each row's arcs by weight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from groute_py.device.cuda.runtime.launch import Kernels

FEW_BYTES = 1 << 20
"""Bytes that a sort of a few keys takes."""

SORTED_AT_ONCE = 1 << 25
"""Arcs whose rows are sorted together, if not one row has more."""

MOST_WARPS = 1 << 20
"""Warps of a launch that takes a row each; they loop over more rows."""


def sort_bytes(count: int, itemsize: int) -> int:
    """Bytes of a stable radix sort: keys and places twice, counters, and a constant."""
    return count * 2 * (itemsize + 8) + count // 4 + FEW_BYTES


def ascending(keys: Any) -> Any:
    """int64, shape (m,): the order of some keys, shape (m,), in which equal ones keep theirs.

    CuPy's sort allocates memory while it runs; without any, some versions return a wrong order
    without an error. So the memory is allocated and freed beforehand, in one piece. It stays in
    CuPy's pool, from which the sort takes it.
    """
    cp.empty(sort_bytes(len(keys), keys.itemsize), np.uint8)
    return cp.argsort(keys)


def sort_keys(keys: Any) -> None:
    """Sort keys of 8 bytes, shape (m,), in place; see `ascending`."""
    cp.empty(len(keys) * keys.itemsize + FEW_BYTES, np.uint8)
    keys.sort()


def sort_rows(kernels: Kernels, offsets: Any, arcs: Any, distance_type: np.dtype[Any]) -> None:
    """Put every row's packed arcs in the order of their weights, in place; sorted rows stay.

    ``kernels`` are those of a program with kernels/sssp/sort_rows.cu.

    By weight, then by row: weights of 64 bits do not fit into one key with the row.
    """
    starts = offsets.get().astype(np.int64)
    for rows in _pieces(starts):
        part = arcs[starts[rows.start] : starts[rows.stop]]
        weights, tails = cp.empty(len(part), distance_type), cp.empty(len(part), np.uint32)
        unsorted = cp.zeros(1, np.uint32)
        words = np.uint32(rows.start), np.uint32(rows.stop), weights, tails, unsorted
        warps = min(rows.stop - rows.start, MOST_WARPS)
        kernels.run("list_weights", 32 * warps, offsets, arcs, *words)
        if not int(unsorted[0]):
            continue
        by_weight = ascending(weights)
        del words, weights  # before more is made
        tails = tails[by_weight]
        by_row = ascending(tails)
        del tails
        moved = cp.empty_like(part)
        kernels.run("take_arcs", len(part), part, by_weight, by_row, np.uint32(len(part)), moved)
        part[:] = moved
        del by_weight, by_row, moved  # before the next rows


def sorting_bytes(arcs: int, longest_row: int, itemsize: int) -> int:
    """Return the most bytes that `sort_rows` takes in addition to the arcs."""
    count = min(arcs, max(SORTED_AT_ONCE, longest_row))
    return sort_bytes(count, itemsize) + count * (8 + 8 + 4 + 4 + 2 * itemsize)


def _pieces(starts: NDArray[np.int64]) -> Iterator[slice]:
    """Rows with arcs, so many together as may be sorted at once, or one that has more."""
    first, count = 0, len(starts) - 1
    while first < count:
        last = int(np.searchsorted(starts, starts[first] + SORTED_AT_ONCE, "right")) - 1
        last = max(last, first + 1)
        if starts[last] > starts[first]:
            yield slice(first, last)
        first = last
