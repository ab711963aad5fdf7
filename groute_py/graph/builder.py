"""Arcs in the order in which they come, in arrays that grow, until they are a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.graph.csr import Graph
from groute_py.kernels.cpu.build import (
    are_sorted,
    begin_rows,
    check_ends,
    csr_from_arcs,
    end_rows,
    index_type,
)
from groute_py.system.memory_limits import check_room

INT32, INT64 = np.iinfo(np.int32), np.iinfo(np.int64)

SLICE = 1 << 26
"""Arcs whose tails are looked at, then given back, at a time."""


class ArcArrays:
    """Tails, heads and weights.

    All begin as int32 and become int64 with the first that needs it; weights become float64 with
    the first decimal.
    """

    def __init__(self) -> None:
        self.count = 0
        self.tails: NDArray[Any] = np.empty(0, np.int32)
        self.heads: NDArray[Any] = np.empty(0, np.int32)
        self.weights: NDArray[Any] = np.empty(0, np.int32)

    def reserve(self, count: int) -> None:
        """Ask for room for so many arcs; it takes no memory before they come."""
        self.tails = np.empty(count, self.tails.dtype)
        self.heads = np.empty(count, self.heads.dtype)
        self.weights = np.empty(count, self.weights.dtype)

    def append(self, tail: int, head: int, weight: int | float) -> None:
        """Add one arc, widening the arrays where it needs that."""
        self._hold(min(tail, head), max(tail, head))
        if isinstance(weight, float):
            self._weigh_as(np.float64)
        elif not INT32.min <= weight <= INT32.max:
            self._weigh_as(np.int64)
        self._grow(1)
        self.tails[self.count] = tail
        self.heads[self.count] = head
        self.weights[self.count] = weight
        self.count += 1

    def widen(self, vertex_count: int, weights: NDArray[np.int64] | None) -> None:
        """Make room for indices below `vertex_count` and for these weights."""
        self._hold(0, vertex_count - 1)
        if weights is None or not len(weights):
            return
        if weights.min() < INT32.min or weights.max() > INT32.max:
            self._weigh_as(np.int64)

    def extend(
        self, tails: NDArray[Any], heads: NDArray[Any], weights: NDArray[Any] | None
    ) -> None:
        """Add a block of arcs, whose types are not wider; None for unit weights."""
        self._grow(len(tails))
        place = slice(self.count, self.count + len(tails))
        self.tails[place] = tails
        self.heads[place] = heads
        self.weights[place] = 1 if weights is None else weights
        self.count += len(tails)

    def columns(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Tails, heads and weights, shape (count,); nothing can be added any more."""
        self._resize(self.count)
        return self.tails, self.heads, self.weights

    def graph(self, vertex_count: int, *, first_id: int, name: str, **more: Any) -> Graph:
        """The graph, with ``more`` arguments of `Graph`; nothing can be added any more."""
        tails, heads, weights = self.columns()
        moved = 0 if are_sorted(tails) else heads.nbytes + weights.nbytes
        check_room(8 * (vertex_count + 1) + moved, f"{name}: {vertex_count:,} vertices")
        heads = heads.astype(index_type(vertex_count), copy=False)
        if not moved:
            del tails
            arrays = self._row_beginnings(vertex_count), heads, weights
        else:
            arrays = csr_from_arcs(vertex_count, tails, heads, weights)
        return Graph(*arrays, first_id=first_id, name=name, **more)

    def _row_beginnings(self, vertex_count: int) -> NDArray[np.int64]:
        """Offsets for tails that are sorted, which are given back meanwhile to save memory."""
        check_ends(self.tails, vertex_count)
        offsets = np.empty(vertex_count + 1, np.int64)
        end_rows(self.tails, offsets)
        while len(self.tails):
            rest = max(0, len(self.tails) - SLICE)
            begin_rows(self.tails, rest, offsets)
            self.tails.resize(rest, refcheck=False)
        return offsets

    def _hold(self, least: int, most: int) -> None:
        """Make sure that indices in this range fit."""
        if self.tails.dtype == np.int32 and (least < INT32.min or most > INT32.max):
            self.tails, self.heads = self.tails.astype(np.int64), self.heads.astype(np.int64)

    def _weigh_as(self, kind: type[np.int64] | type[np.float64]) -> None:
        """Make sure that weights of this type fit: int32 < int64 < float64."""
        if self.weights.dtype.kind != "f":
            self.weights = self.weights.astype(kind, copy=False)

    def _grow(self, more: int) -> None:
        if self.count + more > len(self.tails):
            self._resize(max(self.count + more, len(self.tails) * 5 // 4, 1024))

    def _resize(self, size: int) -> None:
        width = self.tails.itemsize + self.heads.itemsize + self.weights.itemsize
        check_room(width * (size - len(self.tails)), f"room for {size:,} arcs")
        # in place, so that large arrays move by their page table and are never there twice
        for array in (self.tails, self.heads, self.weights):
            array.resize(size, refcheck=False)
