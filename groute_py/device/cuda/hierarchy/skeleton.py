"""The rest of a graph in contraction: rows with both weights of each pair of neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import cupy as cp
import numpy as np

from groute_py.device.cuda.graph.csr import starts_of
from groute_py.device.cuda.runtime.compile import kernels_of
from groute_py.device.cuda.runtime.launch import Kernels
from groute_py.device.cuda.runtime.sort import ascending
from groute_py.device.cuda.runtime.structs import pointed
from groute_py.device.cuda.runtime.transfer import to_device
from groute_py.kernels.source import BLOCK, CONTRACTION
from groute_py.kernels.structs import struct

MANY_THREADS = 1 << 20
"""Threads of kernels that loop over what there is."""


def contraction_kernels(distance_type: np.dtype[Any]) -> Kernels:
    """The kernels of the program `CONTRACTION`."""
    return Kernels(kernels_of(CONTRACTION, distance_type, 0), BLOCK)


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Struct ``Skeleton`` of kernels/layout/hierarchy.cuh, and the arrays it points to."""

    kernels: Kernels  # of `contraction_kernels` for the type of the weights
    offsets: Any  # uint32, (n + 1,)
    heads: Any  # uint32, (m,)
    out: Any  # (m,), of the distance type; one array with ``in_`` if symmetric
    in_: Any
    struct: Any = field(init=False)

    def __post_init__(self) -> None:
        arrays = {"offsets": self.offsets, "heads": self.heads, "out": self.out, "in": self.in_}
        numbers: dict[str, float] = {"count": self.count, "symmetric": self.symmetric}
        layout = struct(CONTRACTION, "Skeleton")
        object.__setattr__(self, "struct", pointed(layout, arrays, numbers))

    @property
    def count(self) -> int:
        """Vertices."""
        return len(self.offsets) - 1

    @property
    def symmetric(self) -> bool:
        """Return True if both directions weigh the same."""
        return self.out is self.in_

    @property
    def mean_degree(self) -> float:
        """Neighbours of a vertex on the mean."""
        return len(self.heads) / max(self.count, 1)

    def run(self, name: str, items: int, *words: Any) -> None:
        """Launch a kernel that takes the skeleton, and whose threads loop over items."""
        self.kernels.run(name, min(items, MANY_THREADS), self.struct, *words)

    def tails(self) -> Any:
        """uint32, shape (m,): the tail of each arc."""
        tails = cp.empty(len(self.heads), np.uint32)
        self.kernels.run("list_tails", self.count, self.offsets, np.uint32(self.count), tails)
        return tails

    def pruned(self) -> Skeleton:
        """Without arcs that a path of two arcs stands in for."""
        out, marks = cp.empty_like(self.out), cp.empty(len(self.out), np.uint32)
        in_ = out if self.symmetric else cp.empty_like(out)
        self.run("prune", len(out), self.tails(), np.uint32(len(out)), out, in_, marks)
        return self._kept(marks, out, in_)

    def outward(self) -> Skeleton:
        """Without arcs that lead only back."""
        marks = cp.empty(len(self.out), np.uint32)
        self.run("mark_outward", len(marks), np.uint32(len(marks)), marks)
        return self._kept(marks, self.out, self.in_)

    def _kept(self, marks: Any, out: Any, in_: Any) -> Skeleton:
        """Keep some arcs, with these weights."""
        places, count = places_of(marks)
        arrays = _rows(self.count, count, out, in_)
        words = np.uint32(len(marks)), places, out, in_, *arrays
        self.run("keep_arcs", max(len(marks), self.count + 1), *words)
        return Skeleton(self.kernels, *arrays)


def places_of(counts: Any) -> tuple[Any, int]:
    """Return the exclusive sums of some counts or marks (uint32), shape (n + 1,), and their sum."""
    places = starts_of(counts, np.uint32)
    return places, int(places[-1])


def _rows(vertices: int, arcs: int, out: Any, in_: Any) -> tuple[Any, Any, Any, Any]:
    """The arrays of a skeleton to write, with weights like those given."""
    offsets, heads = cp.empty(vertices + 1, np.uint32), cp.empty(arcs, np.uint32)
    outward = cp.empty(arcs, out.dtype)
    return offsets, heads, outward, outward if out is in_ else cp.empty_like(outward)


def joined(kernels: Kernels, count: int, keys: Any, out: Any, in_: Any) -> Skeleton:
    """The skeleton of arcs with ``keys`` (uint64: tail and head), the lightest of parallel ones."""
    order, arcs = ascending(keys), np.uint32(len(keys))
    marks = cp.empty(len(keys), np.uint32)
    threads = min(len(keys) + 1, MANY_THREADS)
    kernels.run("mark_first", threads, keys, order, arcs, marks)
    places, arc_count = places_of(marks)
    arrays = _rows(count, arc_count, out, in_)
    words = keys, order, arcs, places, out, in_, np.uint32(count), *arrays
    kernels.run("join_parallel", threads, *words)
    return Skeleton(kernels, *arrays)


def skeleton_of(offsets: Any, heads: Any, weights: Any, distance_type: np.dtype[Any]) -> Skeleton:
    """The skeleton of a graph, without loops; ``distance_type`` is int32 or int64."""
    kernels, count, arcs = contraction_kernels(distance_type), len(offsets) - 1, len(heads)
    typed = (offsets, np.uint32), (heads, np.uint32), (weights, distance_type)
    offsets, heads, weights = (cp.ascontiguousarray(to_device(*of)) for of in typed)
    tails = cp.empty(arcs, np.uint32)
    kernels.run("list_tails", count, offsets, np.uint32(count), tails)
    keys = cp.empty(2 * arcs, np.uint64)
    out, in_ = cp.empty(2 * arcs, distance_type), cp.empty(2 * arcs, distance_type)
    listed = keys, out, in_
    words = tails, heads, weights, np.uint32(arcs), *listed
    kernels.run("list_arcs", min(arcs, MANY_THREADS), *words)
    del words, tails, offsets, heads, weights
    skeleton, differs = joined(kernels, count, *listed), cp.zeros(1, np.uint32)
    count = len(skeleton.heads)
    skeleton.run("compare_directions", count, np.uint32(count), differs)
    return skeleton if int(differs[0]) else replace(skeleton, in_=skeleton.out)
