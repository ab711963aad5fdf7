"""Counting sort of arcs by tail: coordinate lists to compressed sparse rows.

Two passes over the arcs, each usable block by block: `count_arcs` counts the arcs of each row and
`place_arcs` writes every arc to the next free place of its row, so the order of the arcs within a
row is the order in which they came (stable). The offsets serve as the cursors: row ``v`` is counted
at ``offsets[v + 2]``, so that after a running sum ``offsets[v + 1]`` is where row ``v`` starts, and
after placing it is where row ``v`` ends, which is what it must be. Sorted arcs are not moved.

Both passes take a range of rows and leave other arcs alone, so threads can share the rows, each
looking at all arcs: bound by memory latency, one thread took 4.3 s for 10^8 arcs in random order,
two 3.0 s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError
from groute_py.kernels.cpu.kernel import kernel, load_compiler
from groute_py.system.threads import in_slices, thread_count

CURSORS = 2
"""The shift with which `count_arcs` prepares the offsets for `place_arcs`."""

AT_ONCE = 1 << 20
"""Sorted arcs that a thread looks at in one go; of fewer others one counts and places all."""


def index_type(vertex_count: int) -> type[np.int32] | type[np.int64]:
    """The type of vertex ids in a graph of `vertex_count` vertices: int32 where it suffices."""
    return np.int32 if vertex_count < 2**31 else np.int64


def csr_from_arcs(
    vertex_count: int, tails: NDArray[Any], heads: NDArray[Any], weights: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """All rows of a graph; heads become int32 if n < 2^31, else int64. As `rows_from_arcs`."""
    heads = heads.astype(index_type(vertex_count), copy=False)
    return rows_from_arcs(vertex_count, tails, heads, weights)


def rows_from_arcs(
    row_count: int, tails: NDArray[Any], heads: NDArray[Any], weights: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Sort m arcs by tail, keeping the order of the arcs that leave one vertex.

    Returns offsets (int64, (n + 1,)), heads and weights; those of sorted arcs are not copied.
    `GraphError` if a tail is not in [0, n), or the lengths differ.

    >>> [a.tolist() for a in rows_from_arcs(3, *np.array([[2, 0, 2], [1, 1, 0], [5, 6, 7]]))]
    [[0, 1, 1, 3], [1, 1, 0], [6, 5, 7]]
    """
    if not len(tails) == len(heads) == len(weights):
        raise GraphError(f"{len(tails)} tails, {len(heads)} heads, {len(weights)} weights")
    if not are_sorted(tails):
        return _placed(row_count, tails, heads, weights)
    check_ends(tails, row_count)
    offsets = np.empty(row_count + 1, np.int64)
    end_rows(tails, offsets)
    begin_rows(tails, 0, offsets)
    return offsets, heads, weights


def _placed(
    row_count: int, tails: NDArray[Any], heads: NDArray[Any], weights: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Do `rows_from_arcs` for arcs in any order."""
    offsets = np.zeros(row_count + 1, np.int64)
    placed = np.empty(len(heads), heads.dtype), np.empty(len(weights), weights.dtype)

    def count(rows: slice) -> int:
        return int(count_arcs(tails, (rows.start, rows.stop), offsets, CURSORS))

    def place(rows: slice) -> None:
        place_arcs((tails, heads, weights), (rows.start, rows.stop), offsets, placed)

    load_compiler()
    rows = max(row_count, 1)  # so that somebody counts
    length = -(-rows // (thread_count() if len(tails) > AT_ONCE else 1))
    bad = max(in_slices(rows, length, count))  # the same for all
    if bad >= 0:
        raise _outside(tails, bad, row_count)
    np.cumsum(offsets, out=offsets)
    in_slices(row_count, length, place)
    return offsets, *placed


def are_sorted(tails: NDArray[Any]) -> bool:
    """Return True if no tail is less than the one before it, by several threads."""
    load_compiler()
    look = in_slices(len(tails), AT_ONCE, lambda some: is_sorted(tails[some.start : some.stop + 1]))
    return all(look)


def check_ends(tails: NDArray[Any], row_count: int) -> None:
    """Raise `GraphError` if sorted tails, shape (m,), are not all in [0, row_count)."""
    if len(tails) and tails[0] < 0:
        raise _outside(tails, 0, row_count)
    if len(tails) and tails[-1] >= row_count:
        raise _outside(tails, int(np.searchsorted(tails, row_count)), row_count)


def end_rows(tails: NDArray[Any], offsets: NDArray[np.int64]) -> None:
    """Store the offsets behind the row of the last of all arcs, which are sorted by tail."""
    offsets[tails[-1] + 1 if len(tails) else 0 :] = len(tails)


def begin_rows(tails: NDArray[Any], first: int, offsets: NDArray[np.int64]) -> None:
    """Store, by several threads, where rows of sorted tails begin, behind that before ``first``."""

    def begin(some: slice) -> None:
        start = first + some.start
        row = int(tails[start - 1]) + 1 if start else 0
        store_beginnings(tails[start : first + some.stop], start, row, offsets)

    load_compiler()
    in_slices(len(tails) - first, AT_ONCE, begin)


def _outside(tails: NDArray[Any], arc: int, row_count: int) -> GraphError:
    return GraphError(f"arc {arc} leaves vertex {tails[arc]}, but there are {row_count}")


@kernel
def store_beginnings(tails: NDArray[Any], first: int, row: int, offsets: NDArray[np.int64]) -> None:
    """Store where rows from ``row`` to the last of the tails begin; arcs begin at ``first``."""
    for arc in range(len(tails)):
        while row <= tails[arc]:
            offsets[np.uint64(row)] = first + arc
            row += 1


@kernel
def is_sorted(tails: NDArray[Any]) -> bool:
    """Return True if no tail is less than the one before it; stops at the first that is."""
    for arc in range(1, len(tails)):  # noqa: SIM110 (a plain loop is what Numba compiles best)
        if tails[arc] < tails[arc - 1]:
            return False
    return True


@kernel
def count_arcs(
    tails: NDArray[Any], rows: tuple[int, int], offsets: NDArray[Any], shift: int
) -> int:
    """Add arcs of rows to ``offsets[v + shift]``; return the first tail out of range, or -1."""
    last = len(offsets) - 1
    low, count = rows[0], np.uint64(rows[1] - rows[0])
    for arc in range(len(tails)):
        tail = tails[arc]
        if tail < 0 or tail >= last:
            return arc
        if np.uint64(tail - low) < count and tail + shift <= last:
            offsets[np.uint64(tail + shift)] += 1
    return -1


@kernel
def place_arcs(arcs: Any, rows: tuple[int, int], offsets: NDArray[np.int64], placed: Any) -> None:
    """Write each arc of some rows to its next free place, ``offsets[tail + 1]``; advance that.

    The ``arcs`` are tails, heads and weights; heads and weights are ``placed``.
    """
    (tails, heads, weights), (placed_heads, placed_weights) = arcs, placed
    low, count = rows[0], np.uint64(rows[1] - rows[0])
    for arc in range(len(tails)):
        # unsigned: one comparison, and no index from the end
        if np.uint64(tails[arc] - low) < count:
            row = np.uint64(tails[arc] + 1)
            place = np.uint64(offsets[row])
            offsets[row] += 1
            placed_heads[place] = heads[arc]
            placed_weights[place] = weights[arc]
